"""What was measured over time as pictures: cluster numbers, energy, and the histogram of inner products.

They are drawn once, as SVG inside a page without scripts, which a phone shows at three quarters of its size. So they
are narrower than other charts and their letters larger. Their ink is that of the page, light or dark.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from lengthwise.figures.drawing import svg_of
from lengthwise.figures.style import PAGE_INK, PALETTE, alt, config, template_of, thinned, wrapping_legend
from lengthwise.reports.particles.simulation import FIXED_SCALE, THRESHOLD, Measures, Simulation

WIDTH, _FONT = 400, 13
_TIMES = 60  # columns of the histogram
_FRAME = re.compile(r'transform="translate\(([\d.]+),([\d.]+)\)"')


@dataclass(frozen=True)
class Chart:
    """A drawn chart with words for it. `left` is where its time axis begins, in its own units; its width is WIDTH."""

    title: str
    words: str
    drawing: str
    left: float


def charts(simulation: Simulation) -> list[Chart]:
    """The pictures below the sphere, all with the same axis of time."""
    found = [
        _drawn("Clusters in time", _cluster_words(simulation), _clusters(simulation), 200),
        _drawn("Order in time", _order_words(simulation), _order(simulation), 140),
    ]
    if simulation.measures.energy is not None:
        found.append(_drawn("Energy in time", _ENERGY_WORDS, _energy(simulation.measures.energy, simulation), 140))
    if simulation.points.shape[1] > 1:
        found.append(_drawn("Inner products in time", _HISTOGRAM_WORDS, _histogram(simulation.measures), 200))
    return found


_ENERGY_WORDS = (
    "The energy as a share of its greatest value, that of all tokens in one point. It is one over the cluster number "
    "N at kappa = beta; for V = I it never falls."
)
_HISTOGRAM_WORDS = (
    "The share of pairs of tokens by inner product: 1 is the same place, 0 a right angle, -1 the opposite place. "
    "Darker in the light and brighter in the dark is more, on a scale of square roots; blank is none."
)


def _cluster_words(simulation: Simulation) -> str:
    last = float(simulation.measures.times[-1])
    marks = [f"{mark.label} at t = {mark.time:.4g}" for mark in sorted(simulation.marks, key=lambda mark: mark.time)]
    within = [mark for mark in simulation.marks if mark.time <= last]
    text = (
        f"Groups are the components of the graph of inner products above {THRESHOLD:g}. N is "
        "the cluster number n² / Σ exp(κ(⟨x, y⟩ − 1)), in which near clusters count as less than two."
    )
    if marks:
        where = "vertical lines" if len(within) == len(marks) else "those within the picture as vertical lines"
        text += f" Times that theorems name ({where}): {'; '.join(marks)}."
    return text


def _clusters(simulation: Simulation) -> Any:
    measures = simulation.measures
    series = {"groups": measures.components, f"N, κ = {FIXED_SCALE:g}": measures.fixed}
    if measures.own is not None and simulation.beta != FIXED_SCALE:
        series[f"N, κ = β = {simulation.beta:g}"] = measures.own
    rows = [
        {"time": float(time), "value": float(value), "series": name}
        for name, values in series.items()
        for time, value in zip(measures.times, values, strict=True)
    ]
    look = {"scale": alt.Scale(domain=list(series)), "legend": wrapping_legend(series, symbolType="stroke")}
    upward = alt.Scale(type="log", nice=False, domainMin=1)
    lines = alt.Chart(alt.Data(values=rows)).mark_line(strokeWidth=2)
    lines = lines.encode(
        x=_time_axis(measures),
        y=alt.Y("value:Q", title="clusters", scale=upward, axis=alt.Axis(tickCount=5, format="~g")),
        color=alt.Color("series:N", **look),
        strokeDash=alt.StrokeDash("series:N", **look),
    )
    within = [mark for mark in simulation.marks if mark.time <= measures.times[-1]]
    if not within:
        return lines
    data = alt.Chart(alt.Data(values=[{"time": mark.time, "label": mark.label} for mark in within]))
    rules = data.mark_rule(strokeDash=[2, 3], color=PAGE_INK).encode(x="time:Q")
    text = data.mark_text(align="left", dx=4, baseline="top", fontSize=_FONT)
    labels = text.encode(x="time:Q", y=alt.value(2), text="label:N")
    return alt.layer(lines, rules, labels)


def _order_words(simulation: Simulation) -> str:
    text = "The order parameter r, the length of the mean of all tokens: 1 is one point, 0 is spread about evenly."
    if simulation.predicted_order is None:
        return text
    return f"{text} Dashed: {simulation.predicted_order:.3g}, what theory predicts for infinitely many tokens."


def _order(simulation: Simulation) -> Any:
    line = _share_line(simulation.measures.order, simulation, "r")
    if simulation.predicted_order is None:
        return line
    rule = alt.Chart(alt.Data(values=[{"value": simulation.predicted_order}]))
    return alt.layer(line, rule.mark_rule(strokeDash=[5, 4], color=PAGE_INK).encode(y="value:Q"))


def _energy(energy: np.ndarray, simulation: Simulation) -> Any:
    return _share_line(energy, simulation, "share of greatest")


def _share_line(values: np.ndarray, simulation: Simulation, title: str) -> Any:
    """A line between 0 and 1 over time."""
    measures = simulation.measures
    rows = [{"time": float(t), "value": float(v)} for t, v in zip(measures.times, values, strict=True)]
    line = alt.Chart(alt.Data(values=rows)).mark_line(strokeWidth=2, color=PALETTE[0])
    return line.encode(x=_time_axis(measures), y=alt.Y("value:Q", title=title, scale=alt.Scale(domain=[0, 1])))


def _histogram(measures: Measures) -> Any:
    """Rectangles without gaps: each moment reaches to the next one shown."""
    places = thinned(range(len(measures.times)), _TIMES + 1)
    edges = np.linspace(-1, 1, measures.shares.shape[1] + 1)
    rows = [
        {
            "from": float(measures.times[here]),
            "to": float(measures.times[after]),
            "low": round(float(edges[cell]), 3),
            "high": round(float(edges[cell + 1]), 3),
            "share": float(share),
        }
        for here, after in itertools.pairwise(places)
        for cell, share in enumerate(measures.shares[here])
        if share > 0
    ]
    return alt.Chart(alt.Data(values=rows), mark=alt.MarkDef("rect", color=PAGE_INK)).encode(
        x=_time_axis(measures, "from"),
        x2="to:Q",
        y=alt.Y("low:Q", title="inner product", scale=alt.Scale(domain=[-1, 1], nice=False)),
        y2="high:Q",
        opacity=alt.Opacity("share:Q", scale=alt.Scale(type="sqrt", domain=[0, 1], range=[0.05, 1]), legend=None),
    )


def _time_axis(measures: Measures, column: str = "time") -> Any:
    span = [float(measures.times[0]), float(measures.times[-1])]
    return alt.X(f"{column}:Q", title="time", scale=alt.Scale(domain=span, nice=False), axis=alt.Axis(tickCount=6))


def _drawn(title: str, words: str, chart: Any, height: int) -> Chart:
    """The chart as SVG that takes its ink from the page, and where its axis of time begins."""
    style = config(PAGE_INK)
    style["axis"] |= {"labelFontSize": _FONT, "titleFontSize": _FONT}
    style["legend"] |= {"labelFontSize": _FONT, "titleFontSize": _FONT}
    # One width of labels on the left, so that the axes of time lie below each other.
    style["axisY"] = {"minExtent": 48, "maxExtent": 48}
    spec = {**template_of(chart.properties(width=WIDTH, height=height)), "config": style}
    # A style attribute is not allowed by the page's policy, and Vega uses one for the pointer alone.
    svg = re.sub(r' style="[^"]*"', "", svg_of(spec))
    found = _FRAME.search(svg)
    left, top = (float(found[1]), float(found[2])) if found else (0.0, 0.0)
    cursor = f'<line class="cursor" x1="{left:g}" x2="{left:g}" y1="{top:g}" y2="{top + height:g}"/>'
    return Chart(title, words, svg.replace("</svg>", f"{cursor}</svg>"), left)
