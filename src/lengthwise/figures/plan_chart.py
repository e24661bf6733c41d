"""What a training run could guarantee, as a map: parameters across, tokens per parameter upward, coloured by the gap.

Plain data in: `edges` as `lengthwise.bounds.plan.edges` gives them.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

from lengthwise.figures import design
from lengthwise.figures.style import GREY, PALETTE, PAPER_INK, alt

# One hue from light to dark, so that the order is seen without telling colours apart; grey is where nothing is said.
SHADES = design.series("blue", 5)
VACUOUS, INK, POINT = design.value("line"), PAPER_INK, PALETTE[1]
WIDE, HIGH = 560, 330
_LAST_LABEL = 0.7  # of the width: a narrow picture has no room for the labels beyond
_COUNTS = "replace(format(datum.value, '~s'), 'G', 'B')"


def plan_chart(
    edges: Sequence[Mapping[str, Any]], point: Mapping[str, Any], line: float, title: str, subtitle: Sequence[str]
) -> Any:
    """The map. The highest level is that at which a bound says nothing; `point` has params, ratio and a label."""
    levels = sorted({row["level"] for row in edges}, reverse=True)
    top, bottom = _range([row["ratio"] for row in edges], point["ratio"], line)
    sizes = sorted({row["params"] for row in edges})
    x = alt.X("params:Q", title="parameters", **_powers_of_ten(sizes[0], sizes[-1]))
    y = alt.Y("low:Q", title="training tokens per parameter", **_powers_of_ten(bottom, top))
    layers = [_band(band, x, y, line) for band in _bands(edges, levels, bottom, top)]
    layers += [_constant_tokens(sizes, bottom, top), _compute_optimal(line, sizes), *_own(point, sizes)]
    soft = design.value("soft")
    heading = alt.TitleParams(title, subtitle=list(subtitle), anchor="start", subtitleColor=soft, fontSize=15)
    drawn = alt.layer(*layers).properties(width=WIDE, height=HIGH, title=heading, background="white", padding=12)
    return drawn.configure_axis(grid=False, labelFontSize=12, titleFontSize=13, labelColor=INK, titleColor=INK)


def _range(ratios: Sequence[float | None], own: float, line: float) -> tuple[float, float]:
    """From which to which ratio the map goes: all edges, the point and the line are inside."""
    known = [ratio for ratio in ratios if ratio is not None] + [own, line]
    return 10 ** math.ceil(math.log10(max(known) * 1.6)), 10 ** math.floor(math.log10(min(known) / 1.6))


def _powers_of_ten(low: float, high: float) -> dict[str, Any]:
    """The scale and the axis between two numbers, with a tick at each power of ten."""
    powers = range(math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9) + 1)
    axis = alt.Axis(labelExpr=_COUNTS, values=[10.0**n for n in powers])
    return {"scale": alt.Scale(type="log", domain=[low, high], nice=False), "axis": axis}


def _bands(
    edges: Sequence[Mapping[str, Any]], levels: Sequence[float], bottom: float, top: float
) -> list[dict[str, Any]]:
    """From bottom to top: nothing is said, then one band between two levels each, then below the last level."""
    by_level = {level: {r["params"]: r["ratio"] or top for r in edges if r["level"] == level} for level in levels}
    sizes = sorted({row["params"] for row in edges})
    floors = [dict.fromkeys(sizes, bottom), *(by_level[level] for level in levels)]
    ceilings = [*floors[1:], dict.fromkeys(sizes, top)]
    words = ["vacuous: no better than chance", *(f"gap {a:.3g} to {b:.3g} nats" for a, b in itertools.pairwise(levels))]
    words.append(f"gap below {levels[-1]:.3g} nats")
    shades = [VACUOUS, *SHADES[len(SHADES) - len(levels) :]]
    found = []
    for low, high, text, shade in zip(floors, ceilings, words, shades, strict=True):
        ends = {n: [min(top, max(bottom, end[n])) for end in (low, high)] for n in sizes}
        rows = [{"params": n, "low": start, "high": stop} for n, (start, stop) in ends.items()]
        found.append({"rows": rows, "text": text, "shade": shade})
    return found


def _band(band: Mapping[str, Any], x: Any, y: Any, line: float) -> Any:
    """An area and its words, which keep out of the way of the line."""
    area = alt.Chart(alt.Data(values=band["rows"])).mark_area(color=band["shade"], line=False)
    area = area.encode(x=x, y=y, y2="high:Q")
    at = band["rows"][round(0.03 * len(band["rows"]))]
    tall = at["high"] / at["low"]
    if math.log10(tall) < 0.06:  # too thin for a word
        return area
    places = [at["low"] * tall**share for share in (0.5, 0.28, 0.72)]
    middle = max(places, key=lambda place: abs(math.log10(place / line)) > 0.12)
    dark = band["shade"] in SHADES[2:]
    label = alt.Chart(alt.Data(values=[{"params": at["params"], "low": middle, "text": band["text"]}]))
    label = label.mark_text(align="left", fontSize=12, color="white" if dark else INK, baseline="middle")
    return alt.layer(area, label.encode(x=x, y=y, text="text:N"))


def _constant_tokens(sizes: Sequence[float], bottom: float, top: float) -> Any:
    """Thin lines along which the number of tokens is the same."""
    rows, names = [], []
    for power, name in ((9, "1B"), (11, "100B"), (13, "10T"), (15, "1000T")):
        tokens = 10.0**power
        ends = max(sizes[0], tokens / top), min(sizes[-1], tokens / bottom)
        if not 5 * sizes[0] <= tokens / top < sizes[-1]:  # a line that begins at the left would cross the words there
            continue
        rows += [{"params": n, "low": tokens / n, "name": name} for n in ends]
        at = ends[0] * 1.15
        last = math.log(at / sizes[0]) > _LAST_LABEL * math.log(sizes[-1] / sizes[0])
        names.append({"params": at, "low": tokens / at / 1.05, "name": f"{name} tokens", "last": last})
    lines = alt.Chart(alt.Data(values=rows)).mark_line(color=GREY, strokeWidth=0.9)
    lines = lines.encode(x="params:Q", y="low:Q", detail="name:N")
    shown = alt.expr("datum.last && width < 400 ? 0 : 1")
    words = alt.Chart(alt.Data(values=names)).mark_text(
        align="left", dx=8, dy=2, fontSize=10, color="white", opacity=shown
    )
    return alt.layer(lines, words.encode(x="params:Q", y="low:Q", text="name:N"))


def _compute_optimal(ratio: float, sizes: Sequence[float]) -> Any:
    rule = alt.Chart(alt.Data(values=[{"low": ratio, "params": sizes[-1], "text": f"{ratio:g} tokens per parameter"}]))
    line = rule.mark_rule(color=INK, strokeWidth=1.6, strokeDash=[6, 3]).encode(y="low:Q")
    words = rule.mark_text(align="right", dx=-6, dy=-8, fontSize=12, color=INK, fontStyle="italic")
    return alt.layer(line, words.encode(x="params:Q", y="low:Q", text="text:N"))


def _own(point: Mapping[str, Any], sizes: Sequence[float]) -> list[Any]:
    """The user's own run, with its label on the side where there is room."""
    row = {"params": point["params"], "low": point["ratio"], "text": point["label"]}
    left = math.log(point["params"] / sizes[0]) < 0.5 * math.log(sizes[-1] / sizes[0])
    base = alt.Chart(alt.Data(values=[row])).encode(x="params:Q", y="low:Q")
    dot = base.mark_point(filled=True, size=120, color=POINT, stroke="white", strokeWidth=1.5, opacity=1)
    style: dict[str, Any] = {"align": "left" if left else "right", "dx": 11 if left else -11, "fontSize": 13}
    style |= {"lineBreak": "\n", "lineHeight": 15}
    halo = base.mark_text(
        **style, dy=14, fontWeight="bold", color="white", stroke="white", strokeWidth=3, strokeJoin="round"
    )
    text = base.mark_text(**style, dy=14, fontWeight="bold", color=INK)
    return [dot, halo.encode(text="text:N"), text.encode(text="text:N")]
