"""Weights on a few levels: a quantiser fits a codebook to numbers; each then becomes the index of its nearest level.

K-means is one-dimensional, on counts: the best partition of a few cells, then Lloyd's iterations on all of them. The
numbers are counted first, exactly where they take few values and otherwise in 65,536 equal bins that remember the
sum of what fell into them. Up to 128 levels the start is the best partition of at most 512 cells by dynamic
programming, which is the exact optimum where there are no more values than that. For a density p the best levels lie
with density proportional to p^(1/3) when they are many (Panter & Dite 1951): that is the start for more levels, and how
the cells are cut. Each iteration lowers the squared error of the counted numbers or is the last.
"""

from __future__ import annotations

import abc
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from lengthwise.errors import UsageError
from lengthwise.registry import Registry
from lengthwise.seeds import Floats, Ints

Singles = NDArray[np.float32]
MOST_LEVELS = 1 << 16
BINS = 1 << 16
CELLS = 512
MOST_SOLVED = 128  # levels up to which the start is a best partition
MOST_ITERATIONS = 1000


def kmeans_levels(numbers: Singles, count: int) -> tuple[Singles, bool]:
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


def _counted(numbers: Singles, count: int) -> tuple[Floats, Ints, Floats]:
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


@dataclass(frozen=True)
class Grid:
    """Equally spaced levels through zero: step x first, step x (first + 1), … `step` has the 8 significant bits of a
    bfloat16, so that it takes 16 bits to write down."""

    first: int
    step: float

    def levels(self, count: int) -> Singles:
        # Single operations, each rounded on its own: every machine gives the same bits.
        with np.errstate(over="ignore", invalid="ignore"):
            return ((np.arange(count, dtype=np.float64) + self.first) * self.step).astype(np.float32)


@dataclass(frozen=True, eq=False)
class Codebook:
    """The levels, ascending; `grid` says how to write them shortly where they are equally spaced."""

    levels: Singles
    grid: Grid | None = None

    def nearest(self, tensor: NDArray[Any]) -> NDArray[np.int32]:
        """The index of the level nearest to each number."""
        wide = self.levels.astype(np.float64)
        middles = ((wide[1:] + wide[:-1]) / 2).astype(np.float32)
        return np.searchsorted(middles, np.asarray(tensor, dtype=np.float32)).astype(np.int32)


@dataclass(frozen=True, eq=False)
class Quantised:
    """A tensor as indices into a codebook.

    levels     [levels]           the codebook, ascending
    symbols    [tensor's shape]   which level each number became
    grid                          the codebook in short, where it is equally spaced
    """

    levels: Singles
    symbols: NDArray[np.int32]
    grid: Grid | None = None

    def values(self) -> Singles:
        """The quantised numbers, in the tensor's shape."""
        return self.levels[self.symbols]


class Quantiser(abc.ABC):
    """How numbers become levels. A subclass is a frozen dataclass of settings that says how a codebook is fitted.

    `share`: one codebook serves many tensors, each times a scale of its own (its root mean square), which is cheaper
    where a model has many small tensors. `keeps`: the numbers are sent as they are and no codebook is needed.
    """

    keeps: ClassVar[bool] = False
    share: bool = False

    @abc.abstractmethod
    def codebook(self, numbers: Singles) -> Codebook:
        """Levels for finite numbers, of which there is one at least."""

    def quantise(self, tensor: NDArray[Any]) -> Quantised:
        """The tensor on levels of its own."""
        numbers = checked(tensor)
        if not numbers.size:
            return Quantised(np.zeros(0, np.float32), np.zeros(numbers.shape, np.int32))
        book = self.codebook(numbers.ravel())
        return Quantised(book.levels, book.nearest(numbers), book.grid)


quantisers: Registry[Quantiser] = Registry("quantiser", "lengthwise.bounds.compression", "lengthwise.quantisers")


@quantisers.register("uniform")
@dataclass(frozen=True)
class UniformQuantiser(Quantiser):
    """Equally spaced levels from the smallest number to the largest, zero among them if it lies between."""

    levels: int = 16
    share: bool = False

    def __post_init__(self) -> None:
        _check_levels(self.levels)

    def codebook(self, numbers: Singles) -> Codebook:
        low, high = float(numbers.min()), float(numbers.max())
        if low == high:
            return Codebook(np.array([low], np.float32))
        step = _rounded_up(max((high - low) / (self.levels - 1), float(np.finfo(np.float32).tiny)))
        first = round(low / step)
        last = min(round(high / step), first + self.levels - 1)
        grid = Grid(first, step)
        levels = grid.levels(last - first + 1)
        if last - first >= 1 << 24 or not np.isfinite(levels).all() or np.any(np.diff(levels) <= 0):
            # numbers so far from zero, compared with their range, that there is no grid through zero
            return Codebook(np.unique(np.linspace(low, high, self.levels).astype(np.float32)))
        return Codebook(levels, grid)


@quantisers.register("kmeans")
@dataclass(frozen=True)
class KMeans(Quantiser):
    """The levels with the least squared error that Lloyd's iterations reach.

    `half`: the levels are rounded to 16 bits where that moves none of them by more than 1/32 of the way to the next.
    """

    levels: int = 16
    half: bool = True
    share: bool = False

    def __post_init__(self) -> None:
        _check_levels(self.levels)

    def codebook(self, numbers: Singles) -> Codebook:
        levels, fitted = kmeans_levels(numbers, self.levels)
        return Codebook(_halved(levels) if fitted and self.half else levels)


@quantisers.register("exact")
@dataclass(frozen=True)
class Exact(Quantiser):
    """Every number kept bit for bit; the levels are all the numbers that occur."""

    keeps: ClassVar[bool] = True

    def codebook(self, numbers: Singles) -> Codebook:
        return Codebook(np.sort(np.unique(numbers.view(np.uint32)).view(np.float32), kind="stable"))

    def quantise(self, tensor: NDArray[Any]) -> Quantised:
        numbers = checked(tensor)
        words, symbols = np.unique(numbers.view(np.uint32), return_inverse=True)
        order = np.argsort(words.view(np.float32), kind="stable")  # by bits, -0 and 0 are two levels
        places = np.empty(len(order), np.int32)
        places[order] = np.arange(len(order), dtype=np.int32)
        return Quantised(words.view(np.float32)[order], places[symbols].reshape(numbers.shape))


def checked(tensor: NDArray[Any], name: str = "the tensor") -> Singles:
    """The tensor as contiguous float32, in its shape; what is no finite number is refused."""
    given = np.asarray(tensor)
    if given.dtype.kind != "f":
        raise UsageError(f"{name} holds {given.dtype}; weights of a floating-point type are needed")
    with np.errstate(over="ignore"):
        numbers = np.ascontiguousarray(given, dtype=np.float32).reshape(given.shape)
    if not np.isfinite(numbers).all():
        raise UsageError(f"{name} holds NaN or infinity, which no code of weights can carry; finite weights are needed")
    return numbers


def to_bfloat16(value: float) -> float:
    """The nearest number with 8 significant bits, one of those that 16 bits can hold."""
    word = int(np.float32(value).view(np.uint32))
    return float(np.uint32((word + 0x8000) & 0xFFFF0000).view(np.float32))


def _rounded_up(step: float) -> float:
    """The next bfloat16 that is not smaller: a grid of as many steps still reaches both ends."""
    near = to_bfloat16(step)
    return near if near >= step else float(np.uint32(int(np.float32(near).view(np.uint32)) + 0x10000).view(np.float32))


def _halved(levels: Singles) -> Singles:
    gap = np.diff(levels.astype(np.float64)).min() if len(levels) > 1 else 0.0
    with np.errstate(over="ignore", invalid="ignore"):
        rounded = levels.astype(np.float16).astype(np.float32)
        moved = np.abs(rounded - levels).max()
    return rounded if moved <= gap / 32 else levels


def _check_levels(levels: int) -> None:
    if not 2 <= levels <= MOST_LEVELS:
        raise UsageError(f"a quantiser must have 2 to {MOST_LEVELS} levels, not {levels}")
