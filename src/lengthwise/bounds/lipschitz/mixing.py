"""Attention as a function of how often each token occurs: one query over a finite set of tokens (statement 18).

The query gives the token u the logit a_u and takes the vector v_u from it. Of a sequence in which u has the share p_u
it takes A(p) = Σ_u p_u e^{a_u} v_u / Z(p), Z(p) = Σ_u p_u e^{a_u}, which does not depend on the length.
"""

from __future__ import annotations

import math

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.rounding import Upper, gamma, lengths
from lengthwise.seeds import Floats


def mixed(logits: Floats, values: Floats, shares: Floats) -> tuple[Floats, Floats]:
    """A(p) [items, W] and Z(p) [items], with logits [K] counted from the largest, values [K, W], shares [items, K]."""
    weights = shares * np.exp(logits - logits.max())
    totals = weights.sum(axis=1)
    return weights @ values / totals[:, None], totals


def mixing_constant(logits: Floats, values: Floats, shares: Floats, distances: Floats) -> float:
    """The largest ‖A(p) - A(p')‖ / W1(p, p') over the convex hull of the given shares, W1 being that of the tokens at
    the given distances [K, K]:

        max over tokens k ≠ l and over the given p of ‖e^{a_l} (v_l - A(p)) - e^{a_k} (v_k - A(p))‖ / (Z d_kl),

    Z the least Z(p). No distance may exceed the true one. Tokens at distance 0 are taken as one, and must have the
    same logits and values.
    """
    if shares.ndim != 2 or not len(shares) or (shares < 0).any() or not np.allclose(shares.sum(axis=1), 1.0):
        raise UsageError("shares are rows of numbers of 0 or more that sum to 1")
    with np.errstate(invalid="ignore"):
        means, totals = mixed(logits, values, shares)
    if not totals.min() > 0:
        return math.inf  # every token that some item has is lost to underflow
    odds, steepest = np.exp(logits - logits.max()), 0.0
    # A mean, its odds and a pull are wrong by a few (K + W) u of the longest value, relative to the odds of both.
    lost = lengths(values).largest() * gamma(16 * (len(logits) + values.shape[1])) * _apart(logits)
    for k in range(len(logits)):
        for other in range(k):
            if distances[k, other] == 0:
                continue
            first, second = odds[other] * (values[other] - means), odds[k] * (values[k] - means)
            pulls = lengths(first - second).largest()  # convex in A: largest at a vertex
            pulls = pulls + lost * float(odds[k] + odds[other])
            steepest = max(steepest, float(pulls / float(distances[k, other])))
    least = float(totals.min()) * (1.0 - gamma(4 * len(logits) + 16) * _apart(logits))
    return float(Upper(steepest) / max(0.0, least))


def _apart(logits: Floats) -> float:
    """Differences of logits are rounded once, and the exponential of a difference by as much times the difference."""
    return 2.0 + float(logits.max() - logits.min())
