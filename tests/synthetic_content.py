"""The content of a report on ladders, without a store: a run for every climb, with a curve of the usual shape."""

from __future__ import annotations

from collections.abc import Sequence

from chances import chance_of
from lengthwise.analyses.content import StudyContent
from lengthwise.analyses.evidence import Evidence
from lengthwise.probes.curve.curve import Curve, Point
from lengthwise.studies.record import RunRecord, Summary, named_variants, packed


def ladder_content(evidence: Evidence | None, others: Sequence[str] = ()) -> StudyContent:
    """A study whose runs have these ladders; the tasks named in `others` have a run without one."""
    planned = [] if evidence is None else [(c.task, c.position, c.depth, c.width, c.seed) for c in evidence.climbs]
    planned += [(task, "none", 2, 32, 0) for task in others]
    records = [_record(number, *plan) for number, plan in enumerate(planned)]
    study = {"question": "Does risk rise with the distance from training?", "keep": 0.5}
    return StudyContent("ladders", tuple(named_variants(records)), study=study, evidence=evidence)


def _record(number: int, task: str, position: str, depth: int, width: int, seed: int) -> RunRecord:
    chance = chance_of(task, 3)
    points = tuple(
        Point(size, size, 100, right, 1000, 10 * right, 1.01 - right / 100, *chance)
        for size, right in zip(range(2, 10), (100, 97, 80, 60, 40, 20, 10, 5), strict=True)
    )
    curve = Curve(task, position, 3, seed, points)
    detail = {"losses": [(100, 1.0), (200, 0.1)], "checks": [(100, 0.5), (200, 1.0)]}
    settings = {"depth": depth, "width": width, "heads": 4}
    return RunRecord(
        f"run-{number:04}", task, position, "", seed, 3, 9, 100, settings, "done", 1, "", 20.0, "all steps done",
        Summary.of(curve), detail, stored=packed({"curve": curve.record()}),
    )  # fmt: skip
