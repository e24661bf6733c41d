"""The best guess of a real answer: the constant that lies within the tolerance of as many answers as possible."""

from __future__ import annotations

import numpy as np

from lengthwise.seeds import Floats, Ints
from lengthwise.tasks.task import Chance

_ROUNDING = 1e-9  # two answers exactly twice the tolerance apart are both reached by the number between them


def best_number(values: Floats, tolerance: float) -> Chance:
    """For equally likely numbers: the fullest window of twice the tolerance. Exact; O(n log n)."""
    ordered = np.sort(values)
    after = np.searchsorted(ordered, ordered + 2 * tolerance + _ROUNDING, side="right")
    share = float((after - np.arange(len(ordered))).max() / len(ordered))
    return Chance(share, share)


def best_seen(vectors: Ints | Floats, tolerance: float) -> Chance:
    """For a sample of vectors: the one that most are near in every entry. An estimate; O(items**2 x entries)."""
    near = np.ones((len(vectors), len(vectors)), dtype=bool)
    for entry in vectors.T:
        near &= np.abs(entry[:, None] - entry) <= tolerance + _ROUNDING
    share = float(near.mean(axis=1).max())
    return Chance(share, share)
