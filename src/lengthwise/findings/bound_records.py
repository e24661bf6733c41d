"""What the bounds of many models at many levels say together."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from lengthwise.bounds.risk import NUMBERS, RiskBound
from lengthwise.findings.grouping import Configuration
from lengthwise.records import Assumption, Claim, Kind, Reference, Status

STATEMENT = Reference("docs/bounds.md", "statement 12")
EACH = Assumption("each bound holds with probability 95 % over the items; they were not corrected for their number")
SUPPOSED = Assumption("the steepest slope seen between held-out items of training is the steepest there is")


@dataclass(frozen=True)
class BoundPoint:
    """One trained model at one level. `certified` holds for certain and is vacuous but for luck; `supposed` would hold
    if the steepest slope seen among held-out items of training (`slope`) were the steepest there is. `steepest` is the
    steepest seen between training and this level: where it exceeds `slope`, the supposition is false.

    `tolerance` is how far the measured risk may lie above the true one by chance; a bound is broken beyond chance
    where the measured risk exceeds it by more.
    """

    configuration: Configuration
    seed: int
    axis: str
    level: str
    measured: float
    tolerance: float
    certified: RiskBound
    supposed: RiskBound
    slope: float
    steepest: float

    @property
    def broken(self) -> bool:
        """The measured risk exceeds the supposed bound."""
        return self.measured > self.supposed.total

    @property
    def broken_beyond_chance(self) -> bool:
        return self.measured > self.supposed.total + self.tolerance

    @property
    def without_sampling(self) -> float:
        """Source risk and slope times W1 alone, the samples being taken for the truth."""
        sampling = ("sampling_risk", "sampling_distance")
        return math.fsum(term.value for term in self.supposed.terms if term.key not in sampling)

    @property
    def looseness(self) -> float:
        """Supposed bound minus measured risk; below 0 where it is broken."""
        return self.supposed.total - self.measured

    def plain(self) -> dict[str, Any]:
        return {**asdict(self), "broken": self.broken, "looseness": self.looseness}


@dataclass(frozen=True)
class BoundFinding:
    """All models at all levels. `missing` says in words what could not be bounded."""

    metric: str
    points: tuple[BoundPoint, ...]
    missing: tuple[str, ...]

    def at(self, configuration: Configuration, seed: int, level: str) -> BoundPoint:
        for point in self.points:
            if (point.configuration, point.seed, point.level) == (configuration, seed, level):
                return point
        raise KeyError(f"no bound was made for {configuration}, seed {seed}, level {level}")

    def claims(self) -> list[Claim]:
        """Does the certified bound say anything; is the supposed one kept; is what it supposes true; how loose."""
        if not self.points:
            gaps = tuple(Assumption(text, "violated") for text in self.missing)
            return [Claim(_KEPT, None, "", "heuristic", "unknown", None, gaps, STATEMENT)]
        return [self._certified(), self._kept(), self._steeper(), *self._loose()]

    def plain(self) -> dict[str, Any]:
        return {"metric": self.metric, "missing": list(self.missing), "claims": [c.plain() for c in self.claims()]}

    def _count(
        self, name: str, value: int, kind: Kind, status: Status, evidence: dict[str, Any], *assumptions: Assumption
    ) -> Claim:
        gaps = (Assumption(text, "violated") for text in self.missing)
        of = f"of {len(self.points)} models at levels"
        return Claim(name, value, of, kind, status, None, (*assumptions, *gaps), STATEMENT, evidence)

    def _certified(self) -> Claim:
        totals = [point.certified.total for point in self.points]
        useful = sum(total < 1 for total in totals)
        assumptions = (EACH, *_checked(self.points[0].certified))
        status: Status = "holds" if useful else "vacuous"
        wrong = sum(point.measured > point.certified.total + point.tolerance for point in self.points)
        name = "certified bounds of the risk below 1"
        totals_seen = {"smallest bound": min(totals), "median bound": float(np.median(totals)), "broken": wrong}
        return self._count(name, useful, "certified", status, totals_seen, *assumptions)

    def _kept(self) -> Claim:
        broken = [point for point in self.points if point.broken]
        beyond = [point for point in self.points if point.broken_beyond_chance]
        useful = [point for point in self.points if point.supposed.total < 1]
        status: Status = "refuted" if beyond else "holds" if useful else "vacuous"
        evidence = {
            "broken beyond chance": len(beyond),
            "configurations with a broken bound": len({point.configuration for point in broken}),
            "broken by axis": {a: sum(p.axis == a for p in broken) for a in _axes(self.points)},
            "bounds below 1": len(useful),
            "broken if sampling terms are left out": sum(p.measured > p.without_sampling for p in self.points),
        }
        return self._count(_KEPT, len(broken), "heuristic", status, evidence, SUPPOSED, EACH)

    def _steeper(self) -> Claim:
        steeper = sum(point.steepest > point.slope for point in self.points)
        name = "a slope from training to the level steeper than any seen in training"
        slopes = [point.slope for point in self.points]
        both = {
            "median slope in training": float(np.median(slopes)),
            "median slope to the level": float(np.median([point.steepest for point in self.points])),
        }
        return self._count(name, steeper, "measured", "holds", both)

    def _loose(self) -> list[Claim]:
        """How far the supposed bound lies above the measured risk, where it says anything."""
        useful = [point for point in self.points if point.supposed.total < 1]
        name = "supposed bound minus measured risk, median where the bound is below 1"
        if not useful:
            none = Assumption("no supposed bound is below 1", "violated")
            return [Claim(name, None, "risk", "heuristic", "vacuous", None, (none,), STATEMENT)]
        ratios = [point.supposed.total / point.measured for point in useful if point.measured > 0]
        evidence = {
            "points": len(useful),
            "median ratio": float(np.median(ratios)) if ratios else None,
            "terms, median": _median_terms(useful),
        }
        value = float(np.median([point.looseness for point in useful]))
        return [Claim(name, value, "risk", "heuristic", "holds", None, (SUPPOSED, EACH), STATEMENT, evidence)]


_KEPT = "measured risks above the bound from the steepest slope seen in training"


def _checked(bound: RiskBound) -> list[Assumption]:
    """What all certified bounds rest on, beside their numbers."""
    return [assumption for assumption in bound.assumptions if assumption.key not in NUMBERS]


def _axes(points: tuple[BoundPoint, ...]) -> list[str]:
    return list(dict.fromkeys(point.axis for point in points))


def _median_terms(points: list[BoundPoint]) -> dict[str, float]:
    names = [term.key for term in points[0].supposed.terms]
    columns = zip(*([term.value for term in point.supposed.terms] for point in points), strict=True)
    return {name: float(np.median(values)) for name, values in zip(names, columns, strict=True)}
