"""A family of tasks over one of its settings: how its plateaus change with the training length and with the setting."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import cached_property
from typing import Any

from lengthwise.analyses.plateau.levels import PlateauCell
from lengthwise.errors import LengthwiseError, UsageError
from lengthwise.messages import explain
from lengthwise.records import Assumption, Claim, Interval, Reference
from lengthwise.registry import format_spec, parse_spec
from lengthwise.statistics.powers import PowerLaw, power_law
from lengthwise.tasks import tasks

FITTED = Reference("fieller1954")
explain(
    {
        "plateau.falls": "{series}: exponent b of the training length N, plateau ~ N^-b",
        "plateau.rises": "{series}: exponent d of {parameter}, plateau ~ {parameter}^d",
        "lengths.error_exponent": "{series}: needed training length ~ (1/error)^a",
        "lengths.parameter_exponent": "{series}: needed training length ~ {parameter}^c",
        "lengths.needed": "{series}, {parameter} {value:g}: training length at which the {measure} error beyond it "
        "stays below {error:g}",
        "plateau.power_law": (
            "plateaus follow a power law; the residuals are independent between cells and of one size"
        ),
        "plateau.cells_left_out": (
            "{left} of {cells} cells are left out of the fit, because they were not learned in range"
        ),
        "plateau.too_few": "{cells} cells of learned training lengths do not determine the exponents",
        "plateau.flat": "the plateau was not shown to change with the training length, so no length follows from it",
        "lengths.not_reached": "no training length up to {largest} is enough, which is as far as training went",
    }
)


@dataclass(frozen=True, eq=False)
class Series:
    """Cells of one family that differ in one `parameter` and in the training size."""

    family: str
    parameter: str
    fixed: str  # the other settings, as text
    cells: tuple[tuple[float, PlateauCell], ...]  # with the value of the parameter

    @property
    def name(self) -> str:
        return f"{self.family}:{self.fixed}" if self.fixed else self.family

    @property
    def values(self) -> list[float]:
        return sorted({value for value, _ in self.cells})

    @cached_property
    def fitted(self) -> list[tuple[float, PlateauCell]]:
        """The cells that the fit rests on."""
        return [(value, cell) for value, cell in self.cells if cell.learned and cell.plateau > 0]

    @cached_property
    def law(self) -> PowerLaw | None:
        """plateau ~ N^-b v^d over the cells whose training range was learned, each the geometric mean of its seeds."""
        plateaus = [cell.typical for _, cell in self.fitted]
        sizes = [cell.cell.train_size for _, cell in self.fitted]
        varies = len({value for value, _ in self.fitted}) > 1 and all(value > 0 for value, _ in self.fitted)
        try:
            return power_law(plateaus, sizes, *([[value for value, _ in self.fitted]] if varies else []))
        except UsageError:
            return None

    @property
    def has_parameter(self) -> bool:
        return self.law is not None and len(self.law.coefficients) > 2

    def about(self) -> dict[str, Any]:
        named = {"series": self.name, "parameter": self.parameter, "values": self.values}
        sizes = sorted({cell.cell.train_size for _, cell in self.cells})
        seeds = sorted({level.seed for _, cell in self.cells for level in cell.levels})
        return {**named, "train_sizes": sizes, "seeds": seeds, "cells": len(self.fitted)}

    def assumptions(self) -> tuple[Assumption, ...]:
        left = len(self.cells) - len(self.fitted)
        out = Assumption("plateau.cells_left_out", "checked", {"left": left, "cells": len(self.cells)})
        return (Assumption("plateau.power_law"), *((out,) if left else ()))

    def claims(self) -> list[Claim]:
        """Whether the plateau falls with the training length and rises with the parameter, and the exponents of the
        training length that an error needs."""
        law = self.law
        keys = ["plateau.falls", *(["plateau.rises"] if len(self.values) > 1 else [])]
        if law is None:
            few = (Assumption("plateau.too_few", "caveat", {"cells": len(self.fitted)}),)
            return [Claim(key, None, "", "measured", "unknown", None, few, evidence=self.about()) for key in keys]
        fall = law.interval(0)
        falls = Interval(-fall.high, -fall.low, fall.level, fall.method)
        found = [self._signed("plateau.falls", -law.exponent(0), falls)]
        if self.has_parameter:
            found.append(self._signed("plateau.rises", law.exponent(1), law.interval(1)))
        elif len(self.values) > 1:
            few = (Assumption("plateau.too_few", "caveat", {"cells": len(self.fitted)}),)
            found.append(Claim("plateau.rises", None, "", "measured", "unknown", None, few, evidence=self.about()))
        found.append(self._ratio("lengths.error_exponent", None, 1 / -law.exponent(0) if law.exponent(0) else None))
        if self.has_parameter:
            ratio = law.exponent(1) / -law.exponent(0) if law.exponent(0) else None
            found.append(self._ratio("lengths.parameter_exponent", 1, ratio))
        return found

    def _signed(self, key: str, value: float, interval: Interval) -> Claim:
        """An exponent that is said to be above 0: shown, contradicted, or neither."""
        status = "holds" if interval.low > 0 else "refuted" if interval.high < 0 else "unknown"
        return Claim(key, value, "", "measured", status, interval, self.assumptions(), FITTED, self.about())

    def _ratio(self, key: str, above: int | None, value: float | None) -> Claim:
        assert self.law is not None
        turned = self.law.ratio_interval(above, 0)  # over the exponent of N itself, which is -b
        if turned is None or value is None or self.law.exponent(0) > 0:
            flat = (Assumption("plateau.flat", "caveat"),)
            return Claim(key, None, "", "measured", "unknown", None, flat, FITTED, self.about())
        interval = Interval(-turned.high, -turned.low, turned.level, turned.method)
        return Claim(key, value, "", "measured", "holds", interval, self.assumptions(), FITTED, self.about())

    def needed(self, error: float, measure: str) -> list[Claim]:
        """The shortest training length with a plateau below the error, for each value of the parameter. The interval
        runs from the longest length below it that was not enough, as the lengths between were not tried."""
        found = []
        for value in self.values:
            cells = sorted((cell for v, cell in self.cells if v == value), key=lambda cell: cell.cell.train_size)
            found.append(self._needed(value, cells, error, measure))
        return found

    def _needed(self, value: float, cells: Sequence[PlateauCell], error: float, measure: str) -> Claim:
        sizes = [cell.cell.train_size for cell in cells]
        enough = [reached(cell, error) for cell in cells]
        fit = self.law.value(1.0, *([value] if self.has_parameter else [])) if self.law else None
        slope = -self.law.exponent(0) if self.law else 0.0
        by_fit = (fit / error) ** (1 / slope) if fit and slope > 0 else None
        evidence = {**self.about(), "value": value, "error": error, "measure": measure, "by_fit": by_fit}
        evidence |= {"plateaus": [cell.plateau for cell in cells], "train_sizes": sizes}
        if True not in enough:
            why = Assumption("lengths.not_reached", "caveat", {"largest": sizes[-1]})
            return Claim("lengths.needed", None, "size", "measured", "unknown", None, (why,), evidence=evidence)
        place = enough.index(True)
        below = sizes[place - 1] + 1 if place else 1
        interval = Interval(below, sizes[place], 1.0, "between the training lengths tried")
        return Claim("lengths.needed", sizes[place], "size", "measured", "holds", interval, (), evidence=evidence)


def reached(cell: PlateauCell, error: float) -> bool:
    """Whether the plateau of a cell is below an error and was seen to settle; on average over its seeds."""
    return cell.learned and cell.plateau < error and cell.settled


def series_of(cells: Sequence[PlateauCell]) -> list[Series]:
    """The families among these cells, each over every setting that varies while the others stay the same."""
    known = [(cell, *settings_of_task(cell.cell.task)) for cell in cells]
    found = []
    for family in dict.fromkeys(name for _, name, _ in known):
        own = [(cell, settings) for cell, name, settings in known if name == family]
        several, names = _several_designs([cell for cell, _ in own]), _varying([settings for _, settings in own])
        for parameter in names or [next(iter(own[0][1]), "")]:
            groups: dict[str, list[tuple[float, PlateauCell]]] = {}
            for cell, settings in own:
                rest = {name: settings[name] for name in names if name != parameter}
                fixed = format_spec({"name": "", **rest}).lstrip(":") if rest else ""
                fixed = ", ".join(filter(None, (fixed, cell.design))) if several else fixed
                groups.setdefault(fixed, []).append((float(settings.get(parameter, 1.0)), cell))
            varied = {fixed: group for fixed, group in groups.items() if len({value for value, _ in group}) > 1}
            found += [Series(family, parameter, fixed, tuple(g)) for fixed, g in (varied or groups).items()]
    return found


def labels_of(cells: Sequence[PlateauCell]) -> list[str]:
    """What each cell is called: its family and the settings that vary in it, those left at their defaults included; and
    its design, where a task has several."""
    known = [(cell, *settings_of_task(cell.cell.task)) for cell in cells]
    found = []
    for cell, family, settings in known:
        own = [(other, theirs) for other, name, theirs in known if name == family]
        varied = {name: settings[name] for name in _varying([theirs for _, theirs in own]) if name in settings}
        label = format_spec({"name": family, **varied}) if varied else cell.cell.task
        found.append(f"{label}, {cell.design}" if _several_designs([other for other, _ in own]) else label)
    return found


def _several_designs(cells: Sequence[PlateauCell]) -> bool:
    """Whether a task has several encodings or variants at one training length."""
    counts = Counter((cell.cell.task, cell.cell.train_size) for cell in cells)
    return max(counts.values(), default=0) > 1


def _varying(settings: Sequence[Mapping[str, float]]) -> list[str]:
    """The names of the settings that differ between tasks."""
    return [name for name in settings[0] if len({one.get(name) for one in settings}) > 1]


def settings_of_task(text: str) -> tuple[str, dict[str, float]]:
    """The family of a task and its settings that are numbers, those left at their defaults included."""
    name, given = parse_spec(text)
    try:
        task: Any = tasks.restore(text)
    except LengthwiseError:  # a file of the user's that may not run here
        return name, {key: float(value) for key, value in given.items() if _is_number(value)}
    if not is_dataclass(task):
        return name, {}
    values = {field.name: getattr(task, field.name) for field in fields(task)}
    return name, {key: value for key, value in values.items() if isinstance(value, int | float)}


def _is_number(text: Any) -> bool:
    try:
        return math.isfinite(float(text))
    except (TypeError, ValueError):
        return False
