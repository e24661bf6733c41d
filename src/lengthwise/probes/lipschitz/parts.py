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
    stacked_norm,
)
from lengthwise.bounds.lipschitz.bound import Region
from lengthwise.bounds.lipschitz.layers import norm_bound
from lengthwise.models.forward import apply_attention, apply_norm, turned
from lengthwise.models.parts import Anatomy, AttentionPart
from lengthwise.models.placed import precise
from lengthwise.rounding import below, gamma, lengths
from lengthwise.seeds import Floats

_AT_ONCE = 1 << 20  # numbers looked at at once
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
        region = region.plus(float(lengths(array(table)).largest()), anatomy.width)
    if anatomy.norm_embed is None:
        return region
    norm = anatomy.norm_embed
    return Region(norm_bound(norm.kind, anatomy.width, norm.eps, region, norm.weight, norm.bias).reach)


def region_of(x: Tensor, widening: float) -> Region:
    """The region of given tokens [B, T, W], each moved by at most `widening`."""
    return _region(array(x).reshape(-1, x.shape[-1])).plus(widening, x.shape[-1])


def near_text(sequences: int, widening: float) -> str:
    """The set near given sequences in words; where nothing is moved, what is bounded is the derivative."""
    one = f"one of {sequences} given sequences" if sequences > 1 else "one given sequence"
    if widening == 0:
        return f"inputs arbitrarily close to {one}"
    return f"two inputs of which every token is within {widening:g} of {one}, the same for both"


def _region(vectors: Floats) -> Region:
    """The region of vectors [n, W]: no radius below the true one, no spread or size above it.

    A computed mean is wrong by at most γ_W times the largest coordinate. Deviations from a wrong mean are too large by
    at most that, and then a sum of W squares is taken; squares that underflow only make it smaller.
    """
    width, radius, least = vectors.shape[1], 0.0, [math.inf, math.inf]
    share, lost = 1.0 - gamma(width + 8), gamma(2 * width + 8)
    for some in np.array_split(vectors, 1 + vectors.size // _AT_ONCE):
        exponent = np.frexp(np.abs(some).max(axis=1))[1]
        scaled = np.ldexp(some, -exponent[:, None])
        spread = np.maximum(0.0, scaled.std(axis=1) * share - lost)
        size = np.sqrt(np.mean(scaled**2, axis=1)) * share
        least = [min(one, float(np.ldexp(s, exponent).min())) for one, s in zip(least, (spread, size), strict=True)]
        radius = max(radius, float(lengths(some).largest()))
    return Region(radius, below(least[0]), below(least[1]))


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
    out = stacked_norm(heads)
    return local_attention_constant(numbers, out, "token"), local_attention_constant(numbers, out, "frobenius")
