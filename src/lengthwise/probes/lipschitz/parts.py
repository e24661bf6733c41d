"""A model as numbers for the bounds: regions of its inputs or of given hidden states, the heads of its attention, who
sees whom, and what attention does there."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from lengthwise.bounds.lipschitz.attention import (
    AttentionHead,
    SeenAttention,
    Visibility,
    local_attention_constant,
    local_numbers,
)
from lengthwise.bounds.lipschitz.bound import Region
from lengthwise.bounds.lipschitz.layers import norm_bound
from lengthwise.bounds.lipschitz.rounding import spectral_norm, up
from lengthwise.models.forward import apply_attention, apply_norm, turned
from lengthwise.models.parts import Anatomy, AttentionPart
from lengthwise.models.placed import precise
from lengthwise.seeds import Floats

FEW = 20_000_000  # numbers in the table of all tokens at all positions, up to which it is made


def input_region(anatomy: Anatomy, length: int) -> Region:
    """The radius, the least spread and the least size of token v at position p, over all v and the positions that a
    sequence of `length` tokens has. Exact where there are few; else from the extremes of both, which is never less
    careful."""
    with torch.no_grad():
        tokens = precise(anatomy.embed.detach())
        table = None if anatomy.table is None else precise(anatomy.table.vectors(anatomy.places(length))[0])
        few = tokens.numel() * (1 if table is None else len(table)) <= FEW
        if few:
            both = tokens if table is None else (tokens[:, None] + table[None]).flatten(0, 1)
            both = both if anatomy.norm_embed is None else apply_norm(anatomy.norm_embed, both)
            return _region(array(both))
    region = _region(array(tokens))
    if table is not None:
        region = region.plus(up(float(table.norm(dim=1).max())), anatomy.width)
    if anatomy.norm_embed is None:
        return region
    norm = anatomy.norm_embed
    return Region(norm_bound(norm.kind, anatomy.width, norm.eps, region, norm.weight, norm.bias).reach)


def region_of(x: Tensor, widening: float) -> Region:
    """The region of given tokens [B, T, W], each moved by at most `widening`."""
    values = array(x)
    lost = widening / math.sqrt(values.shape[-1])
    radius = float(np.linalg.norm(values, axis=-1).max()) + widening
    spread = max(0.0, float(values.std(axis=-1).min()) - lost)
    size = max(0.0, float(np.sqrt(np.mean(values**2, axis=-1)).min()) - lost)
    return Region(up(radius), spread * (1 - 1e-9), size * (1 - 1e-9))


def _region(vectors: Floats) -> Region:
    squares = np.einsum("ij,ij->i", vectors, vectors)
    width = vectors.shape[1]
    around = np.sqrt(np.maximum(squares / width - vectors.mean(axis=1) ** 2, 0.0))
    least = 1 - 1e-7  # the difference of squares loses more than a sum does
    spread = float(around.min())
    if spread < 1e-3 * math.sqrt(float(squares.max()) / width):  # too small for a difference of squares
        spread = float(vectors.std(axis=1).min())
    size = math.sqrt(float(squares.min()) / width)
    return Region(up(math.sqrt(float(squares.max()))), spread * least, size * least)


# --- attention ------------------------------------------------------------------------------------------------------


def array(tensor: Tensor) -> Floats:
    """A tensor as float64 numbers."""
    return tensor.detach().cpu().double().numpy()


def attention_problem(part: AttentionPart) -> str:
    """Why no constant is given for this attention; empty where one is."""
    if not part.law.fused:
        if part.rule.startswith("hardmax"):
            return "hardmax attention jumps where the best key changes, so no Lipschitz constant exists"
        if part.network is not None:
            return (
                f"the attention rule {part.rule!r} changes its logits before it weighs them: no bound of that is known"
            )
        return f"the attention rule {part.rule!r} is not a softmax of its logits, and no bound of it is known"
    if part.norm_q is not None or part.norm_k is not None:
        return "queries and keys pass through norms of their own, of which no bound is known"
    if part.scores is not None and part.rotary is None:
        return "the position encoding computes q·k in a way of its own, of which no bound is known"
    return ""


def largest_sharpness(part: AttentionPart, length: int) -> float:
    """The largest factor by which the rule multiplies logits in sequences of this length."""
    return float(torch.as_tensor(part.law.sharpness(torch.arange(length))).abs().max())


def sight_of(part: AttentionPart, length: int) -> Visibility:
    return Visibility(length, part.causal, part.law.window(), part.bias is not None)


def heads_of(part: AttentionPart, length: int) -> list[AttentionHead]:
    """The heads of a part as numbers; the largest sharpness goes into the scale."""
    scale = part.scale * largest_sharpness(part, length)
    rotary = part.rotary is not None
    biases = [None if b is None else array(b) for b in (part.bq, part.bk, part.bv)]
    matrices = [array(m) for m in (part.wq, part.wk, part.wv, part.wo)]
    return [
        AttentionHead(
            *(m[h] for m in matrices), *(None if b is None else b[h] for b in biases), scale=scale, rotary=rotary
        )
        for h in range(part.heads)
    ]


def near_constants(
    part: AttentionPart, heads: Sequence[AttentionHead], read: Tensor, at: Tensor, moved: float, sight: Visibility
) -> tuple[float, float]:
    """The bounds near given inputs, token-wise and Frobenius. `read` [B, T, W] is what attention reads, `heads` are
    its heads as functions of the token before the weights of a norm, and such tokens move by at most `moved`."""
    weights = apply_attention(part, read, at)[2]  # [B, H, T, T]
    numbers = []
    for h, head in enumerate(heads):
        q, k, v = (
            read @ w[h].T + (0.0 if b is None else b[h])
            for w, b in ((part.wq, part.bq), (part.wk, part.bk), (part.wv, part.bv))
        )
        if part.rotary is not None and part.scores is None:
            k = turned(k[:, None], at, part.rotary)[:, 0]
        seen = SeenAttention(array(q), array(k), array(v), array(weights[:, h]), turned=part.scores is None)
        numbers.append(local_numbers(head, head.norms, seen, moved, sight.most_received()))
    out = spectral_norm(np.concatenate([head.out for head in heads], axis=1))
    return local_attention_constant(numbers, out, "token"), local_attention_constant(numbers, out, "frobenius")
