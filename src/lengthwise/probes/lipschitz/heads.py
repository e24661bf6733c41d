"""Attention parts as numbers for the bounds: heads, who sees whom, and what attention does on given inputs."""

from __future__ import annotations

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
from lengthwise.bounds.lipschitz.rounding import spectral_norm
from lengthwise.models.forward import apply_attention, turned
from lengthwise.models.parts import AttentionPart
from lengthwise.seeds import Floats


def array(tensor: Tensor) -> Floats:
    """A tensor as float64 numbers."""
    return tensor.detach().double().cpu().numpy()


def attention_problem(part: AttentionPart) -> str:
    """Why no constant is given for this attention; empty where one is."""
    if not part.law.fused:
        if part.rule.startswith("hardmax"):
            return "hardmax attention jumps where the best key changes, so no Lipschitz constant exists"
        return f"the attention rule {part.rule!r} is not a softmax of its logits, and no bound of it is known"
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
    return (
        local_attention_constant(numbers, out, "token"),
        local_attention_constant(numbers, out, "frobenius"),
    )
