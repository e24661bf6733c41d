"""Where the test loss settles beyond the training size, cell by cell, for studies that ask for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lengthwise.errors import UsageError
from lengthwise.records import Assumption, Claim
from lengthwise.reports.content import Content
from lengthwise.statistics.plateau import plateau
from lengthwise.studies.cells import Cell

MOST_FITS = 120
UNITS = {"numbers": "mean squared error"}
USUAL_UNIT = "nats a token"


@dataclass(frozen=True)
class Plateau:
    """The fit of one cell."""

    cell: Cell
    claim: Claim

    @property
    def unit(self) -> str:
        return self.claim.unit


def fit_plateaus(content: Content) -> list[Plateau]:
    """A fit for each cell with a finished run, the first few of them; nothing if the study does not ask for it."""
    if not content.study.get("plateau"):
        return []
    done = [cell for cell in content.cells if cell.done][:MOST_FITS]
    return [Plateau(cell, _claim(cell, _unit(content, cell))) for cell in done]


def falling(fits: Sequence[Plateau]) -> Claim:
    """How many settings have a lower plateau at their longest training length than at their shortest, of those with a
    plateau at two lengths or more."""
    found: dict[tuple[str, str, str], dict[int, float]] = {}
    for fit in fits:
        if isinstance(fit.claim.value, int | float):
            setting = (fit.cell.task, fit.cell.variant, fit.cell.position)
            found.setdefault(setting, {})[fit.cell.train_size] = float(fit.claim.value)
    several = [levels for levels in found.values() if len(levels) > 1]
    lower = sum(levels[max(levels)] < levels[min(levels)] for levels in several)
    return Claim(
        key="plateau of the test loss that is lower after training to greater sizes",
        value=lower if several else None,
        unit=f"of {len(several)} settings with a plateau at two training lengths or more",
        kind="heuristic",
        status="holds" if several else "unknown",
        assumptions=(Assumption("the fitted plateaus are where the loss settles"),),
        evidence={"cells": len(fits), "with a plateau": sum(len(levels) for levels in found.values())},
    )


def _unit(content: Content, cell: Cell) -> str:
    return UNITS.get(str(content.facts(cell.task).get("readout")), USUAL_UNIT)


def _claim(cell: Cell, unit: str) -> Claim:
    name = f"plateau of the test loss: {cell.row}, encoding {cell.position}, trained to {cell.train_size}"
    shown = [run.seed for run in cell.shown]
    others = [run.seed for run in cell.done if run.seed not in shown]
    sizes, losses = mean_losses(cell)
    try:
        return plateau(
            sizes, losses, cell.train_size, key=name, unit=unit, seeds=shown, discarded=others, rule=str(cell.rule)
        )
    except UsageError as error:  # losses that no plateau is made of, such as negative ones of a user's task
        reason = (Assumption(str(error), "violated"),)
        return Claim(name, None, unit, "heuristic", "unknown", assumptions=reason, evidence={"seeds": shown})


def mean_losses(cell: Cell) -> tuple[list[int], list[float]]:
    """The mean test loss over the seeds shown, at every size that all of them measured."""
    curves = [dict(zip(run.detail["curve"]["size"], run.detail["curve"]["loss"], strict=True)) for run in cell.shown]
    sizes = [size for size in curves[0] if all(size in curve for curve in curves)]
    return sizes, [sum(curve[size] for curve in curves) / len(curves) for size in sizes]
