"""One-dimensional k-means on counts: the best partition of a few cells, then Lloyd's iterations on all of them.

The numbers are counted first, exactly where they take few values and otherwise in 65,536 equal bins that remember the
sum of what fell into them. Up to 128 levels the start is the best partition of at most 512 cells by dynamic
programming, which is the exact optimum where there are no more values than that. For a density p the best levels lie
with density proportional to p^(1/3) when they are many (Panter & Dite 1951): that is the start for more levels, and how
the cells are cut. Each iteration lowers the squared error of the counted numbers or is the last.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lengthwise.seeds import Floats, Ints

BINS = 1 << 16
CELLS = 512
MOST_SOLVED = 128  # levels up to which the start is a best partition
MOST_ITERATIONS = 1000


def kmeans_levels(numbers: NDArray[np.float32], count: int) -> tuple[NDArray[np.float32], bool]:
    """At most `count` ascending levels, and whether they were fitted; False: they are all the values that occur."""
    values, counts, sums = _counted(numbers, count)
    if len(values) <= count:
        return values.astype(np.float32), False
    levels = _start(values, counts, sums, count)
    counted = np.concatenate([[0], np.cumsum(counts)])
    summed = np.concatenate([[0.0], np.cumsum(sums)])
    for _ in range(MOST_ITERATIONS):
        middles = (levels[1:] + levels[:-1]) / 2
        ends = np.concatenate([[0], np.searchsorted(values, middles, side="right"), [len(values)]])
        inside = np.diff(counted[ends])
        full = inside > 0  # a level that nothing is nearest to is given up
        better = np.diff(summed[ends])[full] / inside[full]
        if len(better) == len(levels) and np.array_equal(better, levels):
            break
        levels = better
    return np.unique(levels.astype(np.float32)), True


def _counted(numbers: NDArray[np.float32], count: int) -> tuple[Floats, Ints, Floats]:
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


def _start(values: Floats, counts: Ints, sums: Floats, count: int) -> Floats:
    # c numbers in a gap g are a density of c / g, whose share of p^(1/3) is c^(1/3) g^(2/3).
    pieces = ((counts[1:] + counts[:-1]) / 2) ** (1 / 3) * np.diff(values) ** (2 / 3)
    share = np.concatenate([[0.0], np.cumsum(pieces)]) / pieces.sum()
    if count > MOST_SOLVED:
        return np.unique(np.interp((np.arange(count) + 0.5) / count, share, values))
    ends = np.arange(len(values) + 1)
    if len(values) > CELLS:
        cuts = np.searchsorted(share, np.linspace(0, 1, CELLS + 1)[1:-1])
        ends = np.unique(np.concatenate([[0], cuts, [len(values)]]))
    return _best_partition(np.add.reduceat(counts, ends[:-1]), np.add.reduceat(sums, ends[:-1]), count)


def _best_partition(counts: Ints, sums: Floats, count: int) -> Floats:
    """The means of the `count` runs of cells with the least squared error between cells; fewer if there are fewer."""
    means = sums / counts - sums.sum() / counts.sum()  # about their mean, so that differences of sums stay exact enough
    weight, total, square = (
        np.concatenate([[0.0], np.cumsum(counts * power)]) for power in (np.ones_like(means), means, means**2)
    )
    inside = np.subtract.outer(weight, weight).T  # [from, to]
    with np.errstate(divide="ignore", invalid="ignore"):
        error = np.subtract.outer(square, square).T - np.subtract.outer(total, total).T ** 2 / inside
    error[inside <= 0] = np.inf
    best, froms = error[0], []
    for _ in range(1, min(count, len(counts))):
        reached = best[:, None] + error
        froms.append(np.argmin(reached, axis=0))
        best = np.take_along_axis(reached, froms[-1][None], axis=0)[0]
    ends = [len(counts)]
    for back in reversed(froms):
        ends.append(int(back[ends[-1]]))
    runs = np.array([0, *reversed(ends[1:])])
    return np.add.reduceat(sums, runs) / np.add.reduceat(counts, runs)
