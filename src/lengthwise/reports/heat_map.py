"""The first picture: how far each task holds with each encoding, in training lengths."""

from __future__ import annotations

from typing import Any

from lengthwise.reports.cell_grid import CellGrid
from lengthwise.reports.content import Content
from lengthwise.reports.figure import Figure
from lengthwise.reports.words import counted, short
from lengthwise.studies.cells import Cell

KIND = "heat map"
WORDS = (
    "Heat map of the reach, the largest size up to which exact match stays at 95 % or more, divided by the training "
    "length: a row a task, a column an encoding, the mean over seeds in each cell."
)
LIGHT_FROM = 0.42  # below this share of viridis white contrasts by 4.5 or more, above it black does


def heat_map(content: Content) -> Figure:
    """The reach of every cell relative to its training length."""
    furthest = max((cell.test_size / cell.train_size for cell in content.cells), default=1.0)
    rows = []
    for row in content.rows:
        for encoding, cell in content.row_cells(row).items():
            rows.append({"row": row.label, "encoding": encoding, **_shown(cell, furthest)})
    learned = [row for row in rows if row["state"] == "learned"]
    others = [row for row in rows if row["state"] != "learned"]
    data = {"learned": learned, "others": others}
    return Figure("heat-map", KIND, "Reach relative to the training length", WORDS, _template(content, furthest), data)


def _shown(cell: Cell, furthest: float) -> dict[str, Any]:
    """What a cell says: its number, whether it was learned, and what a reader finds by hovering."""
    seeds = f"{len(cell.kept)} of {counted(len(cell.runs), 'seed')} kept"
    if not cell.done:
        state = "failed" if cell.failed else "waiting"
        found = {"state": state, "text": state, "value": None, "reach": "–", "ink": "page"}
        return {**found, "seeds": f"{counted(len(cell.runs), 'run')} {state}", "trained": cell.train_size}
    values = cell.values("reach")
    mean = sum(values.values()) / len(values)
    multiple = mean / cell.train_size
    bound = "≥" if cell.censored else ""
    number = f"{bound}{multiple:.1f}"
    failed = f", {len(cell.failed)} failed" if cell.failed else ""
    return {
        "state": "learned" if cell.learned else "not learned in range",
        "text": number if cell.learned else f"× {number}",
        "value": multiple,
        "reach": f"{bound}{short(mean)}",
        "ink": ("dark" if multiple / furthest > LIGHT_FROM else "light") if cell.learned else "page",
        "seeds": seeds + failed,
        "trained": cell.train_size,
    }


def _template(content: Content, furthest: float) -> dict[str, Any]:
    import altair as alt

    hover = {
        "row": "task",
        "encoding": "encoding",
        "reach": "mean reach",
        "text": "in training lengths",
        "trained": "trained to",
        "seeds": "seeds",
        "state": "state",
    }
    grid = CellGrid(content, "learned", hover, tall=380)
    length = max(60, min(160, grid.row_height * len(content.rows)))
    colour = alt.Color(
        "value:Q",
        scale=alt.Scale(scheme="viridis", domain=[0, furthest]),
        legend=alt.Legend(title=["reach ÷", "training length"], gradientLength=length),
    )
    inks = alt.Scale(domain=["dark", "light"], range=["#000000", "#ffffff"])
    return grid.template(colour, alt.Color("ink:N", scale=inks, legend=None))
