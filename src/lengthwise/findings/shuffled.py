"""The control: the distances of the levels shuffled within each task, for all of its configurations at once.

Configurations of one task see the same items, so their trends are not independent. Shuffling the distances once a task,
not once a configuration, keeps what they have in common: whatever is counted over configurations can be compared with
its own distribution under these shuffles. It takes the tasks as independent, and levels as exchangeable if risk and
distance are unrelated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lengthwise.findings.trend import ALPHA, FEWEST, RHO, ROUNDING, Course, standard_ranks
from lengthwise.seeds import Floats, Ints, Seeds

SHUFFLES = 10_000


@dataclass(frozen=True, eq=False)
class Shuffled:
    """What shuffles give: per configuration the p of its correlation (None: nothing varies, or too few levels); per
    shuffle how many are monotone, how many rise, and the mean correlation."""

    p_values: tuple[float | None, ...]
    monotone: Ints
    rising: Ints
    mean_rho: Floats

    def share_above(self, null: Floats | Ints, seen: float) -> float:
        """The share of shuffles that give as much, the one seen counted among them."""
        return (1 + int(np.sum(null >= seen - ROUNDING))) / (1 + len(null))


def shuffled(courses: Sequence[Course]) -> Shuffled:
    """The control of these courses. Those of one task with the same levels are shuffled together."""
    p_values: list[float | None] = [None] * len(courses)
    monotone, rising, total = np.zeros(SHUFFLES, np.int64), np.zeros(SHUFFLES, np.int64), np.zeros(SHUFFLES)
    groups: dict[tuple[str, tuple[str, ...]], list[int]] = {}
    for place, found in enumerate(courses):
        groups.setdefault((found.configuration[0], found.names), []).append(place)
    varying = 0
    for number, members in enumerate(groups.values()):
        rows = {place: standard_ranks(courses[place].risk) for place in members}
        kept = {place: row for place, row in rows.items() if row is not None}
        distance = standard_ranks(courses[members[0]].w1)
        if distance is None or len(distance) < FEWEST or not kept:
            continue
        varying += len(kept)
        risks = np.stack(list(kept.values()), axis=1)
        generator = np.random.default_rng(Seeds(0).key("shuffled distances", number, len(distance)))
        null = generator.permuted(np.tile(distance, (SHUFFLES, 1)), axis=1) @ risks
        for place, seen, column in zip(kept, distance @ risks, null.T, strict=True):
            p_values[place] = (1 + int(np.sum(column >= seen - ROUNDING))) / (1 + SHUFFLES)
        monotone += (null >= np.maximum(RHO, _significant(null)) - ROUNDING).sum(axis=1)
        rising += (null > ROUNDING).sum(axis=1)
        total += null.sum(axis=1)
    return Shuffled(tuple(p_values), monotone, rising, total / max(1, varying))


def _significant(null: Floats) -> Floats:
    """For every column the smallest correlation of which p < ALPHA, infinity where there is none."""
    bars = np.full(null.shape[1], np.inf)
    for place, column in enumerate(null.T):
        values, counts = np.unique(np.round(column, 9), return_counts=True)
        above = np.cumsum(counts[::-1])[::-1]
        rare = values[(1 + above) / (1 + len(column)) < ALPHA]
        bars[place] = rare[0] if len(rare) else np.inf
    return bars
