"""One-dimensional k-means on counts: Lloyd's iterations from the start that is best for fine levels.

The numbers are counted first, exactly where they take few values and otherwise in 65,536 equal bins that remember the
sum of what fell into them. An iteration is then a few look-ups in running sums, whatever the number of weights. For a
density p the best levels lie with density proportional to p^(1/3) when they are many (Panter & Dite 1951), which is
the start; each iteration lowers the squared error of the binned numbers or ends.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

BINS = 1 << 16
MOST_ITERATIONS = 1000


def kmeans_levels(numbers: NDArray[np.float32], count: int) -> tuple[NDArray[np.float32], bool]:
    """At most `count` ascending levels, and whether they were fitted; False: they are all the values that occur."""
    values, counts, sums = _counted(numbers, count)
    if len(values) <= count:
        return values.astype(np.float32), False
    levels = _start(values, counts, count)
    counted = np.concatenate([[0], np.cumsum(counts)])
    summed = np.concatenate([[0.0], np.cumsum(sums)])
    for _ in range(MOST_ITERATIONS):
        ends = np.concatenate(
            [[0], np.searchsorted(values, (levels[1:] + levels[:-1]) / 2, side="right"), [len(values)]]
        )
        inside = np.diff(counted[ends])
        full = inside > 0  # a level that nothing is nearest to is given up
        better = np.diff(summed[ends])[full] / inside[full]
        if len(better) == len(levels) and np.array_equal(better, levels):
            break
        levels = better
    return np.unique(levels.astype(np.float32)), True


def _counted(
    numbers: NDArray[np.float32], count: int
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.float64]]:
    """Ascending values, how often each occurs, and the sum of what it stands for."""
    if len(numbers) <= BINS or len(np.unique(numbers[:: len(numbers) // BINS])) <= BINS // 2:
        values, counts = np.unique(numbers, return_counts=True)
        if len(values) <= max(BINS, count):
            wide = values.astype(np.float64)
            return wide, counts, wide * counts
    low, high = float(numbers.min()), float(numbers.max())
    counts, sums = np.zeros(BINS, np.int64), np.zeros(BINS)
    for part in np.array_split(numbers, max(1, len(numbers) >> 22)):  # parts keep the memory small
        wide = part.astype(np.float64)
        bins = np.minimum(((wide - low) * (BINS / (high - low))).astype(np.int64), BINS - 1)
        counts += np.bincount(bins, minlength=BINS)
        sums += np.bincount(bins, weights=wide, minlength=BINS)
    used = counts > 0
    return sums[used] / counts[used], counts[used], sums[used]


def _start(values: NDArray[np.float64], counts: NDArray[np.int64], count: int) -> NDArray[np.float64]:
    """Levels at equal shares of p^(1/3), where p is a coarse histogram of the numbers."""
    edges = np.linspace(values[0], values[-1], 257)
    density = np.histogram(values, edges, weights=counts)[0] ** (1 / 3)
    share = np.concatenate([[0.0], np.cumsum(density)]) / density.sum()
    return np.unique(np.interp((np.arange(count) + 0.5) / count, share, edges))
