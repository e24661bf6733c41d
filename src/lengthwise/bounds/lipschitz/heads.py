"""One head of attention as numbers: its matrices, what a norm before it makes of them, and the few norms that count.

A head computes, for the query i over the keys j that i sees,

    logit_ij = scale (Q x_i + q)ᵀ T_ij (K x_j + k) + bias_ij,      out_i = O Σ_j softmax_j(logit_ij) V x_j,

where T_ij is orthogonal: the identity, or the rotation of RoPE between the two positions. Biases that depend on
positions alone (ALiBi, T5, KERPLE, FIRE), masks and windows are constant in x and need no number.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np

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
        return HeadNorms.of(self)

    def behind_norm(self, weight: Any = None, bias: Any = None, centred: bool = False) -> AttentionHead:
        """This head as a function of z where it reads weight * z + bias, and z sums to zero if `centred`."""
        query, key, value = (behind_norm(m, weight, centred) for m in (self.query, self.key, self.value))
        shifted = [
            _shifted(b, m, bias)
            for b, m in (
                (self.query_bias, self.query),
                (self.key_bias, self.key),
                (self.value_bias, self.value),
            )
        ]
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

    @classmethod
    def of(cls, head: AttentionHead) -> HeadNorms:
        scale = abs(head.scale)
        if head.rotary:
            query, key = spectral_norm(head.query), spectral_norm(head.key)
            logit = scale * query * key
            query_offset = scale * key * vector_norm(head.query_bias)
            key_offset = scale * query * vector_norm(head.key_bias)
        else:
            logit = scale * product_norm(head.query.T, head.key)
            query_offset = 0.0 if head.query_bias is None else scale * vector_norm(head.key.T @ head.query_bias)
            key_offset = 0.0
        mix, value = product_norm(head.out, head.value), spectral_norm(head.value)
        return cls(mix, value, up(logit), up(query_offset), up(key_offset), head.rotary)


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
