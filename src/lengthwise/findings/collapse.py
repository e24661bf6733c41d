"""Where different stacks come to share a state: by layer and level."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from lengthwise.findings.evidence import Evidence
from lengthwise.findings.trend import Configuration
from lengthwise.records import Claim


@dataclass(frozen=True)
class Stratum:
    """One layer (0 is the embedding) of a configuration at a level, its seeds averaged. None: not to be seen there."""

    configuration: Configuration
    axis: str
    value: int
    level: str
    layer: int
    shared: float | None
    rank: float
    entropy: float | None

    @property
    def last(self) -> bool:
        return self.layer == self.configuration[2]


@dataclass(frozen=True)
class Collapse:
    """All strata, and what changes from training to the farthest depth."""

    strata: tuple[Stratum, ...]
    changes: tuple[Claim, ...]

    def claims(self) -> list[Claim]:
        return list(self.changes)

    def plain(self) -> dict[str, Any]:
        return {"strata": [asdict(row) for row in self.strata], "claims": [c.plain() for c in self.claims()]}


def collapse(evidence: Evidence) -> Collapse:
    raise NotImplementedError
