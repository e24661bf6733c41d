"""The plateau of a run: its error in the last doubling of sizes that were measured; and the cells of runs that differ
in their seed alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, get_args

from lengthwise.messages import explain
from lengthwise.probes.errors import ERRORS
from lengthwise.records import Claim
from lengthwise.statistics.bootstrap import mean_over_seeds
from lengthwise.studies.cells import Cell
from lengthwise.studies.record import RunRecord

Measure = Literal["average", "worst", "dirichlet"]
MEASURES: tuple[Measure, ...] = get_args(Measure)
SETTLED = 0.25  # the share by which the error may grow in the last doubling

explain(
    {
        "plateau.cell": "plateau of the error: {row}, position {position}, trained to {train_size}",
    }
)


@dataclass(frozen=True)
class RunPlateau:
    """The error of one run: in the upper half of the training range, in the last doubling of sizes beyond it, and in
    the doubling before that, where it was measured."""

    seed: int
    in_range: float
    plateau: float
    before: float | None


def level_of(run: RunRecord, measure: Measure) -> RunPlateau | None:
    """None where the errors of a run, or this measure of them, were not measured beyond the training range."""
    record = run.record("errors")
    if record is None:
        return None
    found = {int(row["size"]): row[measure] for row in record.table(ERRORS).records()}  # pyright: ignore
    last = max(found)
    inside = _mean(found, run.train_size / 2, run.train_size)
    plateau = _mean(found, max(last / 2, run.train_size + 1), last)
    if inside is None or plateau is None:
        return None
    return RunPlateau(run.seed, inside, plateau, _mean(found, max(last / 4, run.train_size + 1), last / 2 - 1))


def _mean(found: dict[int, Any], low: float, high: float) -> float | None:
    values = [value for size, value in found.items() if low <= size <= high]
    return sum(values) / len(values) if values and all(value is not None for value in values) else None


@dataclass(frozen=True)
class PlateauCell:
    """The plateaus of one task, encoding and training size; `levels` are those of the seeds shown."""

    cell: Cell
    measure: Measure
    levels: tuple[RunPlateau, ...]

    @property
    def design(self) -> str:
        """The encoding, and the settings of the model in which the cell differs from others."""
        return ", ".join(part for part in (self.cell.position, self.cell.variant) if part)

    @property
    def learned(self) -> bool:
        return self.cell.learned is not False

    @cached_property
    def claim(self) -> Claim:
        """The mean plateau over seeds."""
        shown = {level.seed for level in self.levels}
        others = [run for run in self.cell.done if run.seed not in shown]
        left = {run.seed: level.plateau for run in others if (level := level_of(run, self.measure))}
        about = {"row": self.cell.row, "position": self.cell.position, "train_size": self.cell.train_size}
        values = {level.seed: level.plateau for level in self.levels}
        rule = str(self.cell.rule)
        about |= {"learned": self.learned, "in_range": self.in_range, "drift": self.drift, "measure": self.measure}
        return mean_over_seeds("plateau.cell", values, about=about, discarded=left, rule=rule, unit="")

    @property
    def plateau(self) -> float:
        return sum(level.plateau for level in self.levels) / len(self.levels)

    @property
    def typical(self) -> float:
        """The geometric mean of the plateaus of the seeds, which a power law is fitted to."""
        logs = [math.log(max(level.plateau, 1e-12)) for level in self.levels]
        return math.exp(sum(logs) / len(logs))

    @property
    def in_range(self) -> float:
        return sum(level.in_range for level in self.levels) / len(self.levels)

    @property
    def drift(self) -> float | None:
        """The share by which the error grew in the last doubling of sizes."""
        before = [level.before for level in self.levels if level.before]
        return self.plateau / (sum(before) / len(before)) - 1 if len(before) == len(self.levels) else None

    @property
    def settled(self) -> bool:
        return self.drift is not None and self.drift <= SETTLED


def plateau_cells(cells: Sequence[Cell], measure: Measure) -> list[PlateauCell]:
    """The plateaus of the cells whose runs measured errors."""
    found = []
    for cell in cells:
        levels = tuple(level for run in cell.shown if (level := level_of(run, measure)))
        if levels:
            found.append(PlateauCell(cell, measure, levels))
    return found
