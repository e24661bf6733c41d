"""Layouts of reasoning steps: what the theory predicts next to how many whole chains were right at 1, 2 and 10 times.

A prediction is R (how far apart the columns of one step lie), the windows (n, r) that settle a step, and the verdict.
Only a layout that "cannot hold" and held contradicts it: windows that settle every step say that a right model exists,
and whether training finds it is what is measured.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lengthwise.analyses.analysis import Analysis, analyses
from lengthwise.analyses.content import StudyContent
from lengthwise.analyses.layout import PageLayout, arranged
from lengthwise.analyses.words import code, counted
from lengthwise.errors import UsageError
from lengthwise.messages import explain, sentence
from lengthwise.oracle.check import check
from lengthwise.oracle.locality.layout import layout_of
from lengthwise.oracle.opinion import Outlook, outlook_words, planned_items
from lengthwise.probes.curve.standard import THRESHOLD
from lengthwise.records import Cell as TableCell
from lengthwise.records import Claim, Record, Reference, Table, columns
from lengthwise.studies.cells import Cell
from lengthwise.tasks import tasks
from lengthwise.tasks.formulations.formulation import Formulation

TIMES = (1, 2, 10)  # the training size
PUBLISHED = Reference("xiao2024", "experiments: 100 % for consistent schemes (secondary source)")
_COLUMNS = columns(
    "task:text formulation | distance:text R | windows:text (n, r) | verdict:text | once:share 1x | twice:share 2x | "
    "tenfold:share 10x | outcome:text | contradiction:truth wrong | lines:whole | seeds:whole"
)
explain(
    {
        "formulations.title": "Layouts of reasoning steps: prediction and measurement",
        "formulations.link": "Layouts of steps",
        "formulations.none": "No run has a record of whole chains (the probe recursion), so nothing can be compared.",
        "formulations.table": "Predicted R and windows, and the mean share of whole chains that are right",
        "formulations.note": (
            "R: the largest distance between two columns that enter one step. (n, r): n windows of r columns "
            "settle every step, as far as examined; none: no number of windows does. Means over all seeds; 1x "
            "is the training size. Published: 100 % for consistent schemes (secondary source); lengths and "
            "other figures are not known. Wrong: theory says that the layout cannot hold, but it held."
        ),
        "formulations.answer": "{consistent} of {cells} layouts have windows that settle every step; of these, "
        "{learned} were learned at the training size and {held} held at {far} times it. Of the other {others}, "
        "{other_held} held.",
        "formulations.agree": "No outcome contradicts a verdict.",
        "formulations.contradicted": "CONTRADICTION: by theory {named} cannot hold, but held.",
        "formulations.infinite": "grows",
        "formulations.unknown": "unknown",
        "formulations.no_windows": "none",
        "formulations.held": "held",
        "formulations.fell": "fell",
        "formulations.not_learned": "not learned",
        "formulations.not_measured": "not measured",
        "formulations.numbers": "–",
        "formulations.exact": "share of whole chains that are right: {task}, at {times} times the training size",
        "formulations.contradictions": "layouts that held although theory says that they cannot",
    }
)


@dataclass(frozen=True)
class LayoutRow:
    """One formulation: what is predicted, and the mean share of right chains by multiple of the training size."""

    task: str
    lines: int | None
    distance: str
    windows: str
    consistent: bool
    outlook: Outlook
    seeds: int
    shares: Mapping[int, float]

    @property
    def outcome(self) -> str:
        """Learned and held at every multiple measured, fell, or not learned: the mean over seeds is 95 % or more."""
        if 1 not in self.shares or len(self.shares) < 2:
            return "not_measured"
        if self.shares[1] < THRESHOLD:
            return "not_learned"
        return "held" if min(self.shares.values()) >= THRESHOLD else "fell"

    @property
    def contradiction(self) -> bool:
        return self.outlook == "cannot hold" and self.outcome == "held"

    def cells(self) -> tuple[TableCell, ...]:
        shares = tuple(self.shares.get(times) for times in TIMES)
        said = outlook_words(self.outlook), sentence(f"formulations.{self.outcome}")
        place = (self.task, self.distance, self.windows)
        return (*place, said[0], *shares, said[1], self.contradiction, self.lines, self.seeds)


@analyses.register("formulations")
@dataclass(frozen=True)
class FormulationsAnalysis(Analysis):
    """Predicted R and windows of each layout of steps, next to the accuracy of whole chains."""

    slow = True

    def applies(self, study: StudyContent) -> bool:
        return any("recursion" in run.records for cell in study.cells for run in cell.done)

    def analyse(self, study: StudyContent) -> Record:
        rows = [row for cell in study.cells if cell.done and (row := layout_row(cell)) is not None]
        if not rows:
            return arranged("formulations", PageLayout(), (sentence("formulations.none"),))
        wrong = [row.task for row in rows if row.contradiction]
        table = Table(
            "formulations.rows",
            _COLUMNS,
            tuple(row.cells() for row in rows),
            sentence("formulations.table"),
            sentence("formulations.note"),
        )
        verdict = sentence("formulations.agree")
        if wrong:
            verdict = sentence("formulations.contradicted", {"named": ", ".join(map(code, wrong))})
        count = Claim("formulations.contradictions", len(wrong), "", "measured", evidence={"tasks": wrong})
        claims = (count, *(claim for row in rows for claim in _claims(row)))
        return arranged("formulations", PageLayout(claims=1), (_answer(rows), verdict), claims, (table,))


def _answer(rows: Sequence[LayoutRow]) -> str:
    consistent = [row for row in rows if row.consistent]
    others = [row for row in rows if not row.consistent]
    values = {
        "consistent": len(consistent),
        "cells": len(rows),
        "learned": sum(row.outcome in ("held", "fell") for row in consistent),
        "held": sum(row.outcome == "held" for row in consistent),
        "far": TIMES[-1],
        "others": len(others),
        "other_held": counted(sum(row.outcome == "held" for row in others), "layout"),
    }
    return sentence("formulations.answer", values)


def _claims(row: LayoutRow) -> list[Claim]:
    found = []
    for times, share in row.shares.items():
        about: dict[str, Any] = {"task": row.task, "times": times, "seeds": row.seeds, "windows": row.windows}
        reference = PUBLISHED if row.consistent else None
        found.append(Claim("formulations.exact", share, "share", "measured", reference=reference, evidence=about))
    return found


def layout_row(cell: Cell) -> LayoutRow | None:
    """The row of a cell: of a layout of steps from its whole chains, of a task of numbers from its curve; None for
    other tasks, and where the task cannot be made any more."""
    try:
        task = tasks.restore(cell.task)
    except (UsageError, KeyError, TypeError, ValueError):
        return None
    shares = _shares(cell)
    if not isinstance(task, Formulation):
        if task.readout != "numbers":
            return None
        none, unknown = sentence("formulations.no_windows"), "unknown"
        return LayoutRow(
            cell.task, None, sentence("formulations.numbers"), none, False, unknown, len(cell.done), shares
        )
    test_size = TIMES[-1] * cell.train_size
    card = check(task, [cell.position], train_size=cell.train_size, test_size=test_size, quick=True)
    layout = layout_of(task, cell.train_size, test_size, planned_items(task), 0, True)
    lines = len(task.symbols[0].split("|"))
    outlook = card.verdicts[cell.position].outlook
    if layout is None:
        unknown = sentence("formulations.unknown")
        return LayoutRow(cell.task, lines, unknown, unknown, False, outlook, len(cell.done), shares)
    found, window = layout.locality, layout.locality.window
    distance = {"infinite": sentence("formulations.infinite"), "finite": str(found.distance.value)}
    refuted = sentence("formulations.no_windows" if found.verdict == "REFUTED" else "formulations.unknown")
    windows = f"({window[0]}, {window[1]})" if window else refuted
    spread = distance.get(found.distance.growth, sentence("formulations.unknown"))
    return LayoutRow(cell.task, lines, spread, windows, window is not None, outlook, len(cell.done), shares)


def _shares(cell: Cell) -> dict[int, float]:
    """The mean over all seeds of right chains, or of right answers where a run has no chains, at each multiple."""
    found: dict[int, list[float]] = {}
    for run in cell.done:
        if "recursion" in run.records:
            points = {
                point["size"]: point["right"] / point["items"] for point in run.records["recursion"].data["points"]
            }
        else:
            points = {point.size: point.exact for point in run.curve.points}
        for times in TIMES:
            if (share := points.get(times * cell.train_size)) is not None:
                found.setdefault(times, []).append(share)
    return {times: sum(shares) / len(shares) for times, shares in found.items()}
