"""Layouts of steps, prediction next to measurement: rows from planted chains, and what counts as a contradiction."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from lengthwise.analyses.content import StudyContent
from lengthwise.analyses.formulations import FormulationsAnalysis, LayoutRow, layout_row
from lengthwise.oracle.opinion import Outlook
from lengthwise.records import Record
from lengthwise.studies.cells import Cell


def cell_of(task: str, *seeds: dict[int, int], train_size: int = 4) -> Any:
    """A cell whose runs have these right chains of 10, by size."""
    runs = []
    for right in seeds:
        points = [{"size": size, "right": many, "items": 10} for size, many in right.items()]
        runs.append(SimpleNamespace(records={"recursion": Record("recursion", data={"points": points})}))
    return SimpleNamespace(task=task, position="rope", train_size=train_size, done=tuple(runs))


def analysed(*cells: Any) -> Record:
    return FormulationsAnalysis().analyse(cast(StudyContent, SimpleNamespace(cells=cells, pictures=False)))


def test_a_row_has_the_prediction_and_the_mean_over_all_seeds() -> None:
    cell = cell_of("parity_columns", {4: 10, 8: 10, 16: 3, 40: 8}, {4: 10, 8: 10, 40: 10})
    row = layout_row(cast(Cell, cell))
    assert row is not None and row.shares == pytest.approx({1: 1.0, 2: 1.0, 10: 0.9})
    assert (row.distance, row.windows, row.lines, row.seeds) == ("1", "(1, 3)", 2, 2)
    assert row.consistent and row.outlook == "can hold" and row.outcome == "fell" and not row.contradiction
    other = layout_row(cast(Cell, cell_of("parity_direct", {4: 5, 8: 5})))
    assert other is not None and not other.consistent and other.outcome == "not_learned" and other.windows != "(1, 3)"


def test_numbers_have_a_curve_and_other_tasks_no_row() -> None:
    curve = SimpleNamespace(points=[SimpleNamespace(size=size, exact=share) for size, share in ((4, 1.0), (40, 0.2))])
    runs = (SimpleNamespace(records={}, curve=curve),)
    numbers = SimpleNamespace(task="arctan_count", position="rope", train_size=4, done=runs)
    row = layout_row(cast(Cell, numbers))
    assert row is not None and row.shares == {1: 1.0, 10: 0.2} and row.outcome == "fell" and not row.consistent
    assert layout_row(cast(Cell, SimpleNamespace(**{**vars(numbers), "task": "sort"}))) is None
    assert layout_row(cast(Cell, SimpleNamespace(**{**vars(numbers), "task": "gone_task"}))) is None


def test_only_a_layout_that_cannot_hold_and_held_is_a_contradiction() -> None:
    held, fell = {1: 1.0, 2: 1.0, 10: 0.96}, {1: 1.0, 2: 0.4, 10: 0.0}

    def row(outlook: Outlook, shares: dict[int, float]) -> LayoutRow:
        return LayoutRow("x", 1, "1", "(1, 3)", True, outlook, 1, shares)

    assert row("cannot hold", held).contradiction
    for other in (row("can hold", held), row("can hold", fell), row("cannot hold", fell), row("unknown", held)):
        assert not other.contradiction
    assert row("can hold", {1: 0.9, 2: 0.9}).outcome == "not_learned"
    assert row("can hold", {1: 1.0}).outcome == "not_measured"


def test_the_record_has_a_row_per_layout_and_counts_contradictions(monkeypatch: pytest.MonkeyPatch) -> None:
    cells = [cell_of("parity_columns", {4: 10, 8: 10, 40: 10}), cell_of("parity_appended", {4: 10, 8: 0, 40: 0})]
    record = analysed(*cells)
    rows = record.table("formulations.rows").records()
    assert len({row["outcome"] for row in rows}) == len(rows) == 2 and not any(row["contradiction"] for row in rows)
    assert record.claim("formulations.contradictions").value == 0
    assert len([claim for claim in record.claims if claim.key == "formulations.exact"]) == 6
    monkeypatch.setattr(LayoutRow, "contradiction", property(lambda self: self.task == "parity_columns"))
    again = analysed(*cells)
    assert again.claim("formulations.contradictions").value == 1
    assert [row["contradiction"] for row in again.table("formulations.rows").records()] == [True, False]
    assert not analysed(SimpleNamespace(done=())).tables


@pytest.mark.wording
def test_outcomes_in_words() -> None:
    cells = [cell_of("parity_columns", {4: 10, 8: 10, 40: 10}), cell_of("parity_appended", {4: 10, 8: 0, 40: 0})]
    assert [row["outcome"] for row in analysed(*cells).table("formulations.rows").records()] == ["held", "fell"]
