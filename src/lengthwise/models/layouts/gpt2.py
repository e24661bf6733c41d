"""GPT-2: pre-norm, a learned table of positions, one matrix for queries, keys and values."""

from __future__ import annotations

import math
from typing import Any

from torch import Tensor

from lengthwise.errors import UsageError
from lengthwise.models.layouts.weights import Weights, activation
from lengthwise.models.parts import Anatomy, AttentionPart, BlockPart, MlpPart, TablePart


def anatomy_of_gpt2(config: Any, weights: Weights) -> Anatomy:
    """The parts of GPT2LMHeadModel or GPT2Model."""
    if config.add_cross_attention:
        raise UsageError(f"{weights.name} attends to a second input (cross-attention), which has no parts here")
    start = "transformer." if "transformer.wte.weight" in weights.tensors else ""
    embed = weights.take(f"{start}wte.weight")
    rows = weights.take(f"{start}wpe.weight")
    head = _head(config, weights, embed)
    return Anatomy(
        name=weights.name,
        embed=embed,
        table=TablePart(lambda at: rows[at], rows, float(rows.norm(dim=1).max())),
        norm_embed=None,
        blocks=tuple(_block(config, weights, f"{start}h.{layer}", layer) for layer in range(config.n_layer)),
        norm_final=weights.norm(f"{start}ln_f", config.layer_norm_epsilon),
        head=head,
        head_bias=None,
        skipped=weights.skipped({"score.": "it classifies whole sequences; the outputs here are hidden states"}),
    )


def _head(config: Any, weights: Weights, embed: Tensor) -> Tensor | None:
    if "lm_head.weight" not in weights.tensors:
        return None
    head = weights.take("lm_head.weight")
    return embed if config.tie_word_embeddings else head


def _block(config: Any, weights: Weights, place: str, layer: int) -> BlockPart:
    heads, head_width = config.n_head, config.n_embd // config.n_head
    # Conv1D stores its matrix as [inputs, outputs].
    wq, wk, wv = (part.T.unflatten(0, (heads, -1)) for part in weights.take(f"{place}.attn.c_attn.weight").chunk(3, 1))
    bq, bk, bv = (part.unflatten(0, (heads, -1)) for part in weights.take(f"{place}.attn.c_attn.bias").chunk(3))
    wo = weights.take(f"{place}.attn.c_proj.weight").unflatten(0, (heads, -1)).transpose(1, 2)  # [H, W, D]
    scale = 1 / math.sqrt(head_width) if config.scale_attn_weights else 1.0
    if config.scale_attn_by_inverse_layer_idx:
        scale /= layer + 1
    attention = AttentionPart(wq, wk, wv, wo, bq, bk, bv, weights.take(f"{place}.attn.c_proj.bias"), scale, causal=True)
    mlp = MlpPart(
        "plain",
        weights.take(f"{place}.mlp.c_fc.weight").T,
        weights.take(f"{place}.mlp.c_fc.bias"),
        None,
        weights.take(f"{place}.mlp.c_proj.weight").T,
        weights.take(f"{place}.mlp.c_proj.bias"),
        activation(weights.name, config.activation_function),
    )
    eps = config.layer_norm_epsilon
    return BlockPart("pre", weights.norm(f"{place}.ln_1", eps), attention, weights.norm(f"{place}.ln_2", eps), mlp)
