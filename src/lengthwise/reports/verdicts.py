"""Which tasks of a study hold beyond the training range, and with which encodings.

Both are judged by `lengthwise.probes.curve.standard`, on cells that were learned and measured beyond the training
range; the others say nothing about length.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from lengthwise.reports.content import Content, Row
from lengthwise.reports.words import short, times
from lengthwise.studies.cells import Cell
from lengthwise.studies.learning import Learning, learning

RULE = "a cell is learned when one of its seeds is, and holds when more than half of the seeds that learned do"


@dataclass(frozen=True)
class Verdicts:
    """Which rows of a study hold beyond the training range, with which encodings."""

    content: Content

    @cached_property
    def learning(self) -> Learning:
        """How many cells were learned."""
        return learning(self.content.cells)

    @cached_property
    def judged(self) -> dict[str, dict[str, bool]]:
        """row label → encoding → whether it holds, for cells that were learned and measured beyond the range."""
        table: dict[str, dict[str, bool]] = {}
        for row in self.content.rows:
            for name, cell in self.content.row_cells(row).items():
                if cell.holds is not None:
                    table.setdefault(row.label, {})[name] = cell.holds
        return table

    @cached_property
    def holding(self) -> list[str]:
        return [label for label, found in self.judged.items() if any(found.values())]

    @cached_property
    def not_holding(self) -> list[str]:
        return [label for label, found in self.judged.items() if not any(found.values())]

    @cached_property
    def never_learned(self) -> list[str]:
        """Rows with finished runs of which no cell was learned, though it could have been."""
        return [
            row.label
            for row in self.content.rows
            if (states := {cell.learned for cell in self._done(row).values()}) and states == {False}
        ]

    @cached_property
    def partly_learned(self) -> bool:
        """Whether a row that is judged has cells that were not learned."""
        rows = [row for row in self.content.rows if row.label in self.judged]
        return any(cell.learned is False for row in rows for cell in self._done(row).values())

    @cached_property
    def comparable(self) -> list[Row]:
        """Rows that were learned with at least two encodings."""
        return [row for row in self.content.rows if len(self.judged.get(row.label, {})) > 1]

    @cached_property
    def decided(self) -> list[Row]:
        """Rows that hold with one encoding and not with another."""
        return [row for row in self.comparable if len(set(self.judged[row.label].values())) == 2]

    @property
    def at(self) -> str:
        """Where it is asked whether they hold."""
        asked = {round(cell.multiple, 2) for cell in self.content.cells if cell.holds is not None}
        if not asked:
            return "beyond the training range"
        more = ", or as far as was measured," if len(asked) > 1 else ""
        return f"at {times(max(asked))} the training length{more}"

    def _done(self, row: Row) -> dict[str, Cell]:
        return {name: cell for name, cell in self.content.row_cells(row).items() if cell.done}


def mean_reach(cell: Cell) -> str:
    """The mean reach over the seeds shown, `at least` where one of them holds to the end of the measurement."""
    values = cell.values("reach")
    mean = short(sum(values.values()) / len(values))
    return f"at least {mean}" if cell.censored else mean
