"""The first picture: how far each task holds with each encoding, in training lengths."""

from __future__ import annotations

from typing import Any

from lengthwise.probes.curve.standard import ADVICE
from lengthwise.reports.cell_grid import CellGrid
from lengthwise.reports.content import Content
from lengthwise.reports.figure import Figure
from lengthwise.reports.words import counted, percent, short
from lengthwise.studies.cells import Cell

KIND = "heat map"
WORDS = (
    "Heat map of the reach, the largest size up to which exact match stays at 95 % or more, divided by the training "
    "length: one row per task, one column per encoding, in each cell the mean over the seeds that learned. Hatched "
    "cells were not learned in the training range."
)
LIGHT_FROM = 0.42  # below this share of viridis white contrasts by 4.5 or more, above it black does


def heat_map(content: Content) -> Figure:
    """The reach of every cell relative to its training length."""
    furthest = max((cell.test_size / cell.train_size for cell in content.cells), default=1.0)
    grid, rows = _grid(content), []
    for row in content.rows:
        for encoding, cell in content.row_cells(row).items():
            rows.append({"row": row.label, "encoding": encoding, **_shown(cell, furthest)})
    data = {place: [row for row in rows if row["place"] == place] for place in ("learned", "hatched", "others")}
    return Figure("heat-map", KIND, "Reach relative to the training length", WORDS, _template(grid, furthest), data)


def _shown(cell: Cell, furthest: float) -> dict[str, Any]:
    """What a cell says: its number, whether it was learned, and what a reader finds by hovering."""
    seeds = f"{len(cell.kept)} of {counted(len(cell.runs), 'seed')} learned"
    if not cell.done:
        state = "failed" if cell.failed else "waiting"
        found = {"place": "others", "state": state, "text": state, "value": None, "ink": "page"}
        runs = f"{counted(len(cell.runs), 'run')} {state}"
        return {**found, "multiple": "–", "reach": "–", "seeds": runs, "trained": cell.train_size}
    values = cell.values("reach")
    mean = sum(values.values()) / len(values)
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
    return f"not learned: {percent(sum(shares) / len(shares))} right in the training range; {ADVICE}"


def _not_judged(cell: Cell) -> str:
    if not cell.certain:
        return "answers are drawn at random, so exact match is not meaningful"
    return "no size of the training range was measured"


def _grid(content: Content) -> CellGrid:
    hover = {
        "row": "task",
        "encoding": "encoding",
        "reach": "mean reach",
        "multiple": "in training lengths",
        "trained": "trained to",
        "seeds": "seeds",
        "state": "state",
    }
    return CellGrid(content, "learned", hover, tall=380)


def _template(grid: CellGrid, furthest: float) -> dict[str, Any]:
    import altair as alt

    length = max(60, min(160, grid.row_height * len(grid.content.rows)))
    colour = alt.Color(
        "value:Q",
        scale=alt.Scale(scheme="viridis", domain=[0, furthest]),
        legend=alt.Legend(title=["reach ÷", "training length"], gradientLength=length),
    )
    inks = alt.Scale(domain=["dark", "light"], range=["#000000", "#ffffff"])
    return grid.template(colour, alt.Color("ink:N", scale=inks, legend=None))
