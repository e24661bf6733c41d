"""What a ladder of shifts shows: from the points of many models and the distances of the levels to claims."""

from __future__ import annotations

from dataclasses import dataclass

from lengthwise.analyses.analysis import Analysis, analyses
from lengthwise.analyses.content import StudyContent
from lengthwise.analyses.ladder import collapse, encoding, floors_record, levels, risk, thresholds, traces
from lengthwise.analyses.ladder.bound import bound
from lengthwise.analyses.ladder.bound_record import bound_record
from lengthwise.records import Record

__all__ = ["collapse", "encoding", "floors_record", "levels", "risk", "thresholds", "traces"]


@analyses.register("bound")
@dataclass(frozen=True)
class BoundAnalysis(Analysis):
    """Whether the measured risk is below what Kantorovich's inequality allows."""

    def analyse(self, study: StudyContent) -> Record:
        assert study.evidence is not None
        return bound_record(bound(study.evidence), study.pictures)

    def applies(self, study: StudyContent) -> bool:
        return study.evidence is not None and bool(bound(study.evidence).points)
