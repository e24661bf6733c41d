"""The table of a study: a row for each task, variant and training size, a column for each encoding; and how much of it
was learned, which must be said before anything is said about longer inputs.

Only the summaries of the runs are read, not their curves, so a table of thousands of runs is there at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from lengthwise.probes.curve.spread import Keep
from lengthwise.probes.curve.standard import ADVICE, THRESHOLD
from lengthwise.studies.cells import Cell, Measure, cells, named_sizes
from lengthwise.studies.record import RunRecord, plain_failure
from lengthwise.studies.store import Store

SHOWN: tuple[Measure, ...] = ("reach", "twice", "thrice")


@dataclass(frozen=True)
class Learning:
    """The cells with a finished run: learned, not learned, and those of tasks whose answers are drawn at random."""

    learned: tuple[Cell, ...]
    not_learned: tuple[Cell, ...]
    drawn: tuple[Cell, ...]

    @property
    def judged(self) -> int:
        """How many cells were learned or not."""
        return len(self.learned) + len(self.not_learned)

    @property
    def little(self) -> bool:
        """Whether fewer than half of the cells were learned, which is then the first thing to say."""
        return 2 * len(self.learned) < self.judged

    @property
    def sentence(self) -> str:
        """How many cells were learned, what the others mean, and what to do; empty where all were learned."""
        learned, judged = len(self.learned), self.judged
        if learned == judged:
            return ""
        cells = f"{judged} {'cell' if judged == 1 else 'cells'} (a task with an encoding)"
        if learned:
            start = f"{'Only ' if self.little else ''}{learned} of {cells} {'was' if learned == 1 else 'were'} learned"
        else:
            start = f"None of {cells} was learned" if judged > 1 else f"The only {cells[2:]} was not learned"
        others = "in the others " if learned else ""
        return (
            f"{start}: {others}exact match falls below {THRESHOLD:.0%} inside the training range, which says nothing "
            f"about longer inputs. To learn more, {ADVICE}."
        ).replace("%", " %")

    @property
    def about_drawn(self) -> str:
        """What exact match says of tasks whose answers are drawn at random; empty where there are none."""
        tasks = list(dict.fromkeys(cell.task for cell in self.drawn))
        if not tasks:
            return ""
        verb = "draws its" if len(tasks) == 1 else "draw their"
        return (
            f"{' and '.join(tasks)} {verb} answers at random, so that no model has them all right: exact match and "
            "reach are not meaningful there; the loss is."
        )

    def plain(self) -> dict[str, Any]:
        return {
            "learned": len(self.learned),
            "not_learned": len(self.not_learned),
            "answers_drawn": len(self.drawn),
            "little": self.little,
        }


def learning(cells: Iterable[Cell]) -> Learning:
    """What was learned of these cells; those without a finished run are left out."""
    done = [cell for cell in cells if cell.done]
    return Learning(
        learned=tuple(cell for cell in done if cell.learned),
        not_learned=tuple(cell for cell in done if cell.learned is False),
        drawn=tuple(cell for cell in done if not cell.certain),
    )


@dataclass(frozen=True)
class StudyTable:
    """What a study came to, as far as its runs are done."""

    name: str
    question: str
    rule: Keep
    counts: Mapping[str, int]
    cells: tuple[Cell, ...]

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The encodings, in the order of the grid."""
        return tuple(dict.fromkeys(cell.position for cell in self.cells))

    @cached_property
    def train_sizes(self) -> tuple[int, ...]:
        return tuple(dict.fromkeys(cell.train_size for cell in self.cells))

    @cached_property
    def rows(self) -> dict[str, dict[str, Cell]]:
        """For every row its cells by encoding; the training size is named where it is not the usual one."""
        named = named_sizes(self.cells)
        rows: dict[str, dict[str, Cell]] = {}
        for cell in self.cells:
            label = f"{cell.row}, to {cell.train_size}" if (cell.task, cell.train_size) in named else cell.row
            rows.setdefault(label, {})[cell.position] = cell
        return rows

    @property
    def failed(self) -> tuple[RunRecord, ...]:
        return tuple(run for cell in self.cells for run in cell.failed)

    @property
    def discarded(self) -> int:
        """How many finished runs the rule discards."""
        return sum(len(cell.done) - len(cell.kept) for cell in self.cells)

    @cached_property
    def learning(self) -> Learning:
        """How many cells were learned."""
        return learning(self.cells)

    def plain(self, measures: Sequence[Measure] = SHOWN) -> dict[str, Any]:
        """The table as JSON-ready data: every cell with its claims and the fate of its seeds, then the failed runs."""
        return {
            "name": self.name,
            "question": self.question,
            "rule": str(self.rule),
            "counts": dict(self.counts),
            "discarded": self.discarded,
            "learning": self.learning.plain(),
            "cells": [_plain_cell(cell, measures) for cell in self.cells],
            "failed": [plain_failure(run) for run in self.failed],
        }


def read_table(store: Store) -> StudyTable:
    """The table of the study in a store."""
    study = store.fact("study") or {}
    rule = Keep(study.get("keep") or 0.0)
    found = cells(store.runs(detail=False), rule)
    name = study.get("name") or store.folder.absolute().name
    return StudyTable(name, study.get("question") or "", rule, store.counts(), tuple(found))


def _plain_cell(cell: Cell, measures: Sequence[Measure]) -> dict[str, Any]:
    kept = {run.key for run in cell.kept}
    return {
        "task": cell.task,
        "position": cell.position,
        "variant": cell.variant,
        "train_size": cell.train_size,
        "test_size": cell.test_size,
        "learned": cell.learned,
        "holds": cell.holds,
        "multiple": cell.multiple,
        "censored": cell.censored,
        "seeds": {
            "total": len(cell.runs),
            "learned": [run.seed for run in cell.done if run.summary and run.summary.learned],
            "kept": [run.seed for run in cell.kept],
            "discarded": [run.seed for run in cell.done if run.key not in kept],
            "failed": [run.seed for run in cell.failed],
            "unfinished": [run.seed for run in cell.runs if run.state in ("waiting", "running")],
        },
        "claims": {measure: cell.claim(measure).plain() for measure in measures} if cell.done else {},
    }
