"""One configuration: does its risk rise with the distance from training? And how often would it if nothing did?

The rule, chosen before any data: a configuration is monotone if Spearman's correlation of its risk (mean over seeds)
with W1 over the levels is at least 0.8, and p < 0.05 one-sided when levels are shuffled. With fewer than four levels no
order is that rare (3! is 6), so nothing is said. A risk that never changes does not rise. A configuration that did not
learn its training range (see `has_learned`) has nothing to lose, and is not judged.

The control shuffles the distances of the levels within each task, for all of its configurations at once. They see the
same items, so their trends are not independent; one shuffle per task, not per configuration, keeps what they have in
common, and whatever is counted over configurations can be compared with its own distribution under these shuffles. It
takes the tasks as independent, and levels as exchangeable if risk and distance are unrelated.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from lengthwise.analyses.evidence import Climb, Configuration, common_levels, has_learned
from lengthwise.seeds import Floats, Ints, Seeds
from lengthwise.shift.level_shift import LevelShift
from lengthwise.statistics.isotonic import isotonic_fit
from lengthwise.statistics.trends import ranks

RHO, ALPHA, FEWEST = 0.8, 0.05, 4
ROUNDING = 1e-9
SHUFFLES = 10_000


@dataclass(frozen=True)
class RiskTrend:
    """Risk against W1 over the levels of one configuration, its seeds averaged; levels stand in the order of W1.

    `fitted` is the nearest rising curve (isotonic), `explained` the share of the variance over levels that it explains
    and `residual` the root mean square of what it leaves. `rho` is Spearman's correlation, None where the risk never
    changes; `p_value` is one-sided, by shuffling the levels. `monotone` is the verdict, None with too few levels and
    where the configuration did not learn its training range (`learned`).
    """

    configuration: Configuration
    seeds: tuple[int, ...]
    names: tuple[str, ...]
    w1: tuple[float, ...]
    risk: tuple[float, ...]
    fitted: tuple[float, ...]
    explained: float | None
    residual: float
    rho: float | None
    rho_by_seed: tuple[float | None, ...]
    p_value: float | None
    monotone: bool | None
    learned: bool

    def plain(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Course:
    """Risks of one configuration by level, [seeds, levels], and W1; before any verdict."""

    configuration: Configuration
    seeds: tuple[int, ...]
    names: tuple[str, ...]
    w1: Floats
    risks: Floats
    learned: bool

    @property
    def risk(self) -> Floats:
        return self.risks.mean(axis=0)


def course(climbs: Sequence[Climb], shifts: Mapping[str, LevelShift], axes: Sequence[str]) -> Course:
    """The levels of these axes that all seeds have and whose distance is known, in the order of W1."""
    names = [point.name for point in common_levels(climbs) if point.axis in axes and point.name in shifts]
    names.sort(key=lambda name: (shifts[name].w1, name))
    risks = np.array([[climb.ladder.at(name).risk for name in names] for climb in climbs], dtype=np.float64)
    return Course(
        climbs[0].configuration,
        tuple(climb.seed for climb in climbs),
        tuple(names),
        np.array([shifts[name].w1 for name in names], dtype=np.float64),
        risks.reshape(len(climbs), len(names)),
        has_learned(climbs),
    )


def standard_ranks(values: Floats) -> Floats | None:
    """Ranks, shifted and scaled so that the product of two rows is their correlation; None where nothing varies."""
    if len(values) < 2 or values.min() == values.max():
        return None
    centred = ranks(values) - (len(values) + 1) / 2
    return centred / math.sqrt(centred @ centred)


def correlation(one: Floats, two: Floats) -> float | None:
    """Spearman's rank correlation; None where a row never changes."""
    first, second = standard_ranks(one), standard_ranks(two)
    return None if first is None or second is None else float(np.clip(first @ second, -1, 1))


def judged(found: Course, p_value: float | None) -> RiskTrend:
    """The verdict on a course whose p is known."""
    rho = correlation(found.w1, found.risk)
    known = found.learned and len(found.names) >= FEWEST
    rises = rho is not None and p_value is not None and rho >= RHO - ROUNDING and p_value < ALPHA
    fitted, explained = _fitted(found)
    return RiskTrend(
        configuration=found.configuration,
        seeds=found.seeds,
        names=found.names,
        w1=tuple(found.w1.tolist()),
        risk=tuple(found.risk.tolist()),
        fitted=tuple(fitted.tolist()),
        explained=explained,
        residual=float(np.sqrt(np.mean((found.risk - fitted) ** 2))) if len(fitted) else 0.0,
        rho=rho,
        rho_by_seed=tuple(correlation(found.w1, row) for row in found.risks),
        p_value=p_value,
        monotone=rises if known else None,
        learned=found.learned,
    )


def _fitted(found: Course) -> tuple[Floats, float | None]:
    """The rising curve nearest to the risks at each level, and the share of their variance that it explains."""
    if not found.names:
        return np.zeros(0), None
    fit = isotonic_fit(found.w1.tolist(), found.risk.tolist(), increasing=True)
    return fit.fitted[np.searchsorted(fit.x, found.w1)], fit.explained()


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
