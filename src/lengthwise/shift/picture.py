"""A shift as a picture: what the plan pairs with what, and the potential along the number that moved most."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import altair as alt
import numpy as np

from lengthwise.figures.chart_files import save_chart
from lengthwise.figures.style import GREY, PALETTE, whole_axis
from lengthwise.seeds import Floats
from lengthwise.shift.ground import Points
from lengthwise.shift.result import Shift, potentials
from lengthwise.transport.metrics.features import table

_LINES = 150  # of the plan, those that move most
_WIDE, _TALL = 360, 300
_LABELS = {
    "length": "length in tokens",
    "distinct": "different tokens",
    "max_depth": "greatest depth in levels",
    "mean_depth": "mean depth in levels",
    "branching": "children of an inner node",
}
_WORDS = (
    "Left: every mark is a place where trajectories lie, its area how much they weigh; lines join what the optimal "
    "plan pairs. Right: the potential falls along every pair by as much as the pair is apart."
)
_SCALE = alt.Scale(zero=False, nice=False, padding=14)
_COLOURS, _SHAPES = PALETTE[:2], ["circle", "triangle-up"]


def picture(shift: Shift) -> Any:
    """An altair chart: pairs of the plan over the two numbers that moved most, and the potential over the first."""
    axes = _axes(shift)
    points, lines = _rows(shift, axes)
    panels = [_potential(points, axes[0] if axes else None)]
    if len(axes) > 1:
        panels.insert(0, _coupling(points, lines, axes[0], axes[1]))
    subtitle = [f"metric {shift.metric}", f"first: {shift.first.name}; second: {shift.second.name}"]
    title = alt.TitleParams(_title(shift), subtitle=subtitle, anchor="start", limit=900, offset=12)
    chart = alt.hconcat(*panels, title=title, spacing=70, bounds="flush")
    text: dict[str, Any] = {"labelFontSize": 11, "titleFontSize": 12, "titleFontWeight": "normal"}
    return chart.configure_axis(**text).configure_legend(**text).configure_view(stroke=None)


def save_picture(path: str | Path, shift: Shift) -> None:
    """Write the picture as .svg, .png or .html, by the file's ending."""
    save_chart(Path(path), picture(shift), "Shift", [shift.verdict(), _WORDS])


def _axes(shift: Shift) -> list[str]:
    """The names of the numbers that vary at all, the one with the largest share (or the most moved) first."""
    moved = [number.name for number in shift.numbers if number.distance > 0]
    return sorted(moved, key=lambda name: -shift.shares.get(name, 0.0))[:2]


def _title(shift: Shift) -> str:
    if shift.distance.value is None:
        return "W1 was not certified"
    null = shift.noise[0].value
    compared = "" if null is None else f"; halves of the first sample are {float(null):.4g} apart"
    return f"W1 = {float(shift.distance.value):.4g} {shift.unit} ({shift.distance.kind}){compared}"


def _rows(shift: Shift, axes: list[str]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The points of both samples, those in one place together, and the pairs of the plan that move most mass."""
    sides = (shift.ground.first, shift.ground.second)
    placed, heights = [_values(points, axes) for points in sides], potentials(shift.ground, shift.transported)
    rows: dict[tuple[Any, ...], dict[str, Any]] = {}
    for which, points, values, height in zip(("first", "second"), sides, placed, heights, strict=True):
        for point, weight in enumerate(points.weights):
            at = {axis: float(value) for axis, value in zip(axes, values[point], strict=True)}
            key = (which, *at.values(), round(float(height[point]), 9))
            row = rows.setdefault(key, {"sample": which, **at, "potential": float(height[point]), "weight": 0.0})
            row["weight"] += float(weight)
            row.setdefault("text", points.sample.text(int(points.shown[point]))[:60])
    plan = shift.transported.solution
    order = np.argsort(-plan.mass * shift.ground.cost.pairs(plan.rows, plan.columns), kind="stable")[:_LINES]
    lines = []
    for k in order if len(axes) > 1 else ():
        (x, y), (x2, y2) = placed[0][plan.rows[k]], placed[1][plan.columns[k]]
        lines.append({"x": float(x), "y": float(y), "x2": float(x2), "y2": float(y2), "mass": float(plan.mass[k])})
    return list(rows.values()), lines


def _values(points: Points, axes: list[str]) -> Floats:
    known, values = table(points.sample)
    return values[points.shown][:, [known.index(name) for name in axes]]


def _coupling(points: list[dict[str, Any]], lines: list[dict[str, Any]], x: str, y: str) -> Any:
    across, up = (_over(points, channel, name) for channel, name in ((alt.X, x), (alt.Y, y)))
    rule = alt.Chart(alt.Data(values=lines)).mark_rule(color=GREY, opacity=0.35)
    moved = rule.encode(x=across, y=up, x2="x2:Q", y2="y2:Q")
    marks = _marks([{**row, "x": row[x], "y": row[y]} for row in points], across, up)
    return _panel(alt.layer(moved, marks), "what the plan pairs with what")


def _potential(points: list[dict[str, Any]], x: str | None) -> Any:
    """The potential over a number; over the samples themselves where no number differs."""
    across = alt.X("x:N", title="sample", axis=alt.Axis(labelAngle=0)) if x is None else _over(points, alt.X, x)
    up = alt.Y("potential:Q", title="potential, in the unit of W1", scale=_SCALE)
    marks = _marks([{**row, "x": row[x or "sample"]} for row in points], across, up)
    return _panel(marks, "potential" if x is None else f"potential along {_label(x)}")


def _over(points: list[dict[str, Any]], channel: Any, name: str) -> Any:
    """An axis of a number, of whole numbers where all values are whole."""
    whole = all(float(row[name]).is_integer() for row in points)
    place = "x:Q" if channel is alt.X else "y:Q"
    return channel(place, title=_label(name), scale=_SCALE, axis=whole_axis() if whole else alt.Axis())


def _marks(rows: list[dict[str, Any]], across: Any, up: Any) -> Any:
    legend = alt.Legend(title="sample", orient="bottom", symbolOpacity=1, symbolSize=80, direction="horizontal")
    names = ["first", "second"]
    return (
        alt.Chart(alt.Data(values=rows))
        .mark_point(filled=True, opacity=0.75)
        .encode(
            x=across,
            y=up,
            color=alt.Color("sample:N", scale=alt.Scale(domain=names, range=_COLOURS), legend=legend),
            shape=alt.Shape("sample:N", scale=alt.Scale(domain=names, range=_SHAPES), legend=legend),
            size=alt.Size("weight:Q", scale=alt.Scale(range=[25, 260], domainMin=0), legend=None),
            tooltip=[
                alt.Tooltip("sample:N"),
                alt.Tooltip("potential:Q", format=".4g"),
                alt.Tooltip("weight:Q", format=".3g"),
                alt.Tooltip("text:N", title="such as"),
            ],
        )
    )


def _panel(chart: Any, title: str) -> Any:
    return chart.properties(width=_WIDE, height=_TALL, title=alt.TitleParams(title, frame="group"))


def _label(name: str) -> str:
    return _LABELS.get(name, name)
