"""Figures of a record that many probes need: lines over numbers, and a heat map of cells.

The templates are Vega-Lite written out, so that making a figure needs no library.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from lengthwise.figures.style import title_lines, whole_axis, wrapping_legend
from lengthwise.records import Figure

ROWS = "rows"
_WIDTH = 400


def line_figure(
    key: str,
    title: str,
    words: str,
    axes: tuple[str, str],
    series: Mapping[str, Iterable[tuple[float, ...]]],
    logarithmic: Literal["", "x", "y"] = "",
) -> Figure:
    """One line per series of points (x, y), with x at whole numbers; `axes` are the titles of x and y. Points (x, y,
    low, high) have a band around the line."""
    points = [
        {"x": x, "y": y, "series": name, **dict(zip(("low", "high"), ends, strict=False))}
        for name, line in series.items()
        for x, y, *ends in line
        if logarithmic != "y" or y > 0
    ]
    across = {"type": "log", "base": 2, "nice": False} if logarithmic == "x" else {"nice": False}
    upward = {"type": "log", "nice": False} if logarithmic == "y" else {"zero": True}
    named, legend = title_lines(axes[0]), wrapping_legend(series) if len(series) > 1 else None
    template: dict[str, Any] = {
        "data": {"name": ROWS},
        "mark": {"type": "line", "point": True},
        "width": _WIDTH,
        "height": 220,
        "encoding": {
            "x": {"field": "x", "type": "quantitative", "title": named, "scale": across, "axis": whole_axis()},
            "y": {"field": "y", "type": "quantitative", "title": title_lines(axes[1]), "scale": upward},
            "color": {"field": "series", "type": "nominal", "sort": list(series), "legend": legend},
        },
    }
    if points and "low" in points[0]:
        shared = {name: template["encoding"].pop(name) for name in ("x", "color")}
        line = {"mark": template.pop("mark"), "encoding": template["encoding"]}
        ends = {"y": {**line["encoding"]["y"], "field": "low"}, "y2": {"field": "high"}}
        band = {"mark": {"type": "area", "opacity": 0.18}, "encoding": ends}
        template = {**template, "encoding": shared, "layer": [band, line]}
    return Figure(key, template, {ROWS: points}, title, words)


def heat_figure(
    key: str, title: str, words: str, axes: tuple[str, str], cells: Sequence[tuple[int, int | str, float]]
) -> Figure:
    """A cell per (x, y, value), coloured by its value; `axes` are the titles of x and y."""
    across, down = (len({cell[axis] for cell in cells}) for axis in (0, 1))
    scale = {"scheme": "viridis", "zero": True}
    template = {
        "data": {"name": ROWS},
        "mark": "rect",
        "width": max(120, min(_WIDTH, 34 * across)),
        "height": 16 * down,
        "encoding": {
            "x": {"field": "x", "type": "ordinal", "title": axes[0], "axis": {"labelAngle": 0}},
            "y": {"field": "y", "type": "ordinal", "title": axes[1]},
            "color": {"field": "value", "type": "quantitative", "title": "", "scale": scale},
        },
    }
    return Figure(key, template, {ROWS: [{"x": x, "y": y, "value": value} for x, y, value in cells]}, title, words)
