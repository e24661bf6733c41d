"""Everything that is concluded from a study's ladders."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lengthwise.findings.answer import Answer
from lengthwise.findings.bound import BoundFinding
from lengthwise.findings.collapse import Collapse
from lengthwise.findings.encoding import Encodings
from lengthwise.findings.evidence import Evidence
from lengthwise.findings.floors import Floors
from lengthwise.findings.monotone import Monotone
from lengthwise.findings.thresholds import Thresholds
from lengthwise.records import Claim


@dataclass(frozen=True)
class Findings:
    monotone: tuple[Monotone, ...]  # a metric and an axis each; the first is the headline
    bound: BoundFinding
    floors: Floors
    collapse: Collapse
    thresholds: Thresholds
    encodings: Encodings
    answer: Answer

    def claims(self) -> list[Claim]:
        """All claims, in the order of the parts."""
        parts = (*self.monotone, self.bound, self.floors, self.collapse, self.thresholds, self.encodings)
        return [claim for part in parts for claim in part.claims()]

    def plain(self) -> dict[str, Any]:
        raise NotImplementedError


def findings(evidence: Evidence) -> Findings:
    """All findings. Deterministic; no torch."""
    raise NotImplementedError
