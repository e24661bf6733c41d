"""Where the test loss settles beyond the training size, cell by cell, for studies that ask for it."""

from __future__ import annotations

from dataclasses import dataclass

from lengthwise.analysis.plateau import plateau
from lengthwise.errors import UsageError
from lengthwise.records import Assumption, Claim
from lengthwise.reports.content import Content
from lengthwise.studies.cells import Cell

MOST_FITS = 120
UNIT = "nats a token"


@dataclass(frozen=True)
class Plateau:
    """The fit of one cell."""

    cell: Cell
    claim: Claim


def fit_plateaus(content: Content) -> list[Plateau]:
    """A fit for each cell with a finished run, the first few of them; nothing if the study does not ask for it."""
    if not content.study.get("plateau"):
        return []
    return [Plateau(cell, _claim(cell)) for cell in [cell for cell in content.cells if cell.done][:MOST_FITS]]


def _claim(cell: Cell) -> Claim:
    name = f"plateau of the test loss: {cell.row}, encoding {cell.position}, trained to {cell.train_size}"
    shown = [run.seed for run in cell.shown]
    others = [run.seed for run in cell.done if run.seed not in shown]
    sizes, losses = mean_losses(cell)
    try:
        return plateau(
            sizes, losses, cell.train_size, name=name, unit=UNIT, seeds=shown, discarded=others, rule=str(cell.rule)
        )
    except UsageError as error:  # losses that no plateau is made of, such as negative ones of a user's task
        reason = (Assumption(str(error), "violated"),)
        return Claim(name, None, UNIT, "heuristic", "unknown", assumptions=reason, evidence={"seeds": shown})


def mean_losses(cell: Cell) -> tuple[list[int], list[float]]:
    """The mean test loss over the seeds shown, at every size that all of them measured."""
    curves = [dict(zip(run.detail["curve"]["size"], run.detail["curve"]["loss"], strict=True)) for run in cell.shown]
    sizes = [size for size in curves[0] if all(size in curve for curve in curves)]
    return sizes, [sum(curve[size] for curve in curves) / len(curves) for size in sizes]
