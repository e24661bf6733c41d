"""The table of a study: a row for each task, variant and training size, a column for each encoding.

Only the summaries of the runs are read, not their curves, so a table of thousands of runs is there at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from lengthwise.probes.curve.spread import Keep
from lengthwise.studies.cells import Cell, Measure, cells, named_sizes
from lengthwise.studies.learning import Learning, learning
from lengthwise.studies.record import RunRecord, plain_failure
from lengthwise.studies.store import Store

SHOWN: tuple[Measure, ...] = ("reach", "twice", "thrice")


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
