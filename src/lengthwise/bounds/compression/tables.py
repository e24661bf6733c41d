"""Whole-number frequencies from which encoder and decoder build the same code on any machine.

A code is made from frequencies f_1 … f_K >= 1 that sum up to 2^24. `constriction` takes weights in floating point,
rounds them down to a multiple of 2^-24 and gives every symbol one unit more; with the weights f_i - 1, whose sum
2^24 - K needs no rescaling, all its numbers are whole numbers below 2^24 and so exact in any floating point.
"""

from __future__ import annotations

from typing import Any

import constriction
import numpy as np

from lengthwise.seeds import Floats, Ints

_model = constriction.stream.model  # pyright: ignore[reportAttributeAccessIssue]  # a compiled module
PRECISION = 24
TOTAL = 1 << PRECISION
TABLE_WIDTHS = (6, 8, 10, 12, 14, 16, 18, 20)  # bits of a frequency that is sent; three bits say which
_MOST_WEIGHT = 1 << 37  # times 2^24 this still fits 64 bits


def spread(weights: Ints, total: int = TOTAL) -> Ints:
    """Frequencies of at least 1 that sum up to `total`, as near to proportional to the weights as rounding down allows.

    f_i >= w_i (total - K) / sum(w) for every i, which is what the stated overhead rests on; what rounding leaves over
    goes to the first of the largest weights.
    """
    free, whole = total - len(weights), int(weights.sum())
    if free < 0:
        raise ValueError(f"{len(weights)} symbols do not fit into {total} parts")
    if whole >= _MOST_WEIGHT:
        raise ValueError("there are too many symbols for 64-bit arithmetic")
    frequencies = 1 + (weights * free) // max(whole, 1)
    frequencies[int(np.argmax(weights))] += total - int(frequencies.sum())
    return frequencies


def model_of(frequencies: Ints) -> Any:
    """The entropy model in which symbol i has the probability f_i / 2^24 exactly; it needs two symbols or more."""
    return _model.Categorical((frequencies - 1).astype(np.float64), perfect=False)


def code_bits(counts: Ints, frequencies: Ints) -> float:
    """The bits that symbols with these counts take under a code with these frequencies."""
    return float(counts @ (np.log2(frequencies.sum()) - np.log2(frequencies)))


def entropy_bits(counts: Ints) -> float:
    """n times the empirical entropy of symbols with these counts."""
    used: Floats = counts[counts > 0].astype(np.float64)
    return float(used @ (np.log2(used.sum()) - np.log2(used))) if used.size else 0.0


def best_table(counts: Ints) -> tuple[float, int, Ints]:
    """Bits for table and symbols together, width and frequencies (of sum 2^width) of the table that takes least."""
    choices = []
    for width in TABLE_WIDTHS:
        if 1 << width > len(counts):
            frequencies = spread(counts, 1 << width)
            choices.append((width * (len(counts) - 1) + code_bits(counts, frequencies), width, frequencies))
    return min(choices, key=lambda choice: choice[0])
