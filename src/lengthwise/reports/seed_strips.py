"""Seed spread: the reach of every seed, one panel a row of the study; kept seeds are filled, discarded ones hollow."""

from __future__ import annotations

from typing import Any

from lengthwise.reports.content import Content
from lengthwise.reports.figure import Figure, template_of
from lengthwise.reports.words import counted
from lengthwise.studies.record import RunRecord

KIND = "seeds"
_TALL = 24


def seed_strips(content: Content) -> list[Figure]:
    """A strip for every row with a cell of at least two finished seeds."""
    template = _template(content)
    strips = []
    for place, row in enumerate(content.rows):
        found = content.row_cells(row)
        if not any(len(cell.done) > 1 for cell in found.values()):
            continue
        kept = {run.key for cell in found.values() for run in cell.kept}
        data = [
            _point(run, run.key in kept, _shift(index, len(cell.done)))
            for cell in found.values()
            for index, run in enumerate(cell.done)
        ]
        number = sum(len(cell.done) for cell in found.values())
        words = f"Reach of each of {counted(number, 'run')} of {row.label} by encoding, in training lengths."
        strips.append(Figure(f"seeds-{place + 1}-{row.label}", KIND, row.label, words, template, {"seeds": data}))
    return strips


def _shift(index: int, seeds: int) -> float:
    """How far below the middle of its strip a seed is drawn, in pixels, so that equal ones do not hide each other."""
    return 0.0 if seeds < 2 else _TALL * 0.6 * (index / (seeds - 1) - 0.5)


def _point(run: RunRecord, kept: bool, shift: float) -> dict[str, Any]:
    summary = run.summary
    assert summary is not None
    return {
        "encoding": run.position,
        "multiple": summary.reach / run.train_size,
        "reach": f"{'≥' if summary.censored else ''}{summary.reach}",
        "kept": "kept" if kept else "discarded",
        "filled": 0.75 if kept else 0.0,
        "bound": "at least" if summary.censored else "reach",
        "seed": run.seed,
        "shift": shift,
        "in_range": summary.in_range,
    }


def _template(content: Content) -> dict[str, Any]:
    import altair as alt

    scale = alt.Scale(domain=list(content.encodings))
    furthest = max((cell.test_size / cell.train_size for cell in content.cells), default=1.0)
    bars = alt.Chart(alt.Data(values=[{"at": 1}])).mark_rule(color="#888888", strokeDash=[4, 4]).encode(x="at:Q")
    x = alt.X(
        "multiple:Q",
        title="reach ÷ training length",
        scale=alt.Scale(domain=[0, furthest * 1.04], nice=False),
        axis=alt.Axis(tickMinStep=0.5, format="~g", labelExpr="datum.label + '×'", tickCount=6),
    )
    y = alt.Y("encoding:N", title=None, scale=alt.Scale(domain=list(content.encodings)), axis=alt.Axis(grid=True))
    points = (
        alt.Chart(alt.NamedData("seeds"))
        # With `yOffset` as a channel Vega-Lite would write the names of encodings into an expression.
        .mark_point(size=55, strokeWidth=1.8, yOffset=alt.expr("datum.shift"))
        .encode(
            x=x,
            y=y,
            stroke=alt.Stroke("encoding:N", scale=scale, legend=None),
            fill=alt.Fill("encoding:N", scale=scale, legend=None),
            fillOpacity=alt.FillOpacity("filled:Q", scale=None, legend=None),
            shape=alt.Shape(
                "bound:N",
                scale=alt.Scale(domain=["reach", "at least"], range=["circle", "triangle-right"]),
                legend=None,
            ),
            tooltip=[
                alt.Tooltip("encoding:N"),
                alt.Tooltip("seed:Q"),
                alt.Tooltip("reach:N"),
                alt.Tooltip("in_range:Q", title="exact match in range", format=".1%"),
                alt.Tooltip("kept:N", title="seed is"),
            ],
        )
    )
    tall = _TALL * max(1, len(content.encodings))
    return template_of(alt.layer(bars, points).properties(width=300, height=tall))
