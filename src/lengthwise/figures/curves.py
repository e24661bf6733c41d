"""Accuracy by size, one line per run: the training range is shaded, chance is dotted, 95 % is dashed.

The input is what `Curve.plain()` gives, so that a figure can be drawn from a stored file as from a fresh measurement.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lengthwise.figures.chart_files import save_chart
from lengthwise.figures.drawing import svg_of
from lengthwise.figures.style import DASHES, GREY, PALETTE, alt, ends_of, hover, whole_axis, wrapping_legend

_WORDS = (
    "Exact match by size with 95\u00a0% Wilson intervals. Grey: the sizes trained on; dashed: 95\u00a0%; dotted: the "
    "best guess that ignores the input. Hover for figures; the links below the figure save it."
)


def curve_chart(curves: Sequence[Mapping[str, Any]], title: str = "", width: int = 460, height: int = 240) -> Any:
    """An altair chart of exact match by size, a line and an interval band for each curve.

    Curves of one task at several encodings are named by their encoding; several seeds of one encoding by their seed.
    """
    names = _names(curves)
    rows = [
        {
            "run": name,
            **{key: point[key] for key in ("size", "exact", "token", "items", "chance")},
            "low": point["exact_interval"][0],
            "high": point["exact_interval"][1],
        }
        for name, curve in zip(names, curves, strict=True)
        for point in curve["points"]
    ]
    smallest = min(row["size"] for row in rows)
    x = alt.X("size:Q", title="size", scale=alt.Scale(nice=False, zero=False), axis=whole_axis())
    y = alt.Y("exact:Q", title="exact match", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format="%"))
    shown = list(dict.fromkeys(names))
    color, dash = (
        channel(
            "run:N",
            legend=wrapping_legend(shown, symbolType="stroke") if len(shown) > 1 else None,
            sort=shown,
            scale=alt.Scale(domain=shown, range=[looks[place % len(looks)] for place in range(len(shown))]),
        )
        for channel, looks in ((alt.Color, PALETTE), (alt.StrokeDash, DASHES))
    )
    exact, token = ("exact:Q", "exact match", ".1%"), ("token:Q", "token accuracy", ".1%")
    told = hover("run:N", "size:Q", exact, *ends_of(".1%", "95 % "), token, "items:Q")
    base = alt.Chart(alt.Data(values=rows))
    lines = base.mark_line(point=alt.OverlayMarkDef(size=12), strokeWidth=2, strokeJoin="round")
    lines = lines.encode(x=x, y=y, color=color, strokeDash=dash, tooltip=told)
    band = base.mark_area(opacity=0.18).encode(x=x, y="low:Q", y2="high:Q", color=color)
    chance = base.mark_line(strokeDash=[1, 3], strokeWidth=1, color=GREY).encode(x="size:Q", y="mean(chance):Q")
    furthest = max(curve["train_size"] for curve in curves)
    trained = [{"from": smallest, "to": furthest, "label": "trained"}] if furthest else []
    shade = alt.Chart(alt.Data(values=trained)).mark_rect(color=GREY, opacity=0.13).encode(x="from:Q", x2="to:Q")
    label = (
        alt.Chart(alt.Data(values=trained))
        .mark_text(align="left", baseline="bottom", dx=3, dy=-3, fontSize=10, color=GREY)
        .encode(x="from:Q", y=alt.value(height), text="label:N")
    )
    line95 = alt.Chart(alt.Data(values=[{"y": 0.95}])).mark_rule(strokeDash=[4, 4], color=GREY).encode(y="y:Q")
    layers = alt.layer(shade, band, line95, chance, lines, label)
    return layers.properties(width=width, height=height, title=title or _title(curves))


def curve_svg(curves: Sequence[Mapping[str, Any]], title: str = "") -> str:
    """The figure as SVG text, drawn without a browser."""
    return svg_of(curve_chart(curves, title).to_json())


def save_figure(path: Path, curves: Sequence[Mapping[str, Any]], title: str = "") -> None:
    """Write the figure as .svg, .png or .html, by the file's ending."""
    save_chart(path, curve_chart(curves, title), "Accuracy by size", [_WORDS])


def _names(curves: Sequence[Mapping[str, Any]]) -> list[str]:
    """A short name for each curve: what sets it apart from the others."""
    texts = {"task": "{}", "position": "{}", "train_size": "trained to {}", "seed": "seed {}"}
    keys = [key for key in texts if len({curve[key] for curve in curves}) > 1] or ["position"]
    return [", ".join(texts[key].format(curve[key]) for key in keys) for curve in curves]


def _title(curves: Sequence[Mapping[str, Any]]) -> str:
    tasks = {curve["task"] for curve in curves}
    positions = {curve["position"] for curve in curves}
    task = tasks.pop() if len(tasks) == 1 else f"{len(tasks)} tasks"
    return f"{task}, position {min(positions)}" if len(positions) == 1 and positions != {""} else task
