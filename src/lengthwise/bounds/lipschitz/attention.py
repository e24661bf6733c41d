"""Attention: one head as numbers, softmax attention on a ball and near given sequences, and attention by distance.

A head computes, for the query i over the keys j that i sees,

    logit_ij = scale (Q x_i + q)ᵀ T_ij (K x_j + k) + bias_ij,      out_i = O Σ_j softmax_j(logit_ij) V x_j,

where T_ij is orthogonal: the identity, or the rotation of RoPE between the two positions. Biases that depend on
positions alone (ALiBi, T5, KERPLE, FIRE), masks and windows are constant in x and need no number.

With t = scale ‖QᵀK‖ R² the token-wise bound of a head without biases is ‖OV‖ (t + √(1 + t²)) and does not depend on the
length; it is attained (statements 3 and 4 of docs/explanation/bounds.md). With RoPE it is ‖OV‖ (1 + 2t). In the
Frobenius bound the length enters by √κ, κ being the largest total weight that one key can receive.

That supposes the worst: tokens at opposite ends of the ball and attention split between them. Near a given sequence the
values and keys that a query attends to differ by less, and their covariance under the actual weights says by how much
(statement 7). Tokens may then move by `widening` each, the weights with them.

Attention by distance (kim2021), with y = Q x for queries and keys alike, logits -scale ‖y_i - y_j‖² and values U y_j,
has the constant ‖U‖ ‖Q‖ (1 + 4 λ), λ = W((n - 1) / e) with Lambert's W (statement 8). Keys may be masked as long as a
query sees itself, and position biases may be added as long as a query's own is the largest (ALiBi).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import lambertw

from lengthwise.bounds.lipschitz.bound import Norm, PartBound, Region
from lengthwise.bounds.lipschitz.rounding import UNIT, matrix_of, spectral_norm, up, vector_norm
from lengthwise.errors import UsageError
from lengthwise.seeds import Floats


@dataclass(frozen=True, eq=False)
class AttentionHead:
    """The matrices of a head: query, key and value [D, W], out [W, D]; biases [D] or None.

    `scale` holds all that multiplies q·k: 1/√D, the square of YaRN's factor, and the largest sharpness (ln n for
    log-length attention). `rotary` says that queries and keys are turned by their positions.
    """

    query: Floats
    key: Floats
    value: Floats
    out: Floats
    query_bias: Floats | None = None
    key_bias: Floats | None = None
    value_bias: Floats | None = None
    scale: float = 1.0
    rotary: bool = False

    def __post_init__(self) -> None:
        shapes = [matrix_of(m, "a matrix of a head").shape for m in (self.query, self.key, self.value, self.out)]
        query, key, value, out = shapes
        if query != key or value[1] != query[1] or out[1] != value[0]:
            raise UsageError(
                "a head has query and key matrices of one shape, a value matrix of the same width and an out matrix "
                f"that fits the values, not the shapes {shapes}"
            )

    @functools.cached_property
    def norms(self) -> HeadNorms:
        """The norms that count, computed once."""
        scale = abs(self.scale)
        if self.rotary:
            query, key = spectral_norm(self.query), spectral_norm(self.key)
            logit = scale * query * key
            query_offset = scale * key * vector_norm(self.query_bias)
            key_offset = scale * query * vector_norm(self.key_bias)
        else:
            logit = scale * product_norm(self.query.T, self.key)
            query_offset = 0.0 if self.query_bias is None else scale * vector_norm(self.key.T @ self.query_bias)
            key_offset = 0.0
        mix, value = product_norm(self.out, self.value), spectral_norm(self.value)
        return HeadNorms(mix, value, up(logit), up(query_offset), up(key_offset), self.rotary)

    def behind_norm(self, weight: Any = None, bias: Any = None, centred: bool = False) -> AttentionHead:
        """This head as a function of z where it reads weight * z + bias, and z sums to zero if `centred`."""
        query, key, value = (behind_norm(m, weight, centred) for m in (self.query, self.key, self.value))
        biases = ((self.query_bias, self.query), (self.key_bias, self.key), (self.value_bias, self.value))
        shifted = (_shifted(b, m, bias) for b, m in biases)
        return AttentionHead(query, key, value, self.out, *shifted, scale=self.scale, rotary=self.rotary)


def behind_norm(matrix: Any, weight: Any = None, centred: bool = False) -> Floats:
    """The matrix M' with M (weight * z) = M' z for all z that sum to zero (if centred) or for all z."""
    folded = np.asarray(matrix, dtype=np.float64)
    if weight is not None:
        folded = folded * np.asarray(weight, dtype=np.float64)
    return folded - folded.mean(axis=1, keepdims=True) if centred else folded


def _shifted(bias: Floats | None, matrix: Floats, shift: Any) -> Floats | None:
    if shift is None:
        return bias
    moved = matrix @ np.asarray(shift, dtype=np.float64)
    return moved if bias is None else bias + moved


@dataclass(frozen=True)
class HeadNorms:
    """The norms of a head, each rounded up.

    `mix` = ‖O V‖, `value` = ‖V‖, `logit` bounds scale ‖Qᵀ T K‖, `query_offset` bounds scale ‖Kᵀ Tᵀ q‖ and `key_offset`
    what the key bias adds to how much keys differ, times scale ‖Q‖; it is 0 without rotation, where the same
    k is added to all keys and cancels in softmax.
    """

    mix: float
    value: float
    logit: float
    query_offset: float
    key_offset: float
    rotary: bool


def product_norm(left: Any, right: Any) -> float:
    """An upper bound of ‖left right‖: of the product as computed, plus what rounding can have lost.

    The computed product is wrong by at most γ |left| |right| with γ = k u / (1 - k u), k the inner side. Where k is the
    short side (a head's), both factors are first made square by QR, which changes neither norm: that is computed for
    matrices wrong by at most a small multiple of m k u, m the long side (higham2002, theorem 19.4; 16 is taken).
    """
    left, right = matrix_of(left), matrix_of(right)
    inner, longest = left.shape[1], max(left.shape[0], right.shape[1])
    operations = 2.0 * inner
    frobenius = float(np.linalg.norm(left) * np.linalg.norm(right))
    if 2 * inner <= min(left.shape[0], right.shape[1]):
        operations += 2 * 16.0 * longest * inner
        left, right = (np.asarray(np.linalg.qr(side, mode="r")) for side in (left, right.T))
        right = right.T
    return up(spectral_norm(left @ right) + operations * UNIT * frobenius)


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
        raise UsageError("the Frobenius bound of attention needs the length of the sequences (a Visibility)")
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
    fixed = sum(constants if out_bias is None else [*constants, out_bias], np.zeros(len(heads[0].out)))
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
        slack = 8.0 * (rooted.shape[1] + rooted.shape[2]) * UNIT * np.trace(gram, axis1=1, axis2=2)
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
