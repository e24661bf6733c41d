"""The phase diagram as a picture: time across, beta upward, a panel for each dimension."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import altair as alt

from lengthwise.figures.chart_files import save_chart
from lengthwise.figures.style import PAPER_INK, config, gradient_below, heat_colours

MEASURES = {
    "share_pairs": "share of pairs in one place",
    "share_one_cluster": "share of starts in one cluster",
    "clusters": "cluster number N",
}
Rows = Sequence[dict[str, Any]]


def save_phases(path: Path, rows: Rows, line: Rows, measure: str, words: Sequence[str]) -> None:
    """Write the diagram as .svg, .png or .html, by the file's ending."""
    save_chart(path, phase_chart(rows, line, measure), "Phase diagram of tokens on a sphere", words)


def phase_chart(rows: Rows, line: Rows, measure: str) -> Any:
    """A panel for each d; the dashed line is where gamma(t), from an orthogonal start, comes near 1.

    A cell reaches halfway to its neighbours in time and beta, so that the picture shows which values were computed.
    """
    times, betas = _cells(rows, "time"), _cells(rows, "beta")
    panels = []
    for d in dict.fromkeys(row["d"] for row in rows):
        cells = []
        for row in (row for row in rows if row["d"] == d):
            (t0, t1), (b0, b1) = times[row["time"]], betas[row["beta"]]
            cells.append({"t0": t0, "t1": t1, "b0": b0, "b1": b1, "value": row[measure]})
        panels.append(_panel(cells, line, measure, d, _colours(rows, measure), first=not panels))
    caption = alt.TitleParams(
        [f"Colour: {MEASURES[measure]}, tokens drawn uniformly. Dashed: when orthogonal tokens would be there (γ)."],
        fontWeight="normal",
        fontSize=11,
        anchor="start",
        orient="bottom",
        offset=8,
    )
    drawn = alt.concat(*panels, columns=3, title=caption)
    return drawn.configure(**config(PAPER_INK)).properties(background="white")


def _colours(rows: Rows, measure: str) -> tuple[float, float]:
    """From which to which value the colours go, the same in all panels."""
    values = [float(row[measure]) for row in rows]
    return (0.0, 1.0) if measure != "clusters" else (min(values), max(values))


def _panel(
    cells: list[dict[str, Any]], line: Rows, measure: str, d: int, colours: tuple[float, float], first: bool
) -> Any:
    across = alt.Scale(domain=[min(c["t0"] for c in cells), max(c["t1"] for c in cells)], nice=False)
    upward = alt.Scale(domain=[min(c["b0"] for c in cells), max(c["b1"] for c in cells)], nice=False)
    legend = gradient_below(MEASURES[measure], 150, tickCount=5) if first else None
    heat = alt.Chart(alt.Data(values=cells), mark="rect").encode(
        x=alt.X("t0:Q", title="time", scale=across),
        x2="t1:Q",
        y=alt.Y("b0:Q", title="β", scale=upward),
        y2="b1:Q",
        **heat_colours("value", *colours, legend),
    )
    # Dark below light, so that the line is seen on every colour of the scale.
    drawn = alt.Chart(alt.Data(values=[row for row in line if row["time"] <= across.domain[1]]))
    drawn = drawn.encode(x="time:Q", y="beta:Q", order="beta:Q")
    under = drawn.mark_line(color="black", strokeWidth=3.5, clip=True)
    over = drawn.mark_line(color="white", strokeWidth=1.5, strokeDash=[5, 3], clip=True)
    return alt.layer(heat, under, over).properties(width=220, height=180, title=f"d = {d}")


def _cells(rows: Rows, column: str) -> dict[float, tuple[float, float]]:
    """From where to where the cell of each value reaches."""
    values = sorted({float(row[column]) for row in rows})
    edges = [values[0], *((a + b) / 2 for a, b in itertools.pairwise(values)), values[-1]]
    if len(values) == 1:
        edges = [values[0] - 0.5, values[0] + 0.5]
    return {value: (edges[place], edges[place + 1]) for place, value in enumerate(values)}
