"""How a head of a limit transformer spreads its attention, in each of the three modes."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from lengthwise.oracle.limit.numbers import TIE, Array, is_exact, zeros_like
from lengthwise.oracle.limit.parts import Head, Mode
from lengthwise.seeds import Ints


def head_weights(head: Head, states: Array, queries: Ints, mode: Mode, bits: int) -> Array:
    """How a head spreads its attention, [words, queries, keys]; rows add up to 1."""
    length = states.shape[1]
    distance = queries[:, None] - np.arange(length)
    near = (distance >= 0) & (distance < len(head.local))
    local = np.broadcast_to(zeros_like(states), distance.shape).copy()
    local[near] = head.local[distance[near]]
    if mode == "infinite":
        local = local * np.log(queries + 1.0)[:, None]
    logits = (states[:, queries] @ head.match.T) @ np.swapaxes(states, 1, 2) + local
    seen = distance >= 0
    top = np.where(seen, logits, logits[:, np.arange(len(queries)), queries][..., None]).max(axis=2, keepdims=True)
    gaps = np.where(seen, top - logits, zeros_like(states))
    weights = np.where(seen, _weights(gaps, mode, bits, length), zeros_like(gaps))
    return weights / weights.sum(axis=2, keepdims=True)


def _weights(gaps: Array, mode: Mode, bits: int, length: int) -> Array:
    """The weight of a key whose logit lies `gaps` below the largest, beside 1 for the largest."""
    if is_exact(gaps):
        weigh = np.frompyfunc(lambda gap: exact_weight(gap, mode, bits, length), 1, 1)
        return np.asarray(weigh(gaps), dtype=object)
    if mode == "hardmax":
        return (gaps <= TIE).astype(np.float64)
    if mode == "infinite":
        return np.exp(-gaps)
    weights = np.exp(-math.log(length) * np.where(gaps <= TIE, 0.0, gaps))
    return np.where(weights <= 2.0**-bits * (1 + TIE), 0.0, weights)


def exact_weight(gap: Fraction, mode: Mode, bits: int, length: int) -> Fraction | float:
    """length^-gap, rounded to 0 where it is at most 2^-bits: that is decided by whole numbers."""
    if gap == 0:
        return Fraction(1)
    if mode == "hardmax" or length**gap.numerator >= 2 ** (bits * gap.denominator):
        return Fraction(0)
    return Fraction(1, length**gap.numerator) if gap.denominator == 1 else float(length) ** -float(gap)
