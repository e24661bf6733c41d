"""The first picture: risk against the distance from training, an isotonic line a configuration."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lengthwise.figures.layout import title_lines
from lengthwise.findings.evidence import Evidence
from lengthwise.findings.grouping import LEARNED
from lengthwise.findings.monotone import ALL_AXES, Monotone
from lengthwise.findings.trend import Trend
from lengthwise.inspection.content import Table
from lengthwise.reports.figure import Figure, template_of
from lengthwise.reports.ladder.looks import encoding_colour, layers_dash
from lengthwise.reports.ladder.models import layers_of, layers_text, model_name, tasks_of
from lengthwise.reports.ladder.section import Choice, Panel, Section

METRIC = "metric"
_LEARNED, _NOT_LEARNED = 1.6, 0.6  # how thick a line is


def risk_section(evidence: Evidence, results: Sequence[Monotone], encodings: Sequence[str]) -> Section:
    """A panel a task and metric; the reader chooses the metric."""
    together = [result for result in results if result.axis == ALL_AXES]
    panels = [Panel(figure, result.metric) for result in together for figure in _figures(evidence, result, encodings)]
    options = tuple((result.metric, result.metric) for result in together)
    text = (
        "Each line is one configuration: the rising curve nearest to its risk at every level (isotonic regression, "
        "seeds averaged), against how far that level lies from training. Risk is the mean share of wrong tokens, the "
        "true trace so far being given. Configurations that did not learn their range (a risk above "
        f"{LEARNED:g} there) are drawn thin and not judged. Grey: as far as two samples of training are apart by "
        "chance. Hover over a line or a point to see which model and level it belongs to.",
    )
    choices = (Choice(METRIC, "Distance measured by", options),) if len(options) > 1 else ()
    tables = (_counts(results),)
    title = "Risk against the distance from training"
    return Section("risk", title, "Risk", text, choices, tuple(panels), details=tables, three=True)


def _figures(evidence: Evidence, result: Monotone, encodings: Sequence[str]) -> list[Figure]:
    """The panels of one metric, which share their template and the scale of the risk."""
    highest = max((max(trend.risk) for trend in result.trends if trend.risk), default=1.0)
    template = _template(result.unit, highest, encodings, layers_of(evidence))
    found = []
    for place, task in enumerate(tasks_of(evidence)):
        trends = [trend for trend in result.trends if trend.configuration[0] == task and trend.names]
        if not trends:
            continue
        words = (
            f"Risk against the distance from training of {task} by {result.metric}: {len(trends)} configurations, "
            f"{sum(trend.learned for trend in trends)} of them learned their range, and of these "
            f"{sum(bool(trend.monotone) for trend in trends)} are called monotone."
        )
        data = {
            "null": _null(evidence, task, result.metric),
            "points": [row for trend in trends for row in _rows(trend, trend.risk)],
            "lines": [row for trend in trends for row in _rows(trend, trend.fitted)],
        }
        name = f"risk-{result.metric}-{place + 1}-{task}"
        found.append(Figure(name, f"risk, {result.metric}", task, words, template, data))
    return found


def _null(evidence: Evidence, task: str, metric: str) -> list[dict[str, Any]]:
    """The band from 0 to the largest null of a level."""
    nulls = [shift.null for shift in evidence.shift_of(task, metric).values()]
    return [{"from": 0.0, "to": max(nulls), "what": "two samples of training"}] if nulls else []


def _rows(trend: Trend, values: Sequence[float]) -> list[dict[str, Any]]:
    _, position, depth, _ = trend.configuration
    unjudged = "not judged" if trend.learned else "not judged: not learned in range"
    verdict = {True: "monotone", False: "not monotone", None: unjudged}[trend.monotone]
    held = {
        "encoding": position,
        "layers": layers_text(depth),
        "configuration": model_name(trend.configuration),
        "rho": "–" if trend.rho is None else f"{trend.rho:.2f}",
        "verdict": verdict,
        "thickness": _LEARNED if trend.learned else _NOT_LEARNED,
    }
    levels = zip(trend.names, trend.w1, values, strict=True)
    return [{**held, "level": level, "w1": w1, "risk": float(value)} for level, w1, value in levels]


def _template(unit: str, highest: float, encodings: Sequence[str], layers: Sequence[int]) -> dict[str, Any]:
    import altair as alt

    hovered = alt.selection_point(
        name="hovered", fields=["configuration"], on="pointerover", clear="pointerout", empty=False
    )
    x = alt.X(
        "w1:Q", title=title_lines(f"W1 from training ({unit})"), scale=alt.Scale(zero=True, nice=False, padding=6)
    )
    scale = alt.Scale(domain=[0, min(1.0, 1.05 * highest) or 1.0])
    y = alt.Y("risk:Q", title="risk (share of wrong tokens)", scale=scale, axis=alt.Axis(format="%", tickCount=5))
    band = (
        alt.Chart(alt.NamedData("null"))
        .mark_rect(color="#888888", opacity=0.2)
        .encode(x=alt.X("from:Q"), x2="to:Q", tooltip=[alt.Tooltip("what:N"), alt.Tooltip("to:Q", format=".3g")])
    )
    colour, dash = encoding_colour(encodings), layers_dash(layers)
    told = [
        alt.Tooltip("configuration:N", title="model"),
        alt.Tooltip("level:N"),
        alt.Tooltip("w1:Q", title="W1", format=".3g"),
        alt.Tooltip("risk:Q", format=".1%"),
        alt.Tooltip("rho:N", title="Spearman, all levels"),
        alt.Tooltip("verdict:N"),
    ]
    points = (
        alt.Chart(alt.NamedData("points"))
        .mark_point(filled=True, size=14)
        .encode(
            x=x,
            y=y,
            color=colour,
            opacity=alt.condition(hovered, alt.value(0.9), alt.value(0.16)),
            tooltip=told,
        )
    )
    base = alt.Chart(alt.NamedData("lines")).encode(x=x, y=y, color=colour, detail="configuration:N")
    lines = base.mark_line(strokeJoin="round").encode(
        strokeDash=dash,
        opacity=alt.condition(hovered, alt.value(1.0), alt.value(0.6)),
        strokeWidth=alt.condition(hovered, alt.value(3.5), alt.StrokeWidth("thickness:Q", legend=None, scale=None)),
    )
    # A thin line is hard to hit: points that cannot be seen lie on it.
    grips = base.mark_point(filled=True, size=120, opacity=0).encode(tooltip=told)
    return template_of(alt.layer(band, lines.add_params(hovered), grips, points).properties(width=330, height=210))


def _counts(results: Sequence[Monotone]) -> Table:
    """How many configurations are monotone by each metric and axis, beside the shuffled control."""
    rows = []
    for result in results:
        control = result.control
        shuffled = "–" if control is None else f"{control.mean:.1f} (95 %: {control.quantile:g} or fewer)"
        p_value = None if control is None else control.p_value
        rows.append(
            (result.metric, result.axis, f"{result.count} of {result.judged}", result.rising, shuffled, p_value)
        )
    columns = ("metric", "levels of", "monotone", "rising at all", "monotone if shuffled", "p")
    note = (
        "The control shuffles the distances among the levels of a task; p is the share of shuffles in which as many "
        "configurations come out monotone."
    )
    return Table("Monotone configurations by metric and axis", columns, tuple(rows), note)
