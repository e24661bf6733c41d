"""The contract of analyses: one question about a whole study, answered by one record from what is stored."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from lengthwise.errors import LengthwiseError
from lengthwise.messages import explain, sentence
from lengthwise.records import Record
from lengthwise.registry import Registry, format_spec

if TYPE_CHECKING:
    from lengthwise.analyses.content import StudyContent

explain(
    {
        "analysis.broke": "the analysis {name} failed ({error})",
        "analysis.no_record": "the analysis {name} returned {what}; it must return a Record",
    }
)


class Analysis(ABC):
    """A question about a study. A concrete analysis is a frozen dataclass of settings, registered under a name:

        @analyses.register("seeds")
        @dataclass(frozen=True)
        class SeedsAnalysis(Analysis):
            def analyse(self, study: StudyContent) -> Record: ...

    It reads what the study stored and measures nothing; equal content gives an equal record. It needs no torch. Where
    `study.pictures` is False nobody will see figures, and it may leave them out. One that is `slow` takes seconds, and
    a terminal shows it only if the study names it.
    """

    slow: ClassVar[bool] = False

    @abstractmethod
    def analyse(self, study: StudyContent) -> Record:
        """The answer, as plain data."""

    def applies(self, study: StudyContent) -> bool:  # noqa: ARG002
        """Whether the study has what this looks at. Only a study that names no analyses is asked."""
        return True


analyses: Registry[Analysis] = Registry(
    "analysis", "lengthwise.analyses", "lengthwise.analyses", deep=False, base=Analysis
)


# A page shows the first few sections, and keeps the others behind "more".
_LADDER = ("risk", "encodings", "levels", "traces", "floors", "collapse", "bound", "constants", "thresholds")
_BEFORE, _AFTER = ("reach", "curves"), ("guarantee", "agreement", "published")
_LAST = ("seeds", "training", "comparisons")


def analyses_of(study: StudyContent) -> list[Analysis]:
    """The analyses that a study names; where it names none, those that apply to what it has. The first one answers the
    question of the study: the ladders if all its tasks have one, else how far its models reach."""
    if study.analyses:
        return [analyses.restore(spec) for spec in study.analyses]
    probes = tuple({"name": "probe", "probe": name} for name in study.shown_probes)
    order: Iterable[str | Mapping[str, Any]] = (*_BEFORE, *probes, *_AFTER, *_LADDER, *_LAST)
    if study.ladders_lead:
        order = (*_LADDER, *_BEFORE, *probes, *_AFTER, *_LAST)
    return [analysis for spec in order if (analysis := analyses.restore(spec)).applies(study)]


def analyse(study: StudyContent, chosen: Iterable[Analysis] | None = None) -> list[Record]:
    """The records of a study's analyses, or of those chosen, in order. An analysis that breaks leaves a record that
    says so: a report must not be lost because of one of its parts."""
    records = []
    for analysis in analyses_of(study) if chosen is None else chosen:
        name = format_spec(analyses.spec_of(analysis) or {"name": type(analysis).__name__})
        try:
            records.append(_record(analysis, name, study))
        except LengthwiseError:
            raise
        except Exception as error:
            said = " ".join(f"{type(error).__name__}: {error}".split())
            failed = sentence("analysis.broke", {"name": name, "error": said})
            records.append(Record(name, title=name, failed=failed))
    return _told_apart(records)


def _record(analysis: Analysis, name: str, study: StudyContent) -> Record:
    """What an analysis returns, with its settings; a record that says so where that is something else."""
    found: Any = analysis.analyse(study)
    if not isinstance(found, Record):
        what = type(found).__name__
        return Record(name, title=name, failed=sentence("analysis.no_record", {"name": name, "what": what}))
    own = dataclasses.fields(analysis) if dataclasses.is_dataclass(analysis) else ()
    return dataclasses.replace(found, settings={one.name: getattr(analysis, one.name) for one in own})


def _told_apart(records: list[Record]) -> list[Record]:
    """The records with different names, as one analysis may be asked twice with different settings."""
    taken: dict[str, int] = {}
    found = []
    for record in records:
        taken[record.source] = taken.get(record.source, 0) + 1
        number = taken[record.source]
        found.append(record if number == 1 else dataclasses.replace(record, source=f"{record.source}-{number}"))
    return found
