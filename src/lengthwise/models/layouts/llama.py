"""Llama and its relatives (Mistral, Qwen2): pre-norm with RMSNorm, RoPE, a gated MLP, keys that queries may share."""

from __future__ import annotations

import math
from typing import Any

from torch import Tensor

from lengthwise.errors import UsageError
from lengthwise.models.layouts.weights import Weights, activation
from lengthwise.models.parts import Anatomy, AttentionPart, BlockPart, MlpPart, NormPart

# Scalings of RoPE whose frequencies are fixed once the model is made.
_FIXED = ("default", "linear", "llama3", "yarn")


def anatomy_of_llama(config: Any, weights: Weights, turns: Tensor, factor: float) -> Anatomy:
    """The parts of a model of this family. `turns` are its angles a position, and `factor` what queries and keys are
    each multiplied by when they are turned."""
    _check_rope(config, weights.name)
    start = "model." if "model.embed_tokens.weight" in weights.tensors else ""
    embed = weights.take(f"{start}embed_tokens.weight")
    head = None
    if "lm_head.weight" in weights.tensors:
        head = weights.take("lm_head.weight")
        head = embed if config.tie_word_embeddings else head
    blocks = tuple(
        _block(config, weights, f"{start}layers.{layer}", layer, turns.double(), factor)
        for layer in range(config.num_hidden_layers)
    )
    return Anatomy(
        name=weights.name,
        embed=embed,
        table=None,
        norm_embed=None,
        blocks=blocks,
        norm_final=_norm(config, weights, f"{start}norm"),
        head=head,
        head_bias=None,
        skipped=weights.skipped({"score.": "it classifies whole sequences; the outputs here are hidden states"}),
    )


def _check_rope(config: Any, name: str) -> None:
    kind = (getattr(config, "rope_parameters", None) or {}).get("rope_type", "default")
    if kind not in _FIXED:
        raise UsageError(
            f"{name} uses RoPE of the kind {kind!r}, whose angles change with the length of the input and have no "
            f"parts here; {', '.join(_FIXED)} have"
        )


def _norm(config: Any, weights: Weights, place: str) -> NormPart:
    return NormPart("rms", weights.take(f"{place}.weight"), None, config.rms_norm_eps)


def _block(config: Any, weights: Weights, place: str, layer: int, turns: Tensor, factor: float) -> BlockPart:
    mlp = MlpPart(
        "gated",
        weights.take(f"{place}.mlp.up_proj.weight"),
        weights.maybe(f"{place}.mlp.up_proj.bias"),
        weights.take(f"{place}.mlp.gate_proj.weight"),
        weights.take(f"{place}.mlp.down_proj.weight"),
        weights.maybe(f"{place}.mlp.down_proj.bias"),
        activation(weights.name, config.hidden_act),
        weights.maybe(f"{place}.mlp.gate_proj.bias"),
    )
    return BlockPart(
        "pre",
        _norm(config, weights, f"{place}.input_layernorm"),
        _attention(config, weights, f"{place}.self_attn", layer, turns, factor),
        _norm(config, weights, f"{place}.post_attention_layernorm"),
        mlp,
    )


def _attention(config: Any, weights: Weights, place: str, layer: int, turns: Tensor, factor: float) -> AttentionPart:
    heads, key_heads = config.num_attention_heads, config.num_key_value_heads

    def matrix(which: str, count: int) -> tuple[Tensor, Tensor | None]:
        """The matrix and bias of queries, keys or values by head, each head of keys as often as queries look at it."""
        weight = weights.take(f"{place}.{which}_proj.weight").unflatten(0, (count, -1))
        bias = weights.maybe(f"{place}.{which}_proj.bias")
        bias = None if bias is None else bias.unflatten(0, (count, -1))
        times = heads // count
        return (
            weight.repeat_interleave(times, 0) if times > 1 else weight,
            bias if bias is None or times == 1 else bias.repeat_interleave(times, 0),
        )

    (wq, bq), (wk, bk), (wv, bv) = matrix("q", heads), matrix("k", key_heads), matrix("v", key_heads)
    wo = weights.take(f"{place}.o_proj.weight").unflatten(1, (heads, -1)).transpose(0, 1)  # [H, W, D]
    return AttentionPart(
        *(wq, wk, wv, wo, bq, bk, bv, weights.maybe(f"{place}.o_proj.bias")),
        scale=factor**2 / math.sqrt(wq.shape[1]),
        causal=True,
        rotary=turns,
        rule=_rule(config, layer),
        key_heads=key_heads,
    )


def _rule(config: Any, layer: int) -> str:
    """A sliding window where the layer has one; a window of n in these models is one's own place and n - 1 before."""
    window = getattr(config, "sliding_window", None)
    kinds = getattr(config, "layer_types", None)
    slides = window is not None and (kinds is None or kinds[layer] == "sliding_attention")
    return f"window:size={window}" if slides else "softmax"
