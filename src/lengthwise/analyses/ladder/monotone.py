"""Does risk rise with the distance from training? Every configuration, all of them in one metric, and a control.

The rule, chosen before any data: a configuration is monotone if Spearman's correlation of its risk (mean over seeds)
with W1 over the levels is at least 0.8, and p < 0.05 one-sided when levels are shuffled. With fewer than four levels no
order is that rare (3! is 6), so nothing is said. A risk that never changes does not rise. A configuration that did not
learn its training range (see `has_learned`) has nothing to lose, and is not judged. The claim holds if at least half of
the configurations that learned are monotone and their number exceeds what 95 % of the shuffles give. Otherwise it is
refuted.

The control shuffles the distances of the levels within each task, for all of its configurations at once. They see the
same items, so their trends are not independent; one shuffle per task, not per configuration, keeps what they have in
common, and whatever is counted over configurations can be compared with its own distribution under these shuffles. It
takes the tasks as independent, and levels as exchangeable if risk and distance are unrelated.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np

from lengthwise.analyses.evidence import (
    LEARNED_VALUES,
    SHARED_ITEMS,
    Climb,
    Configuration,
    Evidence,
    common_levels,
    has_learned,
    place_text,
)
from lengthwise.messages import explain, sentence
from lengthwise.records import Assumption, Claim, Reference
from lengthwise.seeds import Floats, Ints, Seeds
from lengthwise.shift.level_shift import LevelShift
from lengthwise.statistics.isotonic import isotonic_fit
from lengthwise.statistics.trends import page_trend, ranks
from lengthwise.tasks.ladder import TRAINING

RHO, ALPHA, FEWEST = 0.8, 0.05, 4
ROUNDING = 1e-9
SHUFFLES = 10_000
ALL_AXES = "all"

explain(
    {
        "place.all": "all levels in one order",
        "monotone.verdict": "configurations whose risk rises with W1, of those that learned ({metric} metric, {place})",
        "monotone.page": "mean rank correlation of risk and W1 over configurations that learned ({metric} metric, "
        "{place})",
        "monotone.signs": "configurations with a positive correlation of risk and W1, of those that learned ({metric} "
        "metric, {place})",
        "monotone.fit": "share of the variance over levels that a rising curve explains, median ({metric} metric, "
        "{place})",
        "monotone.rule": "monotone means that Spearman's correlation of mean risk and W1 over levels is {rho:g} or "
        "more, and one-sided p < {alpha:g}; the claim asks for half of the configurations that learned (a risk of at "
        "most {learned:g} in range), and for more than 95 % of shuffles give",
        "monotone.exchangeable": (
            "if risk were unrelated to distance, levels could be exchanged; levels of one axis are steps of "
            "one shift and resemble each other, so p-values are somewhat too small"
        ),
        "monotone.few": "a configuration that learned, with {fewest} levels or more whose distance is known",
        "monotone.tasks": "tasks are independent of each other",
        "monotone.sign_test": "p is below 0.05 in a one-sided sign test",
        "monotone.free_fit": "the fit is free, so it explains part of pure noise as well",
    }
)
RULE = Assumption("monotone.rule", "checked", {"rho": RHO, "alpha": ALPHA, **LEARNED_VALUES})
EXCHANGEABLE = Assumption("monotone.exchangeable")


@dataclass(frozen=True, eq=False)
class RiskTrend:
    """Risks against W1 over the levels of one configuration, [seeds, levels]; levels stand in the order of W1.

    `learned` is whether it learned its training range; `p_value` of its correlation is one-sided, by shuffling the
    levels, None before it is judged, with too few levels, and where the risk never changes.
    """

    configuration: Configuration
    seeds: tuple[int, ...]
    names: tuple[str, ...]
    w1: Floats
    risks: Floats
    learned: bool
    p_value: float | None = None

    @cached_property
    def risk(self) -> Floats:
        """The mean over seeds."""
        return self.risks.mean(axis=0)

    @cached_property
    def rho(self) -> float | None:
        """Spearman's correlation of risk and W1; None where the risk never changes."""
        return correlation(self.w1, self.risk)

    @property
    def rho_by_seed(self) -> tuple[float | None, ...]:
        return tuple(correlation(self.w1, row) for row in self.risks)

    @property
    def monotone(self) -> bool | None:
        """The verdict; None with too few levels, and where the configuration did not learn its training range."""
        if not self.learned or len(self.names) < FEWEST:
            return None
        return self.rho is not None and self.p_value is not None and self.rho >= RHO - ROUNDING and self.p_value < ALPHA

    @cached_property
    def _curve(self) -> tuple[Floats, float | None]:
        if not self.names:
            return np.zeros(0), None
        fit = isotonic_fit(self.w1.tolist(), self.risk.tolist(), increasing=True)
        return fit.fitted[np.searchsorted(fit.x, self.w1)], fit.explained()

    @property
    def fitted(self) -> Floats:
        """The rising curve nearest to the risks (isotonic) at each level."""
        return self._curve[0]

    @property
    def explained(self) -> float | None:
        """The share of the variance over levels that the rising curve explains."""
        return self._curve[1]

    @property
    def residual(self) -> float:
        """The root mean square of what the rising curve leaves."""
        return float(np.sqrt(np.mean((self.risk - self.fitted) ** 2))) if self.names else 0.0


def trend_of(climbs: Sequence[Climb], shifts: Mapping[str, LevelShift], axes: Sequence[str]) -> RiskTrend:
    """The levels of these axes that all seeds have and whose distance is known, in the order of W1."""
    names = [point.name for point in common_levels(climbs) if point.axis in axes and point.name in shifts]
    names.sort(key=lambda name: (shifts[name].w1, name))
    risks = np.array([[climb.ladder.at(name).risk for name in names] for climb in climbs], dtype=np.float64)
    return RiskTrend(
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


def shuffled(trends: Sequence[RiskTrend]) -> Shuffled:
    """The control of these configurations. Those of one task with the same levels are shuffled together."""
    p_values: list[float | None] = [None] * len(trends)
    monotone, rising, total = np.zeros(SHUFFLES, np.int64), np.zeros(SHUFFLES, np.int64), np.zeros(SHUFFLES)
    groups: dict[tuple[str, tuple[str, ...]], list[int]] = {}
    for place, found in enumerate(trends):
        groups.setdefault((found.configuration.task, found.names), []).append(place)
    varying = 0
    for number, members in enumerate(groups.values()):
        rows = {place: standard_ranks(trends[place].risk) for place in members}
        kept = {place: row for place, row in rows.items() if row is not None}
        distance = standard_ranks(trends[members[0]].w1)
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


@dataclass(frozen=True)
class ShuffledCount:
    """How many configurations would be called monotone if the distances were shuffled among the levels of each task."""

    shuffles: int
    mean: float
    quantile: float  # 95 % of the shuffles give this count or fewer
    p_value: float  # share of shuffles whose count is as large as the one found


@dataclass(frozen=True)
class Monotone:
    """The verdict in one metric on the levels of one axis, or of all axes in one order (`axis` is "all")."""

    metric: str
    unit: str
    axis: str
    trends: tuple[RiskTrend, ...]
    count: int  # monotone
    judged: int  # that learned, with levels enough to be called so
    rising: int  # that learned, with a correlation above 0
    sign_p: float | None
    control: ShuffledCount | None
    page: Claim | None

    @property
    def about(self) -> dict[str, str]:
        """What the sentences of its claims need."""
        return {"metric": self.metric, "axis": self.axis, "place": _place(self.axis)}

    @property
    def _learned(self) -> list[RiskTrend]:
        return [trend for trend in self.trends if trend.learned]

    def claims(self) -> list[Claim]:
        """The verdict; then Page's test, the sign test and how near the points are to a rising curve."""
        others = [self.page, self._signs(), self._fit()]
        return [self.verdict(), *(claim for claim in others if claim is not None)]

    def verdict(self) -> Claim:
        key = "monotone.verdict"
        if self.control is None:
            few = Assumption("monotone.few", "violated", {"fewest": FEWEST})
            return Claim(key, None, "", "measured", "unknown", None, (few, RULE), evidence=self.about)
        enough = 2 * self.count >= self.judged and self.count > self.control.quantile
        evidence = {
            **self.about,
            "configurations": len(self.trends),
            "control": asdict(self.control),
            "learned": sum(trend.learned for trend in self.trends),
            "median_rho": _median([trend.rho for trend in self._learned]),
            "monotone_after_holm": _after_holm(self.trends),
            "not_monotone": [trend.configuration.label for trend in self.trends if trend.monotone is False],
            "shares": {"monotone": self.count / self.judged, "control": self.control.mean / self.judged},
        }
        status = "holds" if enough else "refuted"
        assumptions = (RULE, EXCHANGEABLE, Assumption("monotone.tasks"))
        of = f"of {self.judged}"
        return Claim(key, self.count, of, "measured", status, None, assumptions, Reference("spearman1904"), evidence)

    def _signs(self) -> Claim | None:
        if self.sign_p is None:
            return None
        signed = sum(bool(trend.rho) for trend in self._learned)
        opposite = _sign_p(signed - self.rising, signed)
        return Claim(
            "monotone.signs",
            self.rising,
            f"of {signed}",
            "measured",
            "holds" if self.sign_p < ALPHA else "refuted" if opposite < ALPHA else "unknown",
            assumptions=(Assumption("monotone.sign_test", "checked"), SHARED_ITEMS),
            evidence={**self.about, "p_value": self.sign_p, "p_method": "sign test, configurations as independent"},
        )

    def _fit(self) -> Claim | None:
        shares = [trend.explained for trend in self._learned if trend.explained is not None]
        if not shares:
            return None
        return Claim(
            "monotone.fit",
            float(np.median(shares)),
            "",
            "heuristic",
            assumptions=(Assumption("monotone.free_fit"),),
            reference=Reference("barlow1972", "chapter 1"),
            evidence={
                **self.about,
                "median_residual": _median([trend.residual for trend in self._learned]),
                "largest_residual": max(trend.residual for trend in self._learned),
                "configurations": len(shares),
            },
        )


@functools.lru_cache(maxsize=4)
def monotone(evidence: Evidence) -> tuple[Monotone, ...]:
    """One result for each metric and for each of: all axes together, every axis apart."""
    axes = evidence.axes
    choices = [ALL_AXES, *axes] if len(axes) > 1 else [ALL_AXES] if axes else []
    return tuple(_in_order(evidence, metric, axis, axes) for metric in evidence.metrics() for axis in choices)


def _in_order(evidence: Evidence, metric: str, axis: str, axes: Sequence[str]) -> Monotone:
    chosen = [TRAINING, *(axes if axis == ALL_AXES else [axis])]
    groups = evidence.configurations
    every = [trend_of(group, evidence.shift_of(key.task, metric), chosen) for key, group in groups.items()]
    null = shuffled([trend for trend in every if trend.learned])
    p_values = iter(null.p_values)
    trends = tuple(dataclasses.replace(one, p_value=next(p_values)) if one.learned else one for one in every)
    learned = [trend for trend in trends if trend.learned]
    known = sum(trend.monotone is not None for trend in trends)
    count = sum(trend.monotone is True for trend in trends)
    signed = [trend.rho > 0 for trend in learned if trend.rho]
    return Monotone(
        metric=metric,
        unit=next(shift.unit for shift in evidence.shifts if shift.metric == metric),
        axis=axis,
        trends=trends,
        count=count,
        judged=known,
        rising=sum(signed),
        sign_p=_sign_p(sum(signed), len(signed)) if signed else None,
        control=_control(null, count) if known else None,
        page=_page(metric, axis, learned, null) if known else None,
    )


def _place(axis: str) -> str:
    return sentence("place.all") if axis == ALL_AXES else place_text(axis)


def _control(null: Shuffled, count: int) -> ShuffledCount:
    quantile = float(np.quantile(null.monotone, 0.95, method="inverted_cdf"))
    return ShuffledCount(SHUFFLES, float(null.monotone.mean()), quantile, null.share_above(null.monotone, count))


def _page(metric: str, axis: str, trends: Sequence[RiskTrend], null: Shuffled) -> Claim:
    """Page's test with a configuration as block and its levels, nearest first, as conditions. Tasks have distances of
    their own, so condition j is the j-th nearest level of the task. It holds, or is refuted, where the mean correlation
    is larger, or smaller, than in 95 % of the shared shuffles."""
    levels = Counter(len(trend.names) for trend in trends if len(trend.names) >= FEWEST).most_common(1)[0][0]
    kept = [trend for trend in trends if len(trend.names) == levels]
    claim = page_trend(
        "monotone.page",
        [trend.risk.tolist() for trend in kept],
        about={"metric": metric, "axis": axis, "place": _place(axis)},
        blocks=[trend.configuration.label for trend in kept],
    )
    seen = [trend.rho for trend in trends if trend.rho is not None and trend.p_value is not None]
    own: dict[str, Any] = {"left_out": len(trends) - len(kept)}
    opposite = 1.0
    if seen:
        own["p_shared"] = null.share_above(null.mean_rho, sum(seen) / len(seen))
        opposite = null.share_above(-null.mean_rho, -sum(seen) / len(seen))
        own["p_shared_method"] = f"{SHUFFLES} shuffles of the distances, one for all configurations of a task"
    others = (a for a in claim.assumptions if a.key != "trend.independent_blocks")
    status = claim.status
    if status == "holds" and not own.get("p_shared", 1.0) < ALPHA:
        status = "refuted" if opposite < ALPHA else "unknown"
    assumptions = (*others, SHARED_ITEMS, EXCHANGEABLE)
    return dataclasses.replace(claim, status=status, assumptions=assumptions, evidence={**claim.evidence, **own})


def _sign_p(rising: int, count: int) -> float:
    """The chance of `rising` heads or more in `count` throws of a coin."""
    return sum(math.comb(count, heads) for heads in range(rising, count + 1)) / 2**count


def _after_holm(trends: Sequence[RiskTrend]) -> int:
    """How many are still monotone when all p-values are corrected for their number by Holm's rule."""
    left = sorted((trend.p_value, trend.monotone is True) for trend in trends if trend.p_value is not None)
    count = 0
    for place, (p, rises) in enumerate(left):
        if p * (len(left) - place) >= ALPHA:
            break
        count += rises
    return count


def _median(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.median(known)) if known else None
