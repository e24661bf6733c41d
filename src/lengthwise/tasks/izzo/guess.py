"""The best guess of a real answer: the constant that lies within the tolerance of as many answers as possible."""

from __future__ import annotations

import numpy as np

from lengthwise.seeds import Floats
from lengthwise.tasks.chance import ROUNDING, Chance


def best_number(values: Floats, tolerance: float) -> Chance:
    """For equally likely numbers: the fullest window of twice the tolerance. Exact; O(n log n)."""
    ordered = np.sort(values)
    after = np.searchsorted(ordered, ordered + 2 * tolerance + ROUNDING, side="right")
    share = float((after - np.arange(len(ordered))).max() / len(ordered))
    return Chance(share, share)
