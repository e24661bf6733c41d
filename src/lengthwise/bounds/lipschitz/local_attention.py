"""Softmax attention near given sequences: the bound made from the attention that is really there.

The ball's bound supposes the worst: tokens at opposite ends of the ball and attention split between them. Near a given
sequence the values and keys that a query attends to differ by less, and their covariance under the actual weights says
by how much (statement 7 of docs/bounds.md). Tokens may then move by `widening` each, the weights with them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lengthwise.bounds.lipschitz.attention import AttentionHead, HeadNorms
from lengthwise.bounds.lipschitz.bound import Norm
from lengthwise.bounds.lipschitz.rounding import spectral_norm, up
from lengthwise.seeds import Floats


@dataclass(frozen=True, eq=False)
class SeenAttention:
    """What one head does on given sequences: queries, keys and values [B, T, D], biases included and turned by RoPE
    where there is one, and weights [B, T, T]. `turned` is False where RoPE's turning could not be followed."""

    queries: Floats
    keys: Floats
    values: Floats
    weights: Floats
    turned: bool = True


def largest_deviation(weights: Floats, points: Floats) -> Floats:
    """√‖Cov‖ of the points [B, T, D] under each row of weights [B, T, T]: the largest standard deviation along a
    direction, [B, T]."""
    deviations = np.empty(weights.shape[:2])
    for item in range(len(weights)):
        means = weights[item] @ points[item]  # [T, D]
        centred = points[item][None] - means[:, None]  # [queries, keys, D]
        rooted = np.sqrt(weights[item])[:, :, None] * centred
        if rooted.shape[1] > rooted.shape[2]:  # the smaller Gram matrix; both have the same largest eigenvalue
            gram = np.swapaxes(rooted, 1, 2) @ rooted
        else:
            gram = rooted @ np.swapaxes(rooted, 1, 2)
        # The Gram matrix is wrong by at most a few (T + D) u of its trace, and so is its largest eigenvalue.
        slack = 8.0 * (rooted.shape[1] + rooted.shape[2]) * 2.0**-53 * np.trace(gram, axis1=1, axis2=2)
        top = np.linalg.eigvalsh(gram)[:, -1]
        deviations[item] = np.sqrt(np.maximum(top, 0.0) + slack)
    return deviations


@dataclass(frozen=True, eq=False)
class LocalNumbers:
    """The three numbers of a head near given sequences, each the largest over sequences and queries and before
    the out matrix is applied: `by_query`, `by_keys` and `received`; `mix` and `out` are ‖OV‖ and ‖O‖."""

    by_query: Floats  # [B, T]
    by_keys: Floats  # [B, T]
    received: float
    norms: HeadNorms
    out: float

    def factor(self, norm: Norm, through_out: bool) -> Floats:
        """The bound of each query [B, T]: of the head behind the out matrix, or of its D numbers before it."""
        out, mix = (self.out, self.norms.mix) if through_out else (1.0, self.norms.value)
        moved = mix + out * self.by_keys if self.norms.rotary else np.hypot(mix, out * self.by_keys)
        return out * self.by_query + (math.sqrt(self.received) if norm == "frobenius" else 1.0) * moved


def local_numbers(
    head: AttentionHead, norms: HeadNorms, seen: SeenAttention, widening: float, most_received: float
) -> LocalNumbers:
    """How far values and keys spread under the actual weights when tokens move by at most `widening`."""
    scale, query, key = abs(head.scale), spectral_norm(head.query), spectral_norm(head.key)
    if norms.rotary:
        slope = scale * key * (np.linalg.norm(seen.queries, axis=2) + query * widening)
    else:
        slope = scale * np.linalg.norm(seen.queries @ head.key, axis=2) + norms.logit * widening
    middle = seen.keys.mean(axis=1, keepdims=True) if seen.turned else 0.0  # turned keys are only as long as they are
    apart = np.linalg.norm(seen.keys - middle, axis=2).max(axis=1)[:, None]  # [B, 1]
    # Two logits of a query can come further apart by this, and then a weight can grow by its exponential.
    logit_range = 2.0 * widening * (scale * query * apart + slope)
    growth = np.exp(np.minimum(logit_range, 700.0))
    key_spread = np.broadcast_to(apart, growth.shape) + key * widening
    if seen.turned:
        key_spread = np.minimum(
            key_spread, np.sqrt(growth) * (largest_deviation(seen.weights, seen.keys) + key * widening)
        )
    moved = norms.value * widening
    value_spread = np.minimum(
        np.linalg.norm(seen.values - seen.values.mean(axis=1, keepdims=True), axis=2).max(axis=1)[:, None] + moved,
        np.sqrt(growth) * (largest_deviation(seen.weights, seen.values) + moved),
    )
    received = float((seen.weights.sum(axis=1).max(axis=1) * growth.max(axis=1)).max())
    return LocalNumbers(
        by_query=scale * query * value_spread * key_spread,
        by_keys=slope * value_spread,
        received=up(min(received, most_received)),
        norms=norms,
        out=spectral_norm(head.out),
    )


def local_attention_constant(numbers: Sequence[LocalNumbers], out: float, norm: Norm) -> float:
    """All heads together, on the worst query of the worst sequence; `out` is the norm of all out matrices stacked."""
    added = np.sum([each.factor(norm, True) for each in numbers], axis=0)
    stacked = out * np.sqrt(np.sum([each.factor(norm, False) ** 2 for each in numbers], axis=0))
    return up(float(np.minimum(added, stacked).max()))
