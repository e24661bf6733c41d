"""Where the test loss settles beyond the training size, cell by cell, for studies that ask for it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from lengthwise.analyses.analysis import Analysis, analyses
from lengthwise.analyses.content import StudyContent
from lengthwise.analyses.layout import PageLayout, arranged
from lengthwise.analyses.reach.answer import learning_sentences
from lengthwise.analyses.words import counted
from lengthwise.errors import UsageError
from lengthwise.figures.style import alt, ends_of, hover, template_of, title_lines, wrapping_legend
from lengthwise.messages import explain, sentence
from lengthwise.records import Assumption, Claim, Figure, Record
from lengthwise.statistics.plateau import plateau
from lengthwise.studies.cells import Cell

MOST_FITS = 120
UNITS = {"numbers": "mean squared error"}
USUAL_UNIT = "nats per token"

explain(
    {
        "plateau.title": "Plateaus of the test loss",
        "plateau.link": "Plateaus",
        "plateau.note": "The loss at which test sizes beyond training settle, against the training length, with 95 % "
        "intervals of the fit (heuristic). The claims say why no plateau was found in some cells.",
        "plateau.first_fitted": "Of {done:,} cells the first {most} were fitted.",
        "plateau.found": "A plateau of the test loss was found in {found} of {cells}; after training to greater sizes "
        "it is lower for {lower} {unit}.",
        "plateau.found_once": "A plateau of the test loss was found in {found} of {cells}, and for no setting at two "
        "training lengths, which would show whether it falls.",
        "plateau.cell": "plateau of the test loss: {row}, encoding {position}, trained to {train_size}",
        "plateau.falling": "plateau of the test loss that is lower after training to greater sizes",
        "plateau.fitted": "the fitted plateaus are where the loss settles",
        "plateau.refused": "{why}",
        "plateau.panel": "{family}, encoding {position}",
        "plateau.words": "Fitted plateau of the test loss against the training length for {title}, one line per "
        "setting.",
        "plateau.axis": "plateau of the test loss ({unit})",
    }
)


@analyses.register("plateau")
@dataclass(frozen=True)
class PlateauAnalysis(Analysis):
    """Where the test loss settles, and whether it is lower after training to greater sizes. The first `most` cells are
    fitted."""

    most: int = MOST_FITS

    def analyse(self, study: StudyContent) -> Record:
        fits = fit_plateaus(study, self.most)
        fall = falling(fits)
        done = sum(bool(cell.done) for cell in study.cells)
        notes = [sentence("plateau.note")]
        if done > len(fits):
            notes.append(sentence("plateau.first_fitted", {"done": done, "most": len(fits)}))
        return arranged(
            "plateau",
            PageLayout(notes=tuple(notes), claims=1),
            (*learning_sentences(study), _levels_off(fall)),
            (fall, *(fit.claim for fit in fits)),
            figures=plateau_panels(fits) if study.pictures else (),
        )


@dataclass(frozen=True)
class CellPlateau:
    """The fit of one cell."""

    cell: Cell
    claim: Claim

    @property
    def unit(self) -> str:
        return self.claim.unit


def fit_plateaus(study: StudyContent, most: int = MOST_FITS) -> list[CellPlateau]:
    """A fit for each cell with a finished run, the first few of them."""
    done = [cell for cell in study.cells if cell.done][:most]
    units = {cell.task: UNITS.get(str(study.facts(cell.task).get("readout")), USUAL_UNIT) for cell in done}
    return [CellPlateau(cell, _claim(cell, units[cell.task])) for cell in done]


def falling(fits: Sequence[CellPlateau]) -> Claim:
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
        key="plateau.falling",
        value=lower if several else None,
        unit=f"of {len(several)} settings with a plateau at two training lengths or more",
        kind="heuristic",
        status="holds" if several else "unknown",
        assumptions=(Assumption("plateau.fitted"),),
        evidence={"cells": len(fits), "found": sum(len(levels) for levels in found.values())},
    )


def _levels_off(fall: Claim) -> str:
    values = {"found": fall.evidence["found"], "cells": counted(fall.evidence["cells"], "cell")}
    if fall.value is None:
        return sentence("plateau.found_once", values)
    return sentence("plateau.found", {**values, "lower": fall.value, "unit": fall.unit})


def _claim(cell: Cell, unit: str) -> Claim:
    about = {"row": cell.row, "position": cell.position, "train_size": cell.train_size}
    shown = [run.seed for run in cell.shown]
    others = [run.seed for run in cell.done if run.seed not in shown]
    given = {"key": "plateau.cell", "unit": unit, "seeds": shown, "discarded": others, "rule": str(cell.rule)}
    try:
        found = plateau(*mean_losses(cell), cell.train_size, **given)
    except UsageError as error:  # losses that no plateau is made of, such as negative ones of a user's task
        reason = (Assumption("plateau.refused", "violated", {"why": str(error)}),)
        found = Claim("plateau.cell", None, unit, "heuristic", "unknown", None, reason, evidence={"seeds": shown})
    return dataclasses.replace(found, evidence={**found.evidence, **about})


def mean_losses(cell: Cell) -> tuple[list[int], list[float]]:
    """The mean test loss over the seeds shown, at every size that all of them measured."""
    curves = [{point.size: point.loss for point in run.curve.points} for run in cell.shown]
    sizes = [size for size in curves[0] if all(size in curve for curve in curves)]
    return sizes, [sum(curve[size] for curve in curves) / len(curves) for size in sizes]


def plateau_panels(fits: Sequence[CellPlateau]) -> list[Figure]:
    """A panel for every family with a plateau; `simple_task:omega=2` is of the family simple_task."""
    families: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
    for fit in fits:
        if fit.claim.value is None or fit.claim.interval is None:
            continue
        family, _, settings = fit.cell.task.partition(":")
        names = [name for name in (settings, fit.cell.variant) if name]
        families.setdefault((family, fit.cell.position, fit.unit), []).append(
            {
                "setting": ", ".join(names) or family,
                "trained": fit.cell.train_size,
                "plateau": fit.claim.value,
                "low": fit.claim.interval.low,
                "high": fit.claim.interval.high,
            }
        )
    settings = {row["setting"]: None for rows in families.values() for row in rows}
    templates = {unit: _template(unit, settings) for _, _, unit in families}
    panels = []
    for place, ((family, position, unit), rows) in enumerate(families.items()):
        title = sentence("plateau.panel", {"family": family, "position": position})
        words = sentence("plateau.words", {"title": title})
        panels.append(Figure(f"plateaus.{place + 1}", templates[unit], {"plateaus": rows}, title, words))
    return panels


def _template(unit: str, settings: Iterable[str]) -> dict[str, Any]:
    picked = alt.selection_point(name="picked", fields=["setting"], bind="legend")
    x = alt.X(
        "trained:Q",
        title="training length",
        scale=alt.Scale(type="log", base=2, nice=False, padding=14),
        axis=alt.Axis(tickCount=5, grid=False),
    )
    base = alt.Chart(alt.NamedData("plateaus")).encode(
        x=x,
        color=alt.Color("setting:N", legend=wrapping_legend(settings, 3)),
        opacity=alt.condition(picked, alt.value(1.0), alt.value(0.1)),
    )
    title = title_lines(sentence("plateau.axis", {"unit": unit}))
    numbers = (("trained:Q", "training length"), ("plateau:Q", "", ".4g"), *ends_of(".4g", "95 % "))
    told = hover("setting:N", *numbers)
    lines = base.mark_line(strokeWidth=2).encode(y=alt.Y("plateau:Q", title=title))
    spans = base.mark_rule().encode(y=alt.Y("low:Q", title=title), y2="high:Q")
    points = base.mark_point(filled=True, size=50).encode(y="plateau:Q", tooltip=told)
    return template_of(alt.layer(spans, lines.add_params(picked), points).properties(width=420, height=230))
