"""Intervals for frequencies."""

from __future__ import annotations

import math
from statistics import NormalDist

from lengthwise.records import Interval


def wilson(right: int, items: int, level: float = 0.95) -> Interval:
    """Wilson's score interval for a probability after `right` successes in `items` independent trials.

    The p for which |right / items - p| <= z sqrt(p (1 - p) / items), z the two-sided normal quantile of `level`
    (wilson1927). It never leaves [0, 1] and keeps a width when all or none succeed.
    """
    if not 0 <= right <= items or items < 1:
        raise ValueError(f"{right} of {items} is not a frequency")
    z2 = NormalDist().inv_cdf(0.5 + level / 2) ** 2
    share = right / items
    middle = (share + z2 / (2 * items)) / (1 + z2 / items)
    half = math.sqrt(z2 * (share * (1 - share) / items + z2 / (4 * items**2))) / (1 + z2 / items)
    low = 0.0 if right == 0 else middle - half
    high = 1.0 if right == items else middle + half
    return Interval(low, high, level, "Wilson")
