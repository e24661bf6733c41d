"""The mean of independent values."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy import stats

from lengthwise.records import Interval


def mean_interval(values: Sequence[float], level: float = 0.95) -> tuple[float, Interval | None]:
    """The mean of independent values and Student's interval for it; no interval where there is one value."""
    mean = float(np.mean(values))
    if len(values) < 2:
        return mean, None
    half = float(stats.t.ppf(0.5 + level / 2, len(values) - 1) * np.std(values, ddof=1) / math.sqrt(len(values)))
    return mean, Interval(mean - half, mean + half, level, "Student's t")
