"""Which tasks of a study hold beyond the training range, and with which encodings.

A run holds at k times the training length when its reach is at least that, or when it holds to the largest size the
task has up to there. A cell holds when more than half of the seeds shown do, and at least one seed is kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from lengthwise.reports.content import Content, Row
from lengthwise.reports.words import short, times
from lengthwise.studies.cells import Cell
from lengthwise.studies.record import RunRecord

MOST_TIMES = 3.0
RULE = "a cell holds when more than half of its seeds do, and at least one seed is kept"


@dataclass(frozen=True)
class Verdicts:
    """Which rows of a study hold at a multiple of the training length, with which encodings."""

    content: Content

    @cached_property
    def multiple(self) -> float:
        """The multiple asked about: as far as every cell was measured, three at most."""
        measured = (cell.test_size / cell.train_size for cell in self.content.cells if cell.done)
        return round(min([MOST_TIMES, *measured]), 2)

    @cached_property
    def judged(self) -> dict[str, dict[str, bool]]:
        """row label → encoding → whether it holds, for cells with a finished run."""
        table = {}
        for row in self.content.rows:
            found = self.content.row_cells(row)
            table[row.label] = {name: self.holds(cell) for name, cell in found.items() if cell.done}
        return {label: found for label, found in table.items() if found}

    def holds(self, cell: Cell) -> bool:
        """Whether more than half of the seeds shown hold at the multiple, of a cell that was learned."""
        held = sum(holds_at(run, self.multiple) for run in cell.shown)
        return cell.learned and 2 * held > len(cell.shown)

    @cached_property
    def holding(self) -> list[str]:
        return [label for label, found in self.judged.items() if any(found.values())]

    @cached_property
    def not_holding(self) -> list[str]:
        return [label for label, found in self.judged.items() if not any(found.values())]

    @cached_property
    def never_learned(self) -> list[str]:
        """Rows of which no cell has a seed that was kept."""
        rows = [row for row in self.content.rows if row.label in self.judged]
        return [row.label for row in rows if not any(c.learned for c in self.content.row_cells(row).values())]

    @cached_property
    def comparable(self) -> list[Row]:
        """Rows with finished runs of at least two encodings."""
        return [row for row in self.content.rows if len(self.judged.get(row.label, {})) > 1]

    @cached_property
    def decided(self) -> list[Row]:
        """Rows that hold with one encoding and not with another."""
        return [row for row in self.comparable if len(set(self.judged[row.label].values())) == 2]

    @property
    def at(self) -> str:
        return f"at {times(self.multiple)} the training length" if self.multiple > 1 else "in the training range"


def holds_at(run: RunRecord, multiple: float) -> bool:
    """Whether one finished run holds at a multiple of its training length."""
    summary = run.summary
    assert summary is not None
    wanted = multiple * run.train_size
    return summary.reach >= wanted or (summary.censored and run.test_size >= wanted)


def mean_reach(cell: Cell) -> str:
    """The mean reach over the seeds shown, `at least` where one of them holds to the end of the measurement."""
    values = cell.values("reach")
    mean = short(sum(values.values()) / len(values))
    return f"at least {mean}" if cell.censored else mean
