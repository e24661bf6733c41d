"""The picture of the predictions: tasks by encodings, each cell by what was predicted and what came.

Colour and sign say the same, so that neither is needed alone: ✗ a contradiction, ✓ as predicted or got there,
○ training did not get there, ? not decided; hatched where the cell was not learned, and so says nothing.
"""

from __future__ import annotations

from typing import Any

from lengthwise.figures.layout import wrapping_legend
from lengthwise.reports.cell_grid import CellGrid
from lengthwise.reports.content import Content
from lengthwise.reports.figure import PAGE_INK, Figure
from lengthwise.reports.prediction import JUDGED, Prediction, Score
from lengthwise.reports.predictions import Predictions

KIND = "predictions"
WORDS = (
    "Matrix of the predictions: one row per task, one column per encoding. Each cell says what the theory says of the "
    "task beyond the training range and whether the trained models held. Hatched cells were not learned."
)
# score → the sign in the cell, the name in the legend, the colour of the cell and the ink of its sign (Okabe and Ito)
LOOKS: dict[Score | None, tuple[str, str, str, str]] = {
    "contradiction": ("✗", "✗ CONTRADICTION: “cannot hold”, held", "#D55E00", "#000000"),
    "as predicted": ("✓", "✓ “cannot hold”, did not hold", "#56B4E9", "#000000"),
    "training got there": ("✓", "✓ “can hold”, training got there", "#0072B2", "#ffffff"),
    "training did not get there": ("○", "○ “can hold”, training did not get there", "#F0E442", "#000000"),
    None: ("?", "? not decided", "#999999", "#000000"),
}
_LONGEST_WHY = 320


def agreement_matrix(content: Content, foretold: Predictions) -> Figure:
    """Every cell of a study, coloured by prediction and measurement."""
    grid = _grid(content)
    rows = [_shown(row, grid.roomy) for row in foretold.rows]
    data = {
        "judged": [row for row in rows if row["outcome"] in JUDGED],
        "hatched": [row for row in rows if row["outcome"] == "not learned"],
        "others": [row for row in rows if row["outcome"] == "not measured"],
    }
    title = "What was predicted, and what came"
    return Figure("predictions", KIND, title, f"{WORDS} {foretold.headline}", _template(grid, foretold), data)


def _shown(row: Prediction, roomy: bool) -> dict[str, Any]:
    """What a cell says, and what a reader finds by hovering."""
    if row.outcome in JUDGED:
        sign, look, _, ink = LOOKS[row.score]
        text = f"{sign} held" if row.outcome == "held" else f"{sign} did not" if roomy else f"{sign} not"
    else:
        look, ink, text = row.outcome, PAGE_INK, "not learned" if row.outcome == "not learned" else "–"
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


def _grid(content: Content) -> CellGrid:
    hover = {"row": "task", **{name: name for name in ("encoding", "predicted", "why", "theory", "measured")}}
    return CellGrid(content, "judged", hover, tall=420, shortest=17)


def _template(grid: CellGrid, foretold: Predictions) -> dict[str, Any]:
    import altair as alt

    return grid.template(_colour(foretold), alt.Color("ink:N", scale=None, legend=None))


def _colour(foretold: Predictions) -> Any:
    """The colours, with a legend of those that occur; one without entries would have no size."""
    import altair as alt

    found = {row.score for row in foretold.judged}
    looks = {name: colour for score, (_, name, colour, _) in LOOKS.items() if score in found}
    scale = alt.Scale(domain=list(looks), range=list(looks.values()))
    legend = wrapping_legend(looks, 2, orient="top", direction="horizontal", symbolType="square", labelLimit=300)
    return alt.Color("look:N", scale=scale, legend=legend if looks else None)
