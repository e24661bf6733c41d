"""The heat map: how far each task holds with each encoding, in training lengths."""

from __future__ import annotations

from typing import Any

from lengthwise.analyses.content import StudyContent
from lengthwise.analyses.reach.answer import reach_of
from lengthwise.analyses.reach.cell_grid import CellGrid
from lengthwise.analyses.words import counted, percent, short
from lengthwise.figures.style import alt
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
    hover = {"row": "task", "encoding": "encoding", "reach": "mean reach", "multiple": "in training lengths"}
    hover |= {"trained": "trained to", "seeds": "seeds", "state": "state"}
    grid, rows = CellGrid(study, "learned", hover, tall=380), []
    for row in study.rows:
        for encoding, cell in study.row_cells(row).items():
            rows.append({"row": row.label, "encoding": encoding, **_shown(cell, study.furthest)})
    data = {place: [row for row in rows if row["place"] == place] for place in ("learned", "hatched", "others")}
    length = max(60, min(160, grid.row_height * len(study.rows)))
    colour = alt.Color(
        "value:Q",
        scale=alt.Scale(scheme="viridis", domain=[0, study.furthest]),
        legend=alt.Legend(title=["reach ÷", "training length"], gradientLength=length),
    )
    inks = alt.Scale(domain=["dark", "light"], range=["#000000", "#ffffff"])
    template = grid.template(colour, alt.Color("ink:N", scale=inks, legend=None))
    return Figure("heat_map", template, data, sentence("heat_map.title"), sentence("heat_map.words"))


def _shown(cell: Cell, furthest: float) -> dict[str, Any]:
    """What a cell says: its number, whether it was learned, and what a reader finds by hovering."""
    if not cell.done:
        state = "failed" if cell.failed else "waiting"
        found = {"place": "others", "state": state, "text": state, "value": None, "ink": "page"}
        runs = f"{counted(len(cell.runs), 'run')} {state}"
        return {**found, "multiple": "–", "reach": "–", "seeds": runs, "trained": cell.train_size}
    mean, bound = reach_of(cell), "≥" if cell.censored else ""
    multiple = mean / cell.train_size
    number = f"{bound}{multiple:.1f}"
    failed = f", {len(cell.failed)} failed" if cell.failed else ""
    place, state, text = "learned", "learned", number
    if cell.learned is False:
        shares = cell.values("in_range").values()
        values = {"share": percent(sum(shares) / len(shares)), "advice": ADVICE}
        place, state, text = "hatched", sentence("heat_map.not_learned", values), "not learned"
    elif cell.learned is None:
        place, state, text = "others", sentence("heat_map.unmeasured" if cell.certain else "heat_map.drawn"), "–"
    return {
        "place": place,
        "state": state,
        "text": text,
        "value": multiple,
        "multiple": number,
        "reach": f"{bound}{short(mean)}",
        "ink": ("dark" if multiple / furthest > LIGHT_FROM else "light") if cell.learned else "page",
        "seeds": f"{len(cell.kept)} of {counted(len(cell.runs), 'seed')} learned{failed}",
        "trained": cell.train_size,
    }
