"""Everything that is concluded from a study's ladders."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lengthwise.findings.answer import Answer, answer_from
from lengthwise.findings.bound import bound
from lengthwise.findings.bound_records import BoundFinding
from lengthwise.findings.collapse import Collapse, collapse
from lengthwise.findings.encoding import Encodings, encodings
from lengthwise.findings.evidence import Evidence
from lengthwise.findings.floors import Floors, floors
from lengthwise.findings.in_range import InRange, in_range
from lengthwise.findings.monotone import Monotone, monotone
from lengthwise.findings.thresholds import Thresholds, thresholds
from lengthwise.records import Claim


@dataclass(frozen=True)
class Findings:
    """All parts. `monotone` has a result for each metric and axis; the first is the headline."""

    in_range: InRange
    monotone: tuple[Monotone, ...]
    bound: BoundFinding
    floors: Floors
    collapse: Collapse
    thresholds: Thresholds
    encodings: Encodings
    answer: Answer

    def claims(self) -> list[Claim]:
        """All claims, in the order of the parts."""
        parts = (self.in_range, *self.monotone, self.bound, self.floors, self.collapse, self.thresholds, self.encodings)
        return [claim for part in parts for claim in part.claims()]

    def plain(self) -> dict[str, Any]:
        """All of it as JSON-ready data, the single bounds left out."""
        return {
            "answer": self.answer.plain(),
            "in_range": self.in_range.plain(),
            "monotone": [part.plain() for part in self.monotone],
            "bound": self.bound.plain(),
            "floors": self.floors.plain(),
            "collapse": self.collapse.plain(),
            "thresholds": self.thresholds.plain(),
            "encodings": self.encodings.plain(),
        }


def findings(evidence: Evidence) -> Findings:
    """All findings. The same evidence gives the same findings; nothing here needs torch."""
    rising, bounds, floor, effects = monotone(evidence), bound(evidence), floors(evidence), encodings(evidence)
    return Findings(
        in_range=in_range(evidence),
        monotone=rising,
        bound=bounds,
        floors=floor,
        collapse=collapse(evidence),
        thresholds=thresholds(evidence),
        encodings=effects,
        answer=answer_from(evidence, rising, bounds, floor, effects),
    )
