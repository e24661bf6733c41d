"""How many layers a depth of search takes: what the oracle says beside what was measured."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from lengthwise.findings.evidence import Evidence
from lengthwise.records import Claim

Verdict = Literal["agrees", "contradicted", "says nothing"]


@dataclass(frozen=True)
class Prediction:
    """A threshold of the oracle, and what the measurement says of it."""

    claim: Claim  # of oracle.depth
    verdict: Verdict
    because: str  # a sentence


@dataclass(frozen=True)
class Threshold:
    """One task and encoding at one depth level. `layers` are the depths that were tried; `accurate` and `solving` are
    the smallest that reach the bar with their best width (token accuracy, share of problems solved), None if none."""

    task: str
    position: str
    level: str
    value: int
    nesting: int
    layers: tuple[int, ...]
    accurate: int | None
    solving: int | None
    best_token: tuple[float, ...]  # by layers
    best_solved: tuple[float, ...]
    predictions: tuple[Prediction, ...]


@dataclass(frozen=True)
class Thresholds:
    rows: tuple[Threshold, ...]

    def claims(self) -> list[Claim]:
        raise NotImplementedError

    def plain(self) -> dict[str, Any]:
        return {"rows": [asdict(row) for row in self.rows], "claims": [c.plain() for c in self.claims()]}


def thresholds(evidence: Evidence) -> Thresholds:
    raise NotImplementedError
