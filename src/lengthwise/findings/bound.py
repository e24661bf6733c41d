"""The measured risk at a level beside what Kantorovich's inequality allows, term by term."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from lengthwise.bounds.risk import RiskBound
from lengthwise.findings.evidence import Evidence
from lengthwise.findings.trend import Configuration
from lengthwise.records import Claim


@dataclass(frozen=True)
class BoundPoint:
    """One trained model at one level. `certified` holds for certain and is vacuous but for luck; `supposed` would hold
    if the steepest slope seen among held-out items of training were the steepest there is. `steepest` is the steepest
    seen between training and this level: where it exceeds the one supposed, the supposition is false.

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
    def looseness(self) -> float:
        """Supposed bound minus measured risk; below 0 where it is broken."""
        return self.supposed.total - self.measured

    def plain(self) -> dict[str, Any]:
        return asdict(self)


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
        raise NotImplementedError

    def plain(self) -> dict[str, Any]:
        return {"metric": self.metric, "missing": list(self.missing), "claims": [c.plain() for c in self.claims()]}


def bound(evidence: Evidence) -> BoundFinding:
    """The bounds of every model at every level beyond training."""
    raise NotImplementedError
