"""Figures of a record that many probes need: lines over numbers, a heat map of cells, sums as waterfalls.

The templates are Vega-Lite written out, so that making a figure needs no library.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from lengthwise.figures.style import GREY, PALETTE, title_lines, whole_axis, wrapping_legend
from lengthwise.figures.waterfall import Terms, waterfall_rows
from lengthwise.records import Figure

ROWS = "rows"
_WIDTH = 400
_ABOVE = {"labelOrient": "top", "labelAnchor": "start", "labelAngle": 0}


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


def waterfall_figure(key: str, title: str, words: str, sums: Mapping[str, Terms], ceiling: float) -> Figure:
    """A waterfall of each sum, one above the other, with a dashed line at the ceiling."""
    rows = [
        {"sum": name, "order": order, "ceiling": ceiling, **row}
        for name, terms in sums.items()
        for order, row in enumerate(waterfall_rows(terms))
    ]
    bars = max((len(terms) for terms in sums.values()), default=0) + 1
    room = 1.2 * max([ceiling, *(row["to"] for row in rows)])
    y = {"field": "term", "type": "nominal", "title": None, "sort": {"field": "order", "op": "min"}}
    scale = {"domain": [0, room], "nice": False}
    kinds = {"domain": ["term", "total"], "range": PALETTE[:2]}
    to = {"field": "to", "type": "quantitative"}
    boxes = {
        "mark": {"type": "bar", "tooltip": True},
        "encoding": {
            "y": y,
            "x": {"field": "from", "type": "quantitative", "title": "risk", "scale": scale},
            "x2": {"field": "to"},
            "color": {"field": "kind", "type": "nominal", "legend": None, "scale": kinds},
        },
    }
    numbers = {
        "mark": {"type": "text", "align": "left", "dx": 4},
        "encoding": {"y": y, "x": to, "text": {"field": "value", "type": "quantitative", "format": ".3g"}},
    }
    line = {
        "mark": {"type": "rule", "strokeDash": [4, 4], "color": GREY},
        "encoding": {"x": {"field": "ceiling", "type": "quantitative", "aggregate": "max"}},
    }
    template = {
        "data": {"name": ROWS},
        "facet": {"row": {"field": "sum", "type": "nominal", "title": None, "sort": list(sums), "header": _ABOVE}},
        "spec": {"width": _WIDTH, "height": 26 * bars, "layer": [boxes, numbers, line]},
    }
    return Figure(key, template, {ROWS: rows}, title, words)
