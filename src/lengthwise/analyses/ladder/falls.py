"""Does risk fall anywhere as the distance grows? The strict reading of "monotone", configuration by configuration.

Two levels are compared where the second is farther for certain: the intervals of their distances do not overlap. The
items of all levels are drawn with the same random numbers and all seeds see the same items, so an item's errors are
averaged over seeds and compared item by item (one-sided t-test). A configuration falls if the smallest p of its pairs
of levels, times their number, is below 0.05. By chance that happens to at most one configuration in twenty.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from lengthwise.analyses.evidence import Climb, Configuration, Evidence, common_levels, has_learned
from lengthwise.seeds import Floats
from lengthwise.shift.level_shift import LevelShift

ALPHA = 0.05
FEWEST_ITEMS = 2


@dataclass(frozen=True)
class Fall:
    """The pair of levels of one configuration between which risk falls most clearly. `p_value` is corrected for the
    number of pairs; `near` and `far` are None where no two levels could be compared."""

    configuration: Configuration
    pairs: int
    p_value: float
    near: str | None = None
    far: str | None = None
    drop: float = 0.0

    @property
    def beyond_chance(self) -> bool:
        return self.p_value < ALPHA


@functools.lru_cache(maxsize=16)
def falls(evidence: Evidence, metric: str) -> tuple[Fall, ...]:
    """Every configuration that learned and has two levels to compare, in one metric."""
    found = (
        _fall(configuration, climbs, evidence.shift_of(configuration.task, metric))
        for configuration, climbs in evidence.configurations.items()
        if has_learned(climbs)
    )
    return tuple(fall for fall in found if fall.pairs)


def chance_of(found: Sequence[Fall]) -> float:
    """The chance of as many configurations that fall, were risk to fall nowhere; configurations are taken as
    independent."""
    count = sum(fall.beyond_chance for fall in found)
    return float(stats.binom.sf(count - 1, len(found), ALPHA)) if count else 1.0


def _fall(configuration: Configuration, climbs: Sequence[Climb], shifts: Mapping[str, LevelShift]) -> Fall:
    names = [point.name for point in common_levels(climbs) if point.name in shifts]
    errors = {name: _errors(climbs, name) for name in names}
    pairs = [
        (near, far)
        for near, far in itertools.permutations(names, 2)
        if shifts[near].high < shifts[far].low and len(errors[near]) == len(errors[far]) >= FEWEST_ITEMS
    ]
    found = Fall(configuration, len(pairs), 1.0)
    groups: dict[int, list[tuple[str, str]]] = {}
    for near, far in pairs:
        groups.setdefault(len(errors[near]), []).append((near, far))
    for own in groups.values():  # levels have one number of items, unless a task could not draw as many
        drops = np.stack([errors[near] - errors[far] for near, far in own])
        p_values = _p_values(drops)
        place = int(np.argmin(p_values))
        corrected = min(1.0, len(pairs) * float(p_values[place]))
        if found.near is None or corrected < found.p_value:
            found = Fall(configuration, len(pairs), corrected, *own[place], float(drops[place].mean()))
    return found


def _errors(climbs: Sequence[Climb], name: str) -> Floats:
    """The error of each item of a level, averaged over seeds; nothing where seeds have other items."""
    rows = [climb.ladder.at(name).errors for climb in climbs]
    alike = len({len(row) for row in rows}) == 1
    return np.array(rows, dtype=np.float64).mean(axis=0) if alike else np.zeros(0)


def _p_values(drops: Floats) -> Floats:
    """One-sided, of each row, against a mean of 0 or below."""
    mean, spread = drops.mean(axis=1), drops.std(axis=1, ddof=1) / drops.shape[1] ** 0.5
    with np.errstate(divide="ignore", invalid="ignore"):
        score = np.where(spread > 0, mean / spread, np.where(mean > 0, np.inf, -np.inf))
    return stats.t.sf(score, drops.shape[1] - 1)
