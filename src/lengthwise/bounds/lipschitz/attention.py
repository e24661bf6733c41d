"""Softmax attention on a ball: how much it can stretch distances, whatever the sequence.

With t = scale ‖QᵀK‖ R² the token-wise bound of a head without biases is ‖OV‖ (t + √(1 + t²)) and does not depend on the
length; it is attained (statements 3 and 4 of docs/bounds.md). With RoPE it is ‖OV‖ (1 + 2t). In the Frobenius bound the
length enters by √κ, κ being the largest total weight that one key can receive.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lengthwise.bounds.lipschitz.bound import Norm, PartBound, Region
from lengthwise.bounds.lipschitz.heads import AttentionHead, HeadNorms
from lengthwise.bounds.lipschitz.rounding import spectral_norm, up, vector_norm
from lengthwise.errors import UsageError
from lengthwise.seeds import Floats


@dataclass(frozen=True)
class Visibility:
    """Who sees whom. `length`: tokens in a sequence; `window`: how many places a query sees, itself included (to each
    side in an encoder); `biased`: whether positions add to the logits."""

    length: int
    causal: bool = True
    window: int | None = None
    biased: bool = False

    def __post_init__(self) -> None:
        if self.length < 1 or (self.window is not None and self.window < 1):
            raise UsageError(
                f"a sequence and a window hold at least 1 token, not {self.length} and {self.window}; None is no window"
            )

    def most_received(self, logit_range: float = math.inf) -> float:
        """κ: an upper bound of Σ_i weight_ij over all keys j.

        At most the number of queries that see a key. Where only x decides the logits of a query and they differ by at
        most `logit_range`, no weight exceeds exp(logit_range) / (keys seen), which bounds the sum over all queries
        by exp(logit_range) for an encoder and times the harmonic number of the length for a decoder.
        """
        seen_by = self.length
        if self.window is not None:
            seen_by = min(self.length, self.window if self.causal else 2 * self.window - 1)
        if self.biased or self.window is not None or logit_range > 700:
            return float(seen_by)
        harmonic = float(np.sum(1.0 / np.arange(1, self.length + 1))) if self.causal else 1.0
        return min(float(seen_by), up(math.exp(logit_range) * harmonic))


def head_factor(norms: HeadNorms, radius: float, norm: Norm, sight: Visibility | None) -> float:
    """The bound of a head on the ball of this radius, divided by ‖OV‖."""
    by_query = radius * (norms.logit * radius + norms.key_offset)  # a query that moves
    slope = norms.logit * radius + norms.query_offset
    by_keys = radius * slope  # keys that move, against the 1 of values that move
    moved = 1.0 + by_keys if norms.rotary else math.hypot(1.0, by_keys)
    if norm == "token":
        return up(by_query + moved)
    if sight is None:
        raise UsageError("the Frobenius bound of attention needs the length of the sequences (a Sight)")
    logit_range = math.inf if norms.rotary else 2.0 * by_keys
    return up(by_query + math.sqrt(sight.most_received(logit_range)) * moved)


def attention_bound(
    heads: Sequence[AttentionHead],
    region: Region,
    norm: Norm = "token",
    sight: Visibility | None = None,
    out_bias: Floats | None = None,
    part: str = "attention",
) -> PartBound:
    """Multi-head softmax attention on a region: the smaller of Σ_h ‖O_h V_h‖ c_h and ‖O‖ √Σ_h (‖V_h‖ c_h)²."""
    if not heads:
        raise UsageError("attention has at least one head")
    if region.center is not None:
        heads = [head.behind_norm(bias=region.center) for head in heads]
    norms = [head.norms for head in heads]
    factors = [head_factor(each, region.radius, norm, sight) for each in norms]
    out = spectral_norm(np.concatenate([head.out for head in heads], axis=1))
    constant = combined(norms, factors, out)
    constants = [head.out @ head.value_bias for head in heads if head.value_bias is not None]
    fixed = np.sum([*constants, *([] if out_bias is None else [out_bias])], axis=0) if constants else out_bias
    reach = combined(norms, [region.radius] * len(norms), out) + vector_norm(fixed)
    evidence = {
        "heads": len(norms),
        "length": None if sight is None else sight.length,
        "logit_norms": [each.logit for each in norms],
        "mix_norms": [each.mix for each in norms],
        "out_norm": out,
        "rotary": norms[0].rotary,
    }
    statement = ("statement 5" if norms[0].rotary else "statement 3") if norm == "token" else "statement 6"
    return PartBound(part, constant, norm, region, up(reach), statement, evidence)


def combined(norms: Sequence[HeadNorms], factors: Sequence[float], out: float) -> float:
    """Heads together: their bounds add up, or the stacked heads pass through the out matrix as one."""
    added = sum(each.mix * factor for each, factor in zip(norms, factors, strict=True))
    stacked = out * math.sqrt(sum((each.value * factor) ** 2 for each, factor in zip(norms, factors, strict=True)))
    return up(min(added, stacked))
