"""Plateaus of the error beyond the training length: do they fall with it and rise with difficulty, how long must
training be, and what does theory say?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, get_args

from lengthwise.analyses.analysis import Analysis, analyses
from lengthwise.analyses.content import StudyContent
from lengthwise.analyses.layout import PageLayout, arranged
from lengthwise.analyses.plateau.levels import SETTLED, Measure, PlateauCell, plateau_cells
from lengthwise.analyses.plateau.picture import plateau_panels
from lengthwise.analyses.plateau.series import Series, labels_of, series_of
from lengthwise.analyses.plateau.theory import theory_of
from lengthwise.analyses.reach.answer import learning_sentences
from lengthwise.analyses.words import counted, listed
from lengthwise.errors import UsageError
from lengthwise.messages import explain, sentence
from lengthwise.records import Claim, Record, Table, columns

CELLS, EXPONENTS = "plateau.cells", "lengths.exponents"
_MEASURED = ("lengths.this_study", "lengths.measured")
_EFFECTS = ("plateau.falls", "plateau.rises")
explain(
    {
        "plateau.title": "Plateaus of the error, and the training length",
        "plateau.link": "Plateaus",
        "plateau.note": "A plateau is the mean {measure} error over the last doubling of test sizes, with the 95 % "
        "bootstrap interval over seeds. The error of an item is the largest absolute error among its numbers.",
        "plateau.nothing": "No run measured errors of real numbers beyond its training range (probe `errors`), so "
        "there is no plateau.",
        "plateau.falls.shown": "{series}: the plateau falls with the training length N, as N^-{value:.2f} (95 % "
        "interval of the exponent {low:.2f} to {high:.2f}).",
        "plateau.falls.refuted": "{series}: the plateau does not fall but rises with the training length N, as "
        "N^{turned:.2f} (95 % interval {turned_low:.2f} to {turned_high:.2f}).",
        "plateau.falls.open": "{series}: the data do not show whether the plateau falls with the training length "
        "(exponent {value:.2f}, 95 % interval {low:.2f} to {high:.2f}).",
        "plateau.rises.shown": (
            "{series}: the plateau rises with {parameter}, as {parameter}^{value:.2f} (95 % interval "
            "{low:.2f} to {high:.2f})."
        ),
        "plateau.rises.refuted": (
            "{series}: the plateau does not rise with {parameter} but falls, as {parameter}^{value:.2f} (95 % "
            "interval {low:.2f} to {high:.2f})."
        ),
        "plateau.rises.open": (
            "{series}: the data do not show whether the plateau rises with {parameter} (exponent {value:.2f}, "
            "95 % interval {low:.2f} to {high:.2f})."
        ),
        "plateau.few": "{series}: too few cells learned their range ({cells}) to say how the plateau changes.",
        "plateau.every.shown": "In every family the plateau falls with the training length and rises with difficulty.",
        "plateau.every.open": "That the plateau falls with the training length and rises with difficulty is shown for "
        "{shown} of {families} families; it is not shown for {others}.",
        "lengths.enough": "For {a} {measure} error below {error:g} beyond training, {series} needs {needed}.",
        "lengths.one": "a training length of {size} at {parameter} {value:g}",
        "lengths.one_more": "{size} at {value:g}",
        "lengths.none": "more than {largest} at {parameter} {value:g}",
        "lengths.theory_note": "Upper bounds compare limit transformers that agree on all short inputs; the measured "
        "exponents are those of what training found. A measured exponent below an upper bound agrees with it.",
        "plateau.cells": "plateaus by task and training length",
        "plateau.cells_note": "in range: the error in the upper half of the training range; worst and Dirichlet: the "
        "plateaus of the largest error and of Dirichlet prompts; growth: of the error in the last doubling of sizes",
        "lengths.table": "training length needed for a given error, as powers of 1/error and of the setting",
        "plateau.unsettled": "Still rising in the last doubling of sizes (by more than {share:.0%}): {names}. A "
        "longer test would show a larger error.",
        "plateau.not_learned": "Training range not learned, left out of the fits: {names}.",
    }
)


@analyses.register("plateau")
@dataclass(frozen=True)
class PlateauAnalysis(Analysis):
    """Where the error beyond training settles, how that changes with the training length and with the task's settings,
    and the training length at which it is below `error` (0: none is asked for). It reads the probe `errors`;
    `measure` is average, worst or dirichlet."""

    error: float = 0.0
    measure: Measure = "average"

    def __post_init__(self) -> None:
        if not 0 <= self.error < 1:
            raise UsageError(f"an error lies between 0 and 1, not {self.error:g}")
        if self.measure not in get_args(Measure):
            raise UsageError(f"a measure of the error is {', '.join(get_args(Measure))}, not {self.measure!r}")

    def analyse(self, study: StudyContent) -> Record:
        cells = plateau_cells(study.cells, self.measure)
        if not cells:
            return arranged("plateau", PageLayout(), (*learning_sentences(study), sentence("plateau.nothing")))
        found = series_of(cells)
        claims = {series: series.claims() for series in found}
        needed = {series: series.needed(self.error, self.measure) if self.error else [] for series in found}
        layout = PageLayout(notes=(sentence("plateau.note", {"measure": self.measure}),), claims=0)
        text = [*learning_sentences(study), *self._text(found, claims, needed), *_warnings(cells)]
        listing = [claim for series in found for claim in (*claims[series], *needed[series])]
        return arranged(
            "plateau",
            layout,
            text,
            (*listing, *(cell.claim for cell in cells)),
            (_cell_table(study.cells, cells), _exponent_table(found, claims, self.measure)),
            plateau_panels(found, self.measure) if study.pictures else (),
        )

    def _text(
        self, found: Sequence[Series], claims: dict[Any, list[Claim]], needed: dict[Any, list[Claim]]
    ) -> list[str]:
        said = []
        varied = [series for series in found if len(_effects(claims[series])) == len(_EFFECTS)]
        shown = [series for series in varied if all(one.status == "holds" for one in _effects(claims[series]))]
        if varied and len(shown) == len(varied):
            said.append(sentence("plateau.every.shown"))
        elif varied:
            others = listed([f"{one.name} over {one.parameter}" for one in varied if one not in shown])
            counts = {"shown": len(shown), "families": len(varied), "others": others}
            said.append(sentence("plateau.every.open", counts))
        for series in found:
            if len(series.cells) == 1:
                continue  # one training length of one task has no trend
            said += dict.fromkeys(_effect(series, claim) for claim in _effects(claims[series]))  # each reason once
            if needed[series]:
                said.append(self._needed(series, needed[series]))
        return said

    def _needed(self, series: Series, claims: Sequence[Claim]) -> str:
        parts = []
        for place, claim in enumerate(claims):
            known = {**claim.evidence, "size": claim.value, "largest": claim.evidence["train_sizes"][-1]}
            key = "none" if claim.value is None else "one_more" if place and claims[0].value is not None else "one"
            parts.append(sentence(f"lengths.{key}", known))
        known = {"a": "an" if self.measure == "average" else "a", "measure": self.measure, "error": self.error}
        return sentence("lengths.enough", {**known, "series": series.name, "needed": listed(parts, 9)})


def _effects(claims: Sequence[Claim]) -> list[Claim]:
    return [claim for claim in claims if claim.key in _EFFECTS]


def _effect(series: Series, claim: Claim) -> str:
    if claim.value is None or claim.interval is None:
        return sentence("plateau.few", {"series": series.name, "cells": counted(len(series.fitted), "cell")})
    how = {"holds": "shown", "refuted": "refuted"}.get(claim.status, "open")
    low, high, value = claim.interval.low, claim.interval.high, float(claim.value)
    known = {"low": low, "high": high, "value": value, "turned": -value, "turned_low": -high, "turned_high": -low}
    return sentence(f"{claim.key}.{how}", {"series": series.name, "parameter": series.parameter, **known})


def _warnings(cells: Sequence[PlateauCell]) -> list[str]:
    labels = labels_of(cells)

    def names(chosen: Callable[[PlateauCell], bool]) -> str:
        pairs = zip(cells, labels, strict=True)
        return listed([f"{label} trained to {one.cell.train_size}" for one, label in pairs if chosen(one)], 6)

    rising = names(lambda cell: cell.learned and cell.drift is not None and not cell.settled)
    lost = names(lambda cell: not cell.learned)
    said = [sentence("plateau.unsettled", {"names": rising, "share": SETTLED})] if rising else []
    return said + ([sentence("plateau.not_learned", {"names": lost})] if lost else [])


def _cell_table(all_cells: Sequence[Any], cells: Sequence[PlateauCell]) -> Table:
    described = (
        "task:text | train_size:whole trained to | in_range:number in range | plateau:number | low:number 95 % from | "
        "high:number 95 % to | worst:number | dirichlet:number Dirichlet | growth:share | learned:truth | seeds:whole "
        "| position:text"
    )
    worst, even = (_plateaus(all_cells, name) for name in ("worst", "dirichlet"))
    rows = []
    for one, label in zip(cells, labels_of(cells), strict=True):
        ends = one.claim.interval
        limits = (None, None) if ends is None else (ends.low, ends.high)
        more = (worst.get(id(one.cell)), even.get(id(one.cell)), one.drift)
        last = (one.learned, len(one.levels), one.design)
        rows.append((label, one.cell.train_size, one.in_range, one.plateau, *limits, *more, *last))
    return Table(CELLS, columns(described), tuple(rows), sentence("plateau.cells"), sentence("plateau.cells_note"))


def _plateaus(cells: Sequence[Any], measure: Measure) -> dict[int, float]:
    return {id(one.cell): one.plateau for one in plateau_cells(cells, measure)}


def _exponent_table(found: Sequence[Series], claims: dict[Any, list[Claim]], measure: str) -> Table:
    """The measured exponents of the needed training length, each followed by what theory says."""
    described = (
        "family:text | power:text exponent of | exponent:number is | low:number 95 % from | high:number 95 % to | "
        "statement:text by | kind:text"
    )
    rows: list[tuple[Any, ...]] = []
    for series in found:
        own = {claim.key: claim for claim in claims[series]}
        for key, power in (("error", "1/error"), ("parameter", series.parameter)):
            claim = own.get(f"lengths.{key}_exponent")
            if claim is not None:
                rows.append((series.name, power, *_ends(claim), *map(sentence, _MEASURED)))
            for line in theory_of(series.family, measure) if claim is not None else ():
                exponent = line.error if key == "error" else line.parameters.get(series.parameter)
                if exponent is not None or key == "error":
                    rows.append((series.name, power, exponent, None, None, line.statement, line.known))
    return Table(EXPONENTS, columns(described), tuple(rows), sentence("lengths.table"), sentence("lengths.theory_note"))


def _ends(claim: Claim) -> tuple[Any, Any, Any]:
    ends = claim.interval
    return (claim.value, None, None) if ends is None else (claim.value, ends.low, ends.high)
