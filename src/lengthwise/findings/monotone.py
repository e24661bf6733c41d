"""Does risk rise with the distance from training? All configurations in one metric, beside a shuffled control."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from lengthwise.findings.evidence import Evidence
from lengthwise.findings.trend import Trend
from lengthwise.records import Claim

ALL_AXES = "all"


@dataclass(frozen=True)
class Control:
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
    trends: tuple[Trend, ...]
    count: int  # monotone
    judged: int  # with levels enough to be called so
    rising: int  # with a correlation above 0
    sign_p: float | None
    control: Control | None
    page: Claim | None

    def claims(self) -> list[Claim]:
        raise NotImplementedError

    def plain(self) -> dict[str, Any]:
        return {**asdict(self), "claims": [claim.plain() for claim in self.claims()]}


def monotone(evidence: Evidence) -> tuple[Monotone, ...]:
    """One result for each metric and for each of: all axes together, every axis apart."""
    raise NotImplementedError
