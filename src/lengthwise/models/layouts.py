"""Layouts of other people's models: which of their weights is which part."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from lengthwise.errors import UsageError
from lengthwise.models.parts import Anatomy, AttentionPart, BlockPart, MlpPart, NormPart, TablePart

# What the layouts call the activations of `lengthwise.models.parts.ACTIVATIONS`.
_ACTIVATIONS = {
    "relu": "relu",
    **dict.fromkeys(("gelu", "gelu_python"), "gelu"),
    **dict.fromkeys(("gelu_new", "gelu_pytorch_tanh", "gelu_python_tanh"), "gelu_tanh"),
    **dict.fromkeys(("silu", "swish"), "silu"),
}
# Scalings of RoPE whose frequencies are fixed once the model is made.
_FIXED = ("default", "linear", "llama3", "yarn", "proportional", "ntk", "by_parts")  # the last two are applied by us
# Modules that are left out, by the beginning of their names, and why.
_CLASSIFIER = {"score.": "it classifies whole sequences; the outputs here are hidden states"}
_BERT_HEADS = {
    "pooler.": "it reads the first token's last hidden state alone; the outputs here are all last hidden states",
    **dict.fromkeys(("cls.", "lm_head."), "a head for pre-training; the outputs here are hidden states"),
    **dict.fromkeys(("classifier.", "qa_outputs."), "a head for one task; the outputs here are hidden states"),
}


class Weights:
    """Named tensors of a model, converted when they are taken, so that none is dropped without a word."""

    def __init__(self, name: str, tensors: Mapping[str, Tensor], dtype: torch.dtype) -> None:
        self.name, self.tensors, self.dtype = name, tensors, dtype
        self.left = set(tensors)
        self.device = next(iter(tensors.values())).device

    def take(self, key: str) -> Tensor:
        """The tensor of this name; a layout that needs one that is not there does not fit the model."""
        if key not in self.tensors:
            raise UsageError(f"{self.name} has no weights {key!r}, which its layout needs; the file is not complete")
        self.left.discard(key)
        return self.tensors[key].detach().to(self.dtype)

    def maybe(self, key: str) -> Tensor | None:
        """The tensor of this name, if there is one: a bias that some models have and others have not."""
        return self.take(key) if key in self.tensors else None

    def linear(self, place: str) -> tuple[Tensor, Tensor | None]:
        """The matrix [outputs, inputs] and the bias of a linear map."""
        return self.take(f"{place}.weight"), self.maybe(f"{place}.bias")

    def by_head(self, place: str, heads: int) -> tuple[Tensor, Tensor | None]:
        """The same of queries, keys or values, head by head."""
        weight, bias = self.linear(place)
        return weight.unflatten(0, (heads, -1)), None if bias is None else bias.unflatten(0, (heads, -1))

    def norm(self, place: str, eps: float) -> NormPart:
        """A LayerNorm."""
        return NormPart("layer", *self.linear(place), eps)

    def mlp(self, place: str, into: str, out: str, activation: object) -> MlpPart:
        """A plain MLP of two linear maps."""
        (w_in, b_in), (w_out, b_out) = self.linear(f"{place}{into}"), self.linear(f"{place}{out}")
        return MlpPart("plain", w_in, b_in, None, w_out, b_out, self.activation(activation))

    def activation(self, asked: object) -> str:
        """Our name of an activation."""
        if not isinstance(asked, str) or asked not in _ACTIVATIONS:
            known = ", ".join(_ACTIVATIONS)
            raise UsageError(f"{self.name} uses the activation {asked!r}, which cannot be run from parts; {known} can")
        return _ACTIVATIONS[asked]

    def head(self, config: Any, embed: Tensor) -> Tensor | None:
        """The matrix of the outputs, the embedding itself where they are tied; None where there is none."""
        head = self.maybe("lm_head.weight")
        return head if head is None or not config.tie_word_embeddings else embed

    def skipped(self, known: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
        """What nobody took: modules by the beginning of their names, each with its reason in `known`. Weights without
        a reason mean that the model computes something that the layout does not know, and are refused."""
        unknown = sorted(key for key in self.left if not key.startswith(tuple(known)))
        if unknown:
            some = ", ".join(unknown[:2]) + (f" and {len(unknown) - 2} more" if len(unknown) > 2 else "")
            raise UsageError(
                f"{self.name} has weights that its layout does not know ({some}), so it cannot be run from its parts; "
                "a model without them could be"
            )
        found = [start for start in known if any(key.startswith(start) for key in self.left)]
        return tuple((start.rstrip("."), known[start]) for start in found)


def _table(rows: Tensor) -> TablePart:
    """A learned table of positions."""
    return TablePart(lambda at: rows[at], rows, float(rows.norm(dim=1).max()))


def _check_one_input(config: Any, weights: Weights) -> None:
    if getattr(config, "add_cross_attention", False):
        raise UsageError(f"{weights.name} attends to a second input (cross-attention), which has no parts here")


def anatomy_of_gpt2(config: Any, weights: Weights) -> Anatomy:
    """The parts of GPT2LMHeadModel or GPT2Model: pre-norm, a learned table of positions, one matrix for queries, keys
    and values."""
    _check_one_input(config, weights)
    start = "transformer." if "transformer.wte.weight" in weights.tensors else ""
    embed = weights.take(f"{start}wte.weight")
    return Anatomy(
        name=weights.name,
        embed=embed,
        table=_table(weights.take(f"{start}wpe.weight")),
        norm_embed=None,
        blocks=tuple(_gpt2_block(config, weights, f"{start}h.{layer}", layer) for layer in range(config.n_layer)),
        norm_final=weights.norm(f"{start}ln_f", config.layer_norm_epsilon),
        head=weights.head(config, embed),
        skipped=weights.skipped(_CLASSIFIER),
    )


def _gpt2_block(config: Any, weights: Weights, place: str, layer: int) -> BlockPart:
    heads, eps = config.n_head, config.layer_norm_epsilon
    # Conv1D stores its matrix as [inputs, outputs].
    wq, wk, wv = (part.T.unflatten(0, (heads, -1)) for part in weights.take(f"{place}.attn.c_attn.weight").chunk(3, 1))
    bq, bk, bv = (part.unflatten(0, (heads, -1)) for part in weights.take(f"{place}.attn.c_attn.bias").chunk(3))
    wo = weights.take(f"{place}.attn.c_proj.weight").unflatten(0, (heads, -1)).transpose(1, 2)  # [H, W, D]
    scale = 1 / math.sqrt(config.n_embd // heads) if config.scale_attn_weights else 1.0
    if config.scale_attn_by_inverse_layer_idx:
        scale /= layer + 1
    attention = AttentionPart(wq, wk, wv, wo, bq, bk, bv, weights.take(f"{place}.attn.c_proj.bias"), scale, causal=True)
    (w_in, b_in), (w_out, b_out) = (weights.linear(f"{place}.mlp.{which}") for which in ("c_fc", "c_proj"))
    activation = weights.activation(config.activation_function)
    mlp = MlpPart("plain", w_in.T, b_in, None, w_out.T, b_out, activation)
    return BlockPart("pre", weights.norm(f"{place}.ln_1", eps), attention, weights.norm(f"{place}.ln_2", eps), mlp)


def anatomy_of_bert(config: Any, weights: Weights) -> Anatomy:
    """The parts of the encoder of BERT or RoBERTa: post-norm, a learned table of positions, and token types. Outputs
    are the last hidden states, and every token has type 0."""
    _check_one_input(config, weights)
    kind = getattr(config, "position_embedding_type", "absolute") or "absolute"
    if kind != "absolute":
        raise UsageError(f"{weights.name} uses positions of the kind {kind!r}, which have no parts here; absolute have")
    types = weights.take("embeddings.token_type_embeddings.weight")
    rows = weights.take("embeddings.position_embeddings.weight") + types[0]
    if "roberta" in config.model_type or config.model_type == "camembert":
        rows = rows[config.pad_token_id + 1 :]  # where these models begin to count
    other = () if len(types) == 1 else ((f"token types 1 to {len(types) - 1}", "every token is given type 0"),)
    return Anatomy(
        name=weights.name,
        embed=weights.take("embeddings.word_embeddings.weight"),
        table=_table(rows),
        norm_embed=weights.norm("embeddings.LayerNorm", config.layer_norm_eps),
        blocks=tuple(_bert_block(config, weights, f"encoder.layer.{n}") for n in range(config.num_hidden_layers)),
        norm_final=None,
        head=None,
        skipped=(*other, *weights.skipped(_BERT_HEADS)),
    )


def _bert_block(config: Any, weights: Weights, place: str) -> BlockPart:
    heads, eps, out = config.num_attention_heads, config.layer_norm_eps, f"{place}.attention.output"
    (wq, bq), (wk, bk), (wv, bv) = (
        weights.by_head(f"{place}.attention.self.{which}", heads) for which in ("query", "key", "value")
    )
    wo, bo = weights.linear(f"{out}.dense")
    attention = AttentionPart(
        *(wq, wk, wv, wo.unflatten(1, (heads, -1)).transpose(0, 1), bq, bk, bv, bo),
        scale=1 / math.sqrt(wq.shape[1]),
        causal=bool(config.is_decoder),
    )
    (w_in, b_in), (w_out, b_out) = (weights.linear(f"{place}.{which}.dense") for which in ("intermediate", "output"))
    mlp = MlpPart("plain", w_in, b_in, None, w_out, b_out, weights.activation(config.hidden_act))
    norm, norm_mlp = weights.norm(f"{out}.LayerNorm", eps), weights.norm(f"{place}.output.LayerNorm", eps)
    return BlockPart("post", norm, attention, norm_mlp, mlp)


def anatomy_of_opt(config: Any, weights: Weights) -> Anatomy:
    """The parts of OPT: pre-norm, or post-norm in OPT-350m, and a learned table of positions whose first two rows are
    not used. A narrow embedding is multiplied with the matrices that widen it."""
    start = "model.decoder." if "model.decoder.embed_tokens.weight" in weights.tensors else "decoder."
    embed, head = weights.take(f"{start}embed_tokens.weight"), weights.maybe("lm_head.weight")
    head = embed if head is not None and config.tie_word_embeddings else head
    if config.word_embed_proj_dim != config.hidden_size and head is not None:
        embed = embed @ weights.take(f"{start}project_in.weight").T
        head = head @ weights.take(f"{start}project_out.weight")
    order = "pre" if config.do_layer_norm_before else "post"
    blocks = []
    for layer in range(config.num_hidden_layers):
        place = f"{start}layers.{layer}"
        attention = _attention(config, weights, f"{place}.self_attn", "out_proj", config.num_attention_heads)
        norm, norm_mlp = (_opt_norm(config, weights, f"{place}.{which}_layer_norm") for which in ("self_attn", "final"))
        mlp = weights.mlp(f"{place}.", "fc1", "fc2", config.activation_function)
        blocks.append(BlockPart(order, norm, attention, norm_mlp, mlp))
    last = config.do_layer_norm_before and not config._remove_final_layer_norm
    return Anatomy(
        name=weights.name,
        embed=embed,
        table=_table(weights.take(f"{start}embed_positions.weight")[2:]),
        norm_embed=None,
        blocks=tuple(blocks),
        norm_final=_opt_norm(config, weights, f"{start}final_layer_norm") if last else None,
        head=head,
        skipped=weights.skipped(_CLASSIFIER),
    )


def _opt_norm(config: Any, weights: Weights, place: str) -> NormPart:
    if config.layer_norm_elementwise_affine:
        return weights.norm(place, 1e-5)
    return NormPart("layer", torch.ones(config.hidden_size, dtype=weights.dtype, device=weights.device), None, 1e-5)


def anatomy_of_neox(config: Any, weights: Weights, turns: Tensor, factor: float) -> Anatomy:
    """The parts of GPT-NeoX (Pythia): attention and MLP in parallel, one matrix for queries, keys and values, and RoPE
    that turns a share of each head alone."""
    _check_turns(config, weights)
    start = "gpt_neox." if "gpt_neox.embed_in.weight" in weights.tensors else ""
    embed, head = weights.take(f"{start}embed_in.weight"), weights.maybe("embed_out.weight")
    head = weights.maybe("lm_head.weight") if head is None else head
    order = "parallel" if config.use_parallel_residual else "pre"
    blocks = []
    for layer in range(config.num_hidden_layers):
        place = f"{start}layers.{layer}"
        norm, norm_mlp = (
            weights.norm(f"{place}.{which}_layernorm", config.layer_norm_eps) for which in ("input", "post_attention")
        )
        attention = _neox_attention(config, weights, f"{place}.attention", turns.double(), factor)
        mlp = weights.mlp(f"{place}.mlp.", "dense_h_to_4h", "dense_4h_to_h", config.hidden_act)
        blocks.append(BlockPart(order, norm, attention, norm_mlp, mlp))
    return Anatomy(
        name=weights.name,
        embed=embed,
        table=None,
        norm_embed=None,
        blocks=tuple(blocks),
        norm_final=weights.norm(f"{start}final_layer_norm", config.layer_norm_eps),
        head=embed if head is not None and config.tie_word_embeddings else head,
        skipped=weights.skipped(_CLASSIFIER),
    )


def _neox_attention(config: Any, weights: Weights, place: str, turns: Tensor, factor: float) -> AttentionPart:
    heads = config.num_attention_heads
    stacked = weights.by_head(f"{place}.query_key_value", heads)  # of each head queries, then keys, then values
    (wq, wk, wv), (bq, bk, bv) = ((None,) * 3 if part is None else part.chunk(3, dim=1) for part in stacked)
    assert wq is not None and wk is not None and wv is not None
    # The first 2 R of D rows of a head are turned, in the pairs (k, k + R). Queries and keys are put into one order in
    # which the pairs are (k, k + D/2), as everywhere here, and those that are not turned have the angle 0.
    width, turned = wq.shape[1], len(turns)
    rest = (width - 2 * turned) // 2
    places = torch.arange(width, device=wq.device)
    first, second, still = places.split([turned, turned, 2 * rest])
    order = torch.cat([first, still[:rest], second, still[rest:]])
    gain = torch.where(places < 2 * turned, factor, 1.0).to(wq.dtype)[order]

    def ordered(part: Tensor | None) -> Tensor | None:
        if part is None:
            return None
        return part[:, order] * (gain[:, None] if part.ndim == 3 else gain)

    wq, wk, bq, bk = map(ordered, (wq, wk, bq, bk))
    assert wq is not None and wk is not None
    wo, bo = weights.linear(f"{place}.dense")
    return AttentionPart(
        *(wq, wk, wv, wo.unflatten(1, (heads, -1)).transpose(0, 1), bq, bk, bv, bo),
        scale=1 / math.sqrt(width),
        causal=True,
        rotary=torch.cat([turns, turns.new_zeros(rest)]),
    )


def _check_turns(config: Any, weights: Weights) -> None:
    """Refuse RoPE whose angles change with the length of the input."""
    kind = (getattr(config, "rope_parameters", None) or {}).get("rope_type", "default")
    if kind not in _FIXED:
        raise UsageError(
            f"{weights.name} uses RoPE of the kind {kind!r}, whose angles change with the length of the input and have "
            f"no parts here; {', '.join(_FIXED)} have"
        )


def anatomy_of_llama(config: Any, weights: Weights, turns: Tensor, factor: float) -> Anatomy:
    """The parts of Llama or a relative (Mistral, Qwen2, Qwen3, Gemma): pre-norm with RMSNorm, RoPE, a gated MLP, keys
    that queries may share. `turns` are its angles per position, and `factor` what queries and keys are each multiplied
    by when they are turned."""
    _check_turns(config, weights)
    if getattr(config, "use_bidirectional_attention", False):
        raise UsageError(f"{weights.name} attends to later tokens as well, and its layout here is that of a decoder")
    start = "model." if "model.embed_tokens.weight" in weights.tensors else ""
    embed = weights.take(f"{start}embed_tokens.weight")
    head = weights.head(config, embed)
    if config.model_type == "gemma":  # what it reads is scaled, what it writes with is not
        embed = embed * math.sqrt(config.hidden_size)
    blocks = []
    for layer in range(config.num_hidden_layers):
        place = f"{start}layers.{layer}"
        (w_in, b_in), (w_gate, b_gate), (w_out, b_out) = (
            weights.linear(f"{place}.mlp.{which}_proj") for which in ("up", "gate", "down")
        )
        activation = weights.activation(config.hidden_act)
        mlp = MlpPart("gated", w_in, b_in, w_gate, w_out, b_out, activation, b_gate)
        norm, norm_mlp = (_rms(config, weights, f"{place}.{which}_layernorm") for which in ("input", "post_attention"))
        attention = _llama_attention(config, weights, f"{place}.self_attn", layer, turns.double(), factor)
        blocks.append(BlockPart("pre", norm, attention, norm_mlp, mlp))
    return Anatomy(
        name=weights.name,
        embed=embed,
        table=None,
        norm_embed=None,
        blocks=tuple(blocks),
        norm_final=_rms(config, weights, f"{start}norm"),
        head=head,
        skipped=weights.skipped(_CLASSIFIER),
    )


def _rms(config: Any, weights: Weights, place: str) -> NormPart:
    weight = weights.take(f"{place}.weight")
    return NormPart("rms", weight + 1 if config.model_type == "gemma" else weight, None, config.rms_norm_eps)


def _llama_attention(
    config: Any, weights: Weights, place: str, layer: int, turns: Tensor, factor: float
) -> AttentionPart:
    part = _attention(config, weights, place, "o_proj", config.num_key_value_heads)
    # A sliding window of n in these models is one's own place and n - 1 before.
    window, kinds = getattr(config, "sliding_window", None), getattr(config, "layer_types", None)
    slides = window is not None and (kinds is None or kinds[layer] == "sliding_attention")
    normed = config.model_type == "qwen3"
    return replace(
        part,
        scale=factor**2 * part.scale,
        rotary=turns,
        rule=f"window:size={window}" if slides else "softmax",
        norm_q=_rms(config, weights, f"{place}.q_norm") if normed else None,
        norm_k=_rms(config, weights, f"{place}.k_norm") if normed else None,
    )


def _attention(config: Any, weights: Weights, place: str, out: str, key_heads: int) -> AttentionPart:
    """Causal attention from a matrix each for queries, keys and values; queries may share keys."""
    heads = config.num_attention_heads
    found: list[Tensor | None] = []
    for which, count in (("q", heads), ("k", key_heads), ("v", key_heads)):
        parts = weights.by_head(f"{place}.{which}_proj", count)
        # Each head of keys and values as often as queries look at it.
        found += [p if p is None or heads == count else p.repeat_interleave(heads // count, 0) for p in parts]
    wq, bq, wk, bk, wv, bv = found
    assert wq is not None and wk is not None and wv is not None
    wo, bo = weights.linear(f"{place}.{out}")
    wo = wo.unflatten(1, (heads, -1)).transpose(0, 1)
    scale = 1 / math.sqrt(wq.shape[1])
    return AttentionPart(wq, wk, wv, wo, bq, bk, bv, bo, scale, causal=True, key_heads=key_heads)
