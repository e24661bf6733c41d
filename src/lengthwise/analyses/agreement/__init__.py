"""Prediction and measurement: what the oracle said about each cell before training, and what the trained models did.

In the picture, tasks by encodings, colour and sign say the same, so that neither is needed alone: ✗ a contradiction,
✓ as predicted, ○ can hold and did not, ? not decided; hatched where the cell was not learned, and so
says nothing.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from lengthwise.analyses.agreement.predictions import JUDGED, OUTLOOKS, CellPrediction, Predictions, Score, predict
from lengthwise.analyses.analysis import Analysis, analyses
from lengthwise.analyses.content import StudyContent
from lengthwise.analyses.layout import PageLayout, arranged
from lengthwise.analyses.reach.cell_grid import CellGrid
from lengthwise.analyses.words import cut, listed
from lengthwise.figures import design
from lengthwise.figures.style import PAGE_INK, alt, wrapping_legend
from lengthwise.messages import explain, sentence
from lengthwise.oracle.check import check
from lengthwise.oracle.opinion import outlook_words
from lengthwise.probes.curve.standard import ADVICE
from lengthwise.records import Column, Figure, Record, Table

explain(
    {
        "matrix.title": "Predictions and outcomes",
        "matrix.words": (
            "Matrix of the predictions: one row per task, one column per encoding. Each cell shows what "
            "theory predicts beyond the training range and whether the trained models held. Hatched cells "
            "were not learned."
        ),
        "look.contradiction": "✗ CONTRADICTION: “cannot hold”, held",
        "look.as_predicted": "✓ “cannot hold”, did not hold",
        "look.attained": "✓ “can hold”, held",
        "look.not_attained": "○ “can hold”, did not hold",
        "look.undecided": "? not decided",
        "agreement.title": "What was predicted",
        "agreement.link": "Predicted",
        "agreement.note": (
            "The oracle looks at the task and the encoding alone, never at a run. “Cannot hold” is tested by "
            "every cell that was learned: one that holds contradicts it. “Can hold” means that some model can "
            "do it, not that training finds that model: a cell that falls short contradicts nothing."
        ),
        "agreement.hover": "Hover over a cell to see the numbers and the reason for its prediction.",
        "agreement.hatched": "Hatched: not learned in the training range, so nothing can be judged; {advice}.",
        "agreement.dashed": "– in a dashed frame: no run has finished, or none was measured beyond the training range.",
        "agreement.scroll": "Scroll inside the picture to see all {rows:,} rows.",
        "agreement.counts": "Cells by prediction and outcome",
        "agreement.contradictions": "Contradictions, at the sizes measured: {number}",
        "agreement.not_reached": "“Can hold”, but did not: {number}",
        "agreement.undecided": "Why cells were not decided: {number}",
        "agreement.more": "And {number} more.",
        "agreement.reason": "{cells}: {why}",
        "agreement.reasons": "{cells}; for the first: {why}",
    }
)
_DARK = design.value("on-light")
# score → the sign in the cell, the name of its look, the colour of the cell and the ink of its sign (Okabe and Ito)
LOOKS: dict[Score | None, tuple[str, str, str, str]] = {
    "contradiction": ("✗", "look.contradiction", design.value("series-2"), _DARK),
    "as_predicted": ("✓", "look.as_predicted", design.value("series-5"), _DARK),
    "attained": ("✓", "look.attained", design.value("series-1"), design.value("on-dark")),
    "not_attained": ("○", "look.not_attained", design.value("series-9"), _DARK),
    None: ("?", "look.undecided", design.value("series-8"), _DARK),
}
_LONGEST_WHY = 320
_MOST = 20  # cells and reasons that are written out
_ROWS_OF_MATRIX = 36  # in the height the page gives it


def agreement_matrix(study: StudyContent, foretold: Predictions) -> Figure:
    """Every cell of a study, coloured by prediction and measurement."""
    hover = {"row": "task", **{name: name for name in ("encoding", "predicted", "why", "theory", "measured")}}
    grid = CellGrid(study, "judged", hover, tall=420, shortest=17)
    rows = [_shown(row, grid.roomy) for row in foretold.rows]
    data = {
        "judged": [row for row in rows if row["outcome"] in JUDGED],
        "hatched": [row for row in rows if row["outcome"] == "not_learned"],
        "others": [row for row in rows if row["outcome"] == "not_measured"],
    }
    words = " ".join([sentence("matrix.words"), *foretold.headline])
    template = grid.template(_colour(foretold), alt.Color("ink:N", scale=None, legend=None))
    return Figure("predictions", template, data, sentence("matrix.title"), words)


def _shown(row: CellPrediction, roomy: bool) -> dict[str, Any]:
    """What a cell says, and what a reader finds by hovering."""
    outcome = sentence(f"outcome.{row.outcome}")
    if row.outcome in JUDGED:
        sign, look, _, ink = LOOKS[row.score]
        text = f"{sign} held" if row.outcome == "held" else f"{sign} did not" if roomy else f"{sign} not"
    else:
        sign, look, ink, text = "", row.outcome, PAGE_INK, outcome if row.outcome == "not_learned" else "–"
    return {
        "row": row.label,
        "encoding": row.cell.position,
        "look": look,
        "ink": ink,
        "text": text,
        "predicted": outlook_words(row.verdict.outlook),
        "outcome": row.outcome,
        "measured": f"{outcome}: {row.found}",
        "why": cut(row.verdict.why.replace("`", ""), _LONGEST_WHY),  # the whole is among the claims
        "theory": row.verdict.deciding.theory if row.verdict.deciding else "–",
    }


def _colour(foretold: Predictions) -> Any:
    """The colours, with a legend of those that occur; one without entries would have no size."""
    found = {row.score for row in foretold.judged}
    looks = {name: colour for score, (_, name, colour, _) in LOOKS.items() if score in found}
    names = {name: sentence(name) for name in looks}
    scale = alt.Scale(domain=list(looks), range=list(looks.values()))
    shown = f"({json.dumps(names)})[datum.label]"
    legend = wrapping_legend(
        names.values(), 2, orient="top", direction="horizontal", symbolType="square", labelLimit=300, labelExpr=shown
    )
    return alt.Color("look:N", scale=scale, legend=legend if looks else None)


@analyses.register("agreement")
@dataclass(frozen=True)
class AgreementAnalysis(Analysis):
    """What the oracle predicted for each cell, and whether the trained models agree."""

    slow = True

    def analyse(self, study: StudyContent) -> Record:
        foretold = predict(study, check)
        claims = foretold.claims()
        return arranged(
            "agreement",
            PageLayout(notes=_notes(study, foretold), claims=len(claims), columns=1, lists=_lists(foretold)),
            (*foretold.headline, *foretold.left_out),
            (*claims, *foretold.cell_claims()),
            [_counts(foretold)],
            [agreement_matrix(study, foretold)] if study.pictures else (),
            foretold.plain(),
        )

    def applies(self, study: StudyContent) -> bool:
        return bool(study.counts["done"])


def _counts(foretold: Predictions) -> Table:
    columns = [Column(outcome, "whole", sentence(f"outcome.{outcome}")) for outcome in foretold.outcomes]
    rows = [
        (outlook_words(outlook), *(foretold.counts[outlook][outcome] for outcome in foretold.outcomes))
        for outlook in OUTLOOKS
    ]
    title = sentence("agreement.counts")
    return Table("agreement.counts", (Column("predicted", "text"), *columns), tuple(rows), title)


def _notes(study: StudyContent, foretold: Predictions) -> tuple[str, ...]:
    """How to read the picture, of the frames that occur."""
    notes = [sentence("agreement.hover")]
    if foretold.apart("not_learned"):
        notes.append(sentence("agreement.hatched", {"advice": ADVICE}))
    if foretold.apart("not_measured"):
        notes.append(sentence("agreement.dashed"))
    if len(study.rows) > _ROWS_OF_MATRIX:
        notes.append(sentence("agreement.scroll", {"rows": len(study.rows)}))
    return sentence("agreement.note"), " ".join(notes)


def _lists(foretold: Predictions) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Contradictions, where training did not get there, and why the oracle did not decide."""
    found = {
        "agreement.contradictions": (len(foretold.contradictions), [row.sentence for row in foretold.contradictions]),
        "agreement.not_reached": (len(foretold.not_reached), [row.sentence for row in foretold.not_reached]),
        "agreement.undecided": (sum(map(len, foretold.undecided)), [_reason(rows) for rows in foretold.undecided]),
    }
    lists = []
    for key, (number, items) in found.items():
        more = [sentence("agreement.more", {"number": len(items) - _MOST})] if len(items) > _MOST else []
        lists += [(sentence(key, {"number": number}), (*items[:_MOST], *more))] if items else []
    return tuple(lists)


def _reason(rows: list[CellPrediction]) -> str:
    """Why the oracle did not decide these cells. What it says of the first may say more than the reason they share."""
    values = {"cells": listed([row.where for row in rows], 3), "why": rows[0].verdict.why}
    return sentence("agreement.reasons" if len(rows) > 1 else "agreement.reason", values)
