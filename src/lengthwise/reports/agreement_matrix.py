"""The picture of the predictions: tasks by encodings, each cell by what was foretold and what came.

Colour and sign say the same, so that neither is needed alone: ✓ as predicted, ✗ not as predicted, ? not decided, and ×
in a dashed frame where the cell was not learned.
"""

from __future__ import annotations

from typing import Any

from lengthwise.figures.layout import wrapping_legend
from lengthwise.reports.cell_grid import CellGrid
from lengthwise.reports.content import Content
from lengthwise.reports.figure import PAGE_INK, Figure
from lengthwise.reports.prediction import JUDGED, Prediction
from lengthwise.reports.predictions import Predictions

KIND = "predictions"
WORDS = (
    "Matrix of the predictions: a row a task, a column an encoding. Each cell says whether the task was predicted to "
    "hold beyond the training range and whether it did."
)
# (agrees, outcome) → the name in the legend, the colour of the cell and the ink of its sign, after Okabe and Ito
LOOKS: dict[tuple[bool | None, str], tuple[str, str, str]] = {
    (True, "held"): ("✓ predicted to hold, held", "#0072B2", "#ffffff"),
    (True, "fell"): ("✓ predicted to fail, fell", "#56B4E9", "#000000"),
    (False, "fell"): ("✗ predicted to hold, fell", "#D55E00", "#000000"),
    (False, "held"): ("✗ predicted to fail, held", "#E69F00", "#000000"),
    (None, "held"): ("? not decided", "#999999", "#000000"),
    (None, "fell"): ("? not decided", "#999999", "#000000"),
}
_SIGNS = {True: "✓", False: "✗", None: "?"}
_LONGEST_WHY = 320


def agreement_matrix(content: Content, foretold: Predictions) -> Figure:
    """Every cell of a study, coloured by prediction and measurement."""
    rows = [_shown(row) for row in foretold.rows]
    data = {
        "judged": [row for row in rows if row["outcome"] in JUDGED],
        "others": [row for row in rows if row["outcome"] not in JUDGED],
    }
    title = "What was predicted, and what came"
    return Figure("predictions", KIND, title, f"{WORDS} {foretold.headline}", _template(content, foretold), data)


def _shown(row: Prediction) -> dict[str, Any]:
    """What a cell says, and what a reader finds by hovering."""
    if row.outcome in JUDGED:
        look, _, ink = LOOKS[row.agrees, row.outcome]
        text = f"{_SIGNS[row.agrees]} {row.outcome}"
    else:
        look, ink, text = row.outcome, PAGE_INK, "×" if row.outcome == "not learned" else "–"
    return {
        "row": row.label,
        "encoding": row.cell.position,
        "look": look,
        "ink": ink,
        "text": text,
        "predicted": row.verdict.outlook,
        "outcome": row.outcome,
        "measured": f"{row.outcome}: {row.found}",
        "why": _cut(row.verdict.why.replace("`", "")),
        "theory": row.verdict.deciding.theory if row.verdict.deciding else "–",
    }


def _cut(text: str) -> str:
    """As much as can be read while hovering; the whole is among the claims."""
    return text if len(text) <= _LONGEST_WHY else text[: _LONGEST_WHY - 1] + "…"


def _template(content: Content, foretold: Predictions) -> dict[str, Any]:
    import altair as alt

    hover = {"row": "task", **{name: name for name in ("encoding", "predicted", "why", "theory", "measured")}}
    grid = CellGrid(content, "judged", hover, tall=420, shortest=17)
    return grid.template(_colour(foretold), alt.Color("ink:N", scale=None, legend=None))


def _colour(foretold: Predictions) -> Any:
    """The colours, with a legend of those that occur; one without entries would have no size."""
    import altair as alt

    found = {(row.agrees, row.outcome) for row in foretold.judged}
    looks = {name: colour for key, (name, colour, _) in LOOKS.items() if key in found}
    scale = alt.Scale(domain=list(looks), range=list(looks.values()))
    legend = wrapping_legend(looks, 2, orient="top", direction="horizontal", symbolType="square", labelLimit=260)
    return alt.Color("look:N", scale=scale, legend=legend if looks else None)
