"""Does risk rise with the distance from training? All configurations in one metric, and a shuffled control.

The rule: the claim holds if at least half of the configurations that learned their training range are monotone and
their number exceeds what 95 % of the shuffles give (both in `trend.py`). Otherwise it is refuted.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from lengthwise.analyses.evidence import LEARNED_VALUES, SHARED_ITEMS, Evidence, by_configuration, named, place_text
from lengthwise.analyses.ladder.trend import (
    ALPHA,
    FEWEST,
    RHO,
    SHUFFLES,
    Course,
    RiskTrend,
    Shuffled,
    course,
    judged,
    shuffled,
)
from lengthwise.messages import explain, sentence
from lengthwise.records import Assumption, Claim, Reference
from lengthwise.statistics.trends import page_trend
from lengthwise.tasks.ladder import TRAINING

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
        "monotone.exchangeable": "were risk unrelated to distance, levels could be exchanged; levels of one axis are "
        "steps of one shift and resemble each other, so p-values are on the small side",
        "monotone.few": "a configuration that learned, with {fewest} levels or more whose distance is known",
        "monotone.tasks": "tasks are independent of each other",
        "monotone.sign_test": "p is below 0.05 in a one-sided sign test",
        "monotone.free_fit": "the fit is free, so it explains part of pure noise as well",
    }
)
ALL_AXES = "all"
RULE = Assumption("monotone.rule", "checked", {"rho": RHO, "alpha": ALPHA, **LEARNED_VALUES})
EXCHANGEABLE = Assumption("monotone.exchangeable")


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
            "not_monotone": [named(trend.configuration) for trend in self.trends if trend.monotone is False],
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

    def plain(self) -> dict[str, Any]:
        """All but Page's claim, which is among the claims."""
        own = asdict(dataclasses.replace(self, page=None))
        return {**own, "claims": [claim.plain() for claim in self.claims()]}


@functools.lru_cache(maxsize=4)
def monotone(evidence: Evidence) -> tuple[Monotone, ...]:
    """One result for each metric and for each of: all axes together, every axis apart."""
    axes = evidence.axes
    choices = [ALL_AXES, *axes] if len(axes) > 1 else [ALL_AXES] if axes else []
    return tuple(_in_order(evidence, metric, axis, axes) for metric in evidence.metrics() for axis in choices)


def _in_order(evidence: Evidence, metric: str, axis: str, axes: Sequence[str]) -> Monotone:
    chosen = [TRAINING, *(axes if axis == ALL_AXES else [axis])]
    unit = next(shift.unit for shift in evidence.shifts if shift.metric == metric)
    groups = by_configuration(evidence.climbs)
    courses = [course(group, evidence.shift_of(key[0], metric), chosen) for key, group in groups.items()]
    kept = [found for found in courses if found.learned]
    null = shuffled(kept)
    p_values = {found.configuration: p_value for found, p_value in zip(kept, null.p_values, strict=True)}
    trends = tuple(judged(found, p_values.get(found.configuration)) for found in courses)
    count = sum(trend.monotone is True for trend in trends)
    known = sum(trend.monotone is not None for trend in trends)
    signed = [trend.rho > 0 for trend in trends if trend.learned and trend.rho]
    return Monotone(
        metric=metric,
        unit=unit,
        axis=axis,
        trends=trends,
        count=count,
        judged=known,
        rising=sum(signed),
        sign_p=_sign_p(sum(signed), len(signed)) if signed else None,
        control=_control(null, count) if known else None,
        page=_page(metric, axis, kept, trends, null) if known else None,
    )


def _place(axis: str) -> str:
    return sentence("place.all") if axis == ALL_AXES else place_text(axis)


def _control(null: Shuffled, count: int) -> ShuffledCount:
    quantile = float(np.quantile(null.monotone, 0.95, method="inverted_cdf"))
    return ShuffledCount(SHUFFLES, float(null.monotone.mean()), quantile, null.share_above(null.monotone, count))


def _page(metric: str, axis: str, courses: Sequence[Course], trends: Sequence[RiskTrend], null: Shuffled) -> Claim:
    """Page's test with a configuration as block and its levels, nearest first, as conditions. Tasks have distances of
    their own, so condition j is the j-th nearest level of the task. It holds, or is refuted, where the mean correlation
    is larger, or smaller, than in 95 % of the shared shuffles."""
    levels = Counter(len(found.names) for found in courses if len(found.names) >= FEWEST).most_common(1)[0][0]
    kept = [found for found in courses if len(found.names) == levels]
    claim = page_trend(
        "monotone.page",
        [found.risk.tolist() for found in kept],
        about={"metric": metric, "axis": axis, "place": _place(axis)},
        blocks=[named(found.configuration) for found in kept],
    )
    seen = [trend.rho for trend in trends if trend.rho is not None and trend.p_value is not None]
    own: dict[str, Any] = {"left_out": len(courses) - len(kept)}
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
