"""Attention by distance (kim2021): Lipschitz everywhere, not only on a ball.

With y = Q x for queries and keys alike (tied), logits -scale ‖y_i - y_j‖² and values U y_j, one head is
f_i = U Σ_j P_ij y_j. Its constant is ‖U‖ ‖Q‖ (1 + 4 λ), λ = W(( n - 1) / e) with Lambert's W: statement 8 of
docs/bounds.md. Keys may be masked as long as a query sees itself, and position biases may be added as long as a
query's own is the largest (ALiBi).
"""

from __future__ import annotations

import math
from typing import Any

from scipy.special import lambertw

from lengthwise.bounds.lipschitz.bound import Norm, PartBound
from lengthwise.bounds.lipschitz.rounding import spectral_norm, up
from lengthwise.errors import UsageError


def gibbs_mean(length: int) -> float:
    """λ: the largest mean of e_j under weights ∝ exp(-e_j), over e_1 = 0 and e_2, ..., e_n >= 0.

    It solves λ exp(λ + 1) = n - 1, so λ = W((n - 1) / e).
    """
    if length < 1:
        raise UsageError(f"a sequence has at least 1 token, not {length}")
    return up(float(lambertw((length - 1) / math.e).real))


def l2_attention_bound(
    query: Any, value: Any, length: int, norm: Norm = "token", part: str = "L2 attention"
) -> PartBound:
    """One head of tied L2 attention with values `value` @ (`query` @ x): value [any, D], query [D, W].

    The scale of the logits does not enter: a larger one makes attention sharper and the sharpness is paid by values
    that are then close (in kim2021 the same number also multiplies the values; multiply `value` by it).
    """
    outer, inner = spectral_norm(value), spectral_norm(query)
    mean = gibbs_mean(length)
    factor = 1.0 + 4.0 * mean if norm == "token" else 2.0 * mean + math.sqrt(length) * (1.0 + 2.0 * mean)
    evidence = {"length": length, "gibbs_mean": mean, "value_norm": outer, "query_norm": inner}
    return PartBound(part, up(outer * inner * factor), norm, None, math.inf, "statement 8", evidence)
