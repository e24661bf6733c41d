"""The mean of paired differences that come in blocks (tasks) of units (configurations) with a few values (seeds) each.

Seeds of one configuration resemble each other, and so do configurations of one task, so that values are not
independent. Two intervals answer two questions, both by the percentile bootstrap:

- *over blocks*: tasks are drawn with replacement, and in each of them its configurations: what other tasks of this kind
  would show. With three tasks it is about as wide as their means are apart.
- *within blocks*: the tasks stay and configurations are drawn in each of them: what other configurations of these very
  tasks would show.

A configuration is drawn with all its seeds. Where an interval includes 0, the smallest difference that would have been
found with probability 80 % is (t_{0.975} + t_{0.80}) times the standard error, the usual approximation; t has as many
degrees of freedom as there are blocks minus 1 over blocks, and as there are units minus blocks within them.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from lengthwise.errors import UsageError
from lengthwise.records import Interval
from lengthwise.seeds import Floats, Seeds
from lengthwise.statistics.bootstrap import LEVEL, RESAMPLES, percentile_ends

POWER = 0.80
Blocks = Mapping[str, Mapping[str, Sequence[float]]]


@dataclass(frozen=True)
class MeanSpread:
    """One interval of a mean, and the smallest true mean that an interval of this width finds with probability 80 %."""

    interval: Interval
    detectable: float

    @property
    def excludes_zero(self) -> bool:
        return 0.0 not in self.interval


@dataclass(frozen=True)
class BlockedMean:
    """The mean over all values with its two spreads; None where there are too few blocks, or units in them."""

    mean: float
    over: MeanSpread | None
    within: MeanSpread | None

    @property
    def spread(self) -> MeanSpread | None:
        """The one that claims more: over blocks where there are several, else within the only one."""
        return self.over or self.within


def blocked_mean(blocks: Blocks) -> BlockedMean:
    """The mean of the values of all units of all blocks, each value counting once."""
    sums, counts = [], []
    for name in sorted(blocks):
        units = [blocks[name][unit] for unit in sorted(blocks[name]) if len(blocks[name][unit])]
        if units:
            sums.append(np.array([math.fsum(unit) for unit in units]))
            counts.append(np.array([float(len(unit)) for unit in units]))
    if not sums:
        raise UsageError("a mean of differences needs at least one pair")
    total = math.fsum(float(one.sum()) for one in sums) / sum(float(one.sum()) for one in counts)
    units, several = sum(map(len, sums)), len(sums) > 1
    free = units - len(sums)
    within = _spread(_resampled(sums, counts, over=False), total, free, "within tasks") if free > 0 else None
    over = _spread(_resampled(sums, counts, over=True), total, len(sums) - 1, "over tasks") if several else None
    return BlockedMean(total, over, within)


def _resampled(sums: Sequence[Floats], counts: Sequence[Floats], over: bool) -> Floats:
    """Means of resamples: of the units of every block, and of the blocks too if `over`."""
    drawn = _drawn(tuple(map(len, sums)), over)
    drawn_units = np.concatenate(drawn, axis=1)
    return drawn_units @ np.concatenate(sums) / (drawn_units @ np.concatenate(counts))


@functools.lru_cache(maxsize=16)
def _drawn(sizes: tuple[int, ...], over: bool) -> tuple[Floats, ...]:
    """How often each unit of each block is in each resample, [resamples, units]; a block that is drawn twice has its
    units drawn twice."""
    blocks = len(sizes)
    generator = np.random.default_rng(Seeds(0).key("blocked", *sizes, int(over)))
    times = np.ones((RESAMPLES, blocks), dtype=np.int64)
    if over:
        times = generator.multinomial(blocks, np.full(blocks, 1 / blocks), size=RESAMPLES)
    parts = (generator.multinomial(size * times[:, i], np.full(size, 1 / size)) for i, size in enumerate(sizes))
    return tuple(part.astype(np.float64) for part in parts)


def _spread(means: Floats, total: float, freedom: int, what: str) -> MeanSpread:
    low, high = percentile_ends(means, np.full(len(means), 1 / len(means)))
    t = stats.t.ppf(0.5 + LEVEL / 2, freedom) + stats.t.ppf(POWER, freedom)
    method = f"percentile bootstrap {what}, configurations with their seeds, {len(means)} resamples"
    return MeanSpread(Interval(min(low, total), max(high, total), LEVEL, method), float(t * means.std()))
