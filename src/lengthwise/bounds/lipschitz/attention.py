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
from lengthwise.errors import UsageError
from lengthwise.rounding import (
    Numbers,
    Rounded,
    Upper,
    applied,
    centred_rows,
    gamma,
    lengths,
    matrix_of,
    product_norm,
    rounded,
    scaled_columns,
    spectral_norm,
    total,
    vector_norm,
)
from lengthwise.seeds import Floats


@dataclass(frozen=True, eq=False)
class AttentionHead:
    """The matrices of a head: query, key and value [D, W], out [W, D]; biases [D] or None.

    `scale` holds all that multiplies q·k: 1/√D, the square of YaRN's factor, and the largest sharpness (ln n for
    log-length attention). `rotary` says that queries and keys are turned by their positions.
    """

    query: Numbers
    key: Numbers
    value: Numbers
    out: Numbers
    query_bias: Numbers | None = None
    key_bias: Numbers | None = None
    value_bias: Numbers | None = None
    scale: float = 1.0
    rotary: bool = False

    def __post_init__(self) -> None:
        shapes = [matrix_of(m, "a matrix of a head").shape for m in (self.query, self.key, self.value, self.out)]
        query, key, value, out = shapes
        if query != key or value[1] != query[1] or out[1] != value[0]:
            raise UsageError(
                "a head must have query and key matrices of one shape, a value matrix of the same width and an out "
                f"matrix that fits the values, not the shapes {shapes}"
            )

    @functools.cached_property
    def norms(self) -> HeadNorms:
        """The norms that count, computed once."""
        scale, query_offset, key_offset = Upper(abs(self.scale)), Upper(0.0), Upper(0.0)
        if self.rotary:
            query, key = spectral_norm(self.query), spectral_norm(self.key)
            logit = scale * query * key
            query_offset = scale * key * vector_norm(self.query_bias)
            key_offset = scale * query * vector_norm(self.key_bias)
        else:
            logit = scale * product_norm(rounded(self.query).T, self.key)
            if self.query_bias is not None:
                query_offset = scale * vector_norm(applied(rounded(self.key).T, self.query_bias))
        mix, value = product_norm(self.out, self.value), spectral_norm(self.value)
        return HeadNorms(mix, value, float(logit), float(query_offset), float(key_offset), self.rotary)

    def behind_norm(self, weight: Any = None, bias: Any = None, centred: bool = False) -> AttentionHead:
        """This head as a function of z where it reads weight * z + bias, and z sums to zero if `centred`."""
        query, key, value = (behind_norm(m, weight, centred) for m in (self.query, self.key, self.value))
        biases = ((self.query_bias, self.query), (self.key_bias, self.key), (self.value_bias, self.value))
        shifted = (_shifted(b, m, bias) for b, m in biases)
        return AttentionHead(query, key, value, self.out, *shifted, scale=self.scale, rotary=self.rotary)


def behind_norm(matrix: Numbers, weight: Any = None, centred: bool = False) -> Rounded:
    """The matrix M' with M (weight * z) = M' z for all z that sum to zero (if centred) or for all z."""
    folded = rounded(matrix) if weight is None else scaled_columns(matrix, weight)
    return centred_rows(folded) if centred else folded


def _shifted(bias: Numbers | None, matrix: Numbers, shift: Any) -> Numbers | None:
    return bias if shift is None else applied(matrix, shift, bias)


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
                f"a sequence and a window must hold at least 1 token, not {self.length} and {self.window}; None means "
                "no window"
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
        return min(float(seen_by), float(Upper(logit_range).exp() * harmonic * (1.0 + gamma(self.length + 2))))


def head_factor(norms: HeadNorms, radius: float, norm: Norm, sight: Visibility | None) -> float:
    """The bound of a head on the ball of this radius, divided by ‖OV‖."""
    turned = Upper(norms.logit) * radius
    by_query = (turned + norms.key_offset) * radius  # a query that moves
    by_keys = (turned + norms.query_offset) * radius  # keys that move, against the 1 of values that move
    moved = by_keys + 1.0 if norms.rotary else by_keys.hypot(1.0)
    if norm == "token":
        return float(by_query + moved)
    if sight is None:
        raise UsageError("the Frobenius bound of attention needs the length of the sequences (a Visibility)")
    logit_range = math.inf if norms.rotary else float(by_keys * 2.0)
    return float(by_query + Upper(sight.most_received(logit_range)).root() * moved)


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
    out = stacked_norm(heads)
    constant = combined(norms, factors, out)
    fixed = rounded(np.zeros(len(heads[0].out)) if out_bias is None else out_bias)
    for head in heads:
        fixed = fixed if head.value_bias is None else applied(head.out, head.value_bias, fixed)
    reach = Upper(combined(norms, [region.radius] * len(norms), out)) + vector_norm(fixed)
    evidence = {
        "heads": len(norms),
        "length": None if sight is None else sight.length,
        "logit_norms": [each.logit for each in norms],
        "mix_norms": [each.mix for each in norms],
        "out_norm": out,
        "rotary": norms[0].rotary,
    }
    statement = ("statement 5" if norms[0].rotary else "statement 3") if norm == "token" else "statement 6"
    return PartBound(part, constant, norm, region, float(reach), statement, evidence)


def stacked_norm(heads: Sequence[AttentionHead]) -> float:
    """The norm of the out matrices of all heads, one after the other."""
    outs = [rounded(head.out) for head in heads]
    error = float(total(out.error for out in outs))
    return spectral_norm(Rounded(np.concatenate([out.values for out in outs], axis=1), error))


def combined(norms: Sequence[HeadNorms], factors: Sequence[float], out: float) -> float:
    """Heads together: their bounds add up, or the stacked heads pass through the out matrix as one."""
    pairs = list(zip(norms, factors, strict=True))
    added = total(Upper(each.mix) * factor for each, factor in pairs)
    stacked = Upper(0.0)
    for each, factor in pairs:
        stacked = stacked.hypot(Upper(each.value) * factor)
    return float(added.smaller(stacked * out))


def gibbs_mean(length: int) -> float:
    """λ: the largest mean of e_j under weights ∝ exp(-e_j), over e_1 = 0 and e_2, ..., e_n >= 0.

    It solves λ exp(λ + 1) = n - 1, so λ = W((n - 1) / e).
    """
    if length < 1:
        raise UsageError(f"a sequence must have at least 1 token, not {length}")
    mean = float(lambertw((length - 1) / math.e).real)
    while mean * math.exp(mean + 1) * (1.0 - 1e-12) < length - 1:  # the left side grows with λ: now it is not too small
        mean *= 1.0 + 1e-12
    return mean


def l2_attention_bound(
    query: Any, value: Any, length: int, norm: Norm = "token", part: str = "L2 attention"
) -> PartBound:
    """One head of tied L2 attention with values `value` @ (`query` @ x): value [any, D], query [D, W].

    The scale of the logits does not enter: a larger one makes attention sharper and the sharpness is paid by values
    that are then close (in kim2021 the same number also multiplies the values; multiply `value` by it).
    """
    outer, inner = spectral_norm(value), spectral_norm(query)
    mean = gibbs_mean(length)
    twice = Upper(mean) * 2.0
    factor = twice + twice + 1.0 if norm == "token" else twice + (twice + 1.0) * Upper(float(length)).root()
    evidence = {"length": length, "gibbs_mean": mean, "value_norm": outer, "query_norm": inner}
    return PartBound(part, float(factor * outer * inner), norm, None, math.inf, "statement 8", evidence)


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
    direction, [B, T], from above.

    Points are scaled by a power of two. The mean need not be exact, as deviations from any other point are larger; the
    Gram matrix and its largest eigenvalue are wrong by at most a few (T + D) u of its trace.
    """
    deviations = np.empty(weights.shape[:2])
    keys, width = points.shape[1:]
    for item in range(len(weights)):
        exponent = math.frexp(float(np.abs(points[item]).max()))[1]
        scaled = np.ldexp(points[item], -exponent)
        means = weights[item] @ scaled  # [T, D]
        centred = scaled[None] - means[:, None]  # [queries, keys, D]
        rooted = np.sqrt(weights[item])[:, :, None] * centred
        turned = np.swapaxes(rooted, 1, 2)
        gram = (
            turned @ rooted if keys > width else rooted @ turned
        )  # the smaller one; they share the largest eigenvalue
        slack = gamma(8.0 * (keys + width)) * np.trace(gram, axis1=1, axis2=2)
        top = np.maximum(np.linalg.eigvalsh(gram)[:, -1], 0.0)
        deviations[item] = np.ldexp(np.sqrt(top + slack) * (1.0 + gamma(8)), exponent)
    return np.nextafter(deviations, np.inf)


@dataclass(frozen=True, eq=False)
class LocalNumbers:
    """The three numbers of a head near given sequences, each the largest over sequences and queries and before
    the out matrix is applied: `by_query`, `by_keys` and `received`; `mix` and `out` are ‖OV‖ and ‖O‖."""

    by_query: Upper  # [B, T]
    by_keys: Upper  # [B, T]
    received: float
    norms: HeadNorms
    out: float

    def factor(self, norm: Norm, through_out: bool) -> Upper:
        """The bound of each query [B, T]: of the head behind the out matrix, or of its D numbers before it."""
        out, mix = (self.out, self.norms.mix) if through_out else (1.0, self.norms.value)
        by_keys = self.by_keys * out
        moved = by_keys + mix if self.norms.rotary else by_keys.hypot(mix)
        return self.by_query * out + (Upper(self.received).root() * moved if norm == "frobenius" else moved)


def local_numbers(
    head: AttentionHead, norms: HeadNorms, seen: SeenAttention, widening: float, most_received: float
) -> LocalNumbers:
    """How far values and keys spread under the actual weights when tokens move by at most `widening`."""
    scale, query, key = Upper(abs(head.scale)), spectral_norm(head.query), spectral_norm(head.key)
    longest = lengths(seen.queries)
    if norms.rotary:
        slope = scale * key * (longest + Upper(query) * widening)
    else:
        matrix = rounded(head.key)
        lost = longest * matrix.error + longest * lengths(matrix.values.ravel()) * gamma(len(matrix) + 4)
        slope = scale * (lengths(seen.queries @ matrix.values) + lost) + Upper(norms.logit) * widening
    middle = seen.keys.mean(axis=1, keepdims=True) if seen.turned else 0.0  # turned keys are only as long as they are
    apart = Upper(lengths(seen.keys - middle).largest(axis=1).value[:, None])  # [B, 1]
    # Two logits of a query can come further apart by this, and then a weight can grow by its exponential.
    logit_range = (scale * query * apart + slope) * (2.0 * widening)
    growth = logit_range.exp()
    key_spread = apart + Upper(key) * widening
    if seen.turned:
        key_spread = key_spread.smaller(
            growth.root() * (Upper(largest_deviation(seen.weights, seen.keys)) + Upper(key) * widening)
        )
    moved = Upper(norms.value) * widening
    around = seen.values - seen.values.mean(axis=1, keepdims=True)
    value_spread = (Upper(lengths(around).largest(axis=1).value[:, None]) + moved).smaller(
        growth.root() * (Upper(largest_deviation(seen.weights, seen.values)) + moved)
    )
    columns = Upper(seen.weights.sum(axis=1).max(axis=1) * (1.0 + gamma(seen.weights.shape[1] + 2)))
    received = (columns * growth.largest(axis=1)).largest()
    return LocalNumbers(
        by_query=scale * query * value_spread * key_spread,
        by_keys=slope * value_spread,
        received=float(received.smaller(most_received)),
        norms=norms,
        out=spectral_norm(head.out),
    )


def local_attention_constant(numbers: Sequence[LocalNumbers], out: float, norm: Norm) -> float:
    """All heads together, on the worst query of the worst sequence; `out` is the norm of all out matrices stacked."""
    added = total(each.factor(norm, True) for each in numbers)
    stacked = Upper(0.0)
    for each in numbers:
        stacked = stacked.hypot(each.factor(norm, False))
    return float(added.smaller(stacked * out).largest())
