"""The heat map: how far each task holds with each encoding, in training lengths."""

from __future__ import annotations

from typing import Any

from lengthwise.analyses.content import StudyContent
from lengthwise.analyses.reach.answer import reach_of
from lengthwise.analyses.reach.cell_grid import CellGrid
from lengthwise.analyses.words import counted, percent, short
from lengthwise.figures.lazy import alt
from lengthwise.messages import explain, sentence
from lengthwise.probes.curve.standard import ADVICE
from lengthwise.records import Figure
from lengthwise.studies.cells import Cell

explain(
    {
        "heat_map.title": "Reach relative to the training length",
        "heat_map.words": "Heat map of the reach, the largest size up to which exact match stays at 95 % or more, "
        "divided by the training length: one row per task, one column per encoding, in each cell the mean over the "
        "seeds that learned. Hatched cells were not learned in the training range.",
        "heat_map.not_learned": "not learned: {share} right in the training range; {advice}",
        "heat_map.drawn": "answers are drawn at random, so exact match is not meaningful",
        "heat_map.unmeasured": "no size of the training range was measured",
    }
)
LIGHT_FROM = 0.42  # below this share of viridis white contrasts by 4.5 or more, above it black does


def heat_map(study: StudyContent) -> Figure:
    """The reach of every cell relative to its training length."""
    grid, rows = _grid(study), []
    for row in study.rows:
        for encoding, cell in study.row_cells(row).items():
            rows.append({"row": row.label, "encoding": encoding, **_shown(cell, study.furthest)})
    data = {place: [row for row in rows if row["place"] == place] for place in ("learned", "hatched", "others")}
    title, words = sentence("heat_map.title"), sentence("heat_map.words")
    return Figure("heat_map", _template(grid, study.furthest), data, title, words)


def _shown(cell: Cell, furthest: float) -> dict[str, Any]:
    """What a cell says: its number, whether it was learned, and what a reader finds by hovering."""
    seeds = f"{len(cell.kept)} of {counted(len(cell.runs), 'seed')} learned"
    if not cell.done:
        state = "failed" if cell.failed else "waiting"
        found = {"place": "others", "state": state, "text": state, "value": None, "ink": "page"}
        runs = f"{counted(len(cell.runs), 'run')} {state}"
        return {**found, "multiple": "–", "reach": "–", "seeds": runs, "trained": cell.train_size}
    mean = reach_of(cell)
    multiple = mean / cell.train_size
    bound = "≥" if cell.censored else ""
    number = f"{bound}{multiple:.1f}"
    failed = f", {len(cell.failed)} failed" if cell.failed else ""
    place, state, text = "learned", "learned", number
    if cell.learned is False:
        place, state, text = "hatched", _not_learned(cell), "not learned"
    elif cell.learned is None:
        place, state, text = "others", _not_judged(cell), "–"
    return {
        "place": place,
        "state": state,
        "text": text,
        "value": multiple,
        "multiple": number,
        "reach": f"{bound}{short(mean)}",
        "ink": ("dark" if multiple / furthest > LIGHT_FROM else "light") if cell.learned else "page",
        "seeds": seeds + failed,
        "trained": cell.train_size,
    }


def _not_learned(cell: Cell) -> str:
    """How much of the training range is right, and what to do."""
    shares = cell.values("in_range").values()
    values = {"share": percent(sum(shares) / len(shares)), "advice": ADVICE}
    return sentence("heat_map.not_learned", values)


def _not_judged(cell: Cell) -> str:
    return sentence("heat_map.unmeasured" if cell.certain else "heat_map.drawn")


def _grid(study: StudyContent) -> CellGrid:
    hover = {
        "row": "task",
        "encoding": "encoding",
        "reach": "mean reach",
        "multiple": "in training lengths",
        "trained": "trained to",
        "seeds": "seeds",
        "state": "state",
    }
    return CellGrid(study, "learned", hover, tall=380)


def _template(grid: CellGrid, furthest: float) -> dict[str, Any]:
    length = max(60, min(160, grid.row_height * len(grid.study.rows)))
    colour = alt.Color(
        "value:Q",
        scale=alt.Scale(scheme="viridis", domain=[0, furthest]),
        legend=alt.Legend(title=["reach ÷", "training length"], gradientLength=length),
    )
    inks = alt.Scale(domain=["dark", "light"], range=["#000000", "#ffffff"])
    return grid.template(colour, alt.Color("ink:N", scale=inks, legend=None))
