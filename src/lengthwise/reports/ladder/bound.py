"""The bound of Kantorovich beside the measured risk: its terms for a chosen model, and how loose it is over all."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median
from typing import Any

from lengthwise.bounds.risk import RiskBound
from lengthwise.figures.waterfall import waterfall_rows
from lengthwise.findings.bound import BoundFinding, BoundPoint
from lengthwise.inspection.content import Table
from lengthwise.reports.figure import Figure, template_of
from lengthwise.reports.ladder.models import model_name
from lengthwise.reports.ladder.section import Choice, Panel, Section

MEASURED, BOUND = "measured risk", "bound"
WHICH = {
    "supposed": "supposed, from the steepest slope seen in training",
    "certified": "certified",
}
_COLOURS = {"term": "#0072B2", "total": "#D55E00", "measured": "#009E73"}


def bound_section(result: BoundFinding) -> Section | None:
    """The waterfall with its menus, and the table; None where nothing could be bounded."""
    if not result.points:
        return None
    drawn = _farthest(result.points)
    models = tuple((name, name) for name in dict.fromkeys(_model(point) for point in drawn))
    axes = tuple((axis, axis) for axis in dict.fromkeys(point.axis for point in drawn))
    rows = [row for point in drawn for which in WHICH for row in _rows(point, which)]
    choices = (
        Choice("model", "Model", models, shows=False),
        Choice("axis", "Farthest level of", axes, shows=False),
        Choice("which", "Bound", tuple(WHICH.items()), shows=False),
    )
    words = "The terms of the bound of the risk as bars that follow each other, their sum, and the measured risk."
    template = _template(choices, _longest(drawn))
    figure = Figure("bound", "bound", "The bound, term by term", words, template, {"terms": rows})
    text = (
        "By Kantorovich the risk at a level is at most the risk in training plus a Lipschitz constant times W1 (in "
        f"the {result.metric} metric), plus what sampling adds. The certified constant holds for every model, and a "
        "sum of 1 or more says nothing. The supposed bound would hold if no slope were steeper than the steepest seen "
        "among held-out items of training. The dashed line is 1, which no risk exceeds.",
        *result.missing,
    )
    several = len({point.seed for point in result.points}) > 1
    note = "Of several seeds the menu shows the first; the table is over all." if several else ""
    claims = tuple(result.claims())
    return Section(
        "bound",
        "The bound beside the measured risk",
        "Bound",
        (*text, *((note,) if note else ())),
        choices,
        (Panel(figure),),
        tables=(_table(result.points),),
        claims=claims,
    )


def _farthest(points: Sequence[BoundPoint]) -> list[BoundPoint]:
    """The last level of every axis, for the first seed of each configuration."""
    seeds: dict[Any, int] = {}
    last: dict[tuple[Any, str], BoundPoint] = {}
    for point in points:
        if seeds.setdefault(point.configuration, point.seed) == point.seed:
            last[point.configuration, point.axis] = point  # levels come in the order of the ladder
    return list(last.values())


def _model(point: BoundPoint) -> str:
    return f"{point.configuration[0]}: {model_name(point.configuration)}"


def _rows(point: BoundPoint, which: str) -> list[dict[str, Any]]:
    """The bars of one bound; none where a term has no number."""
    bound: RiskBound = getattr(point, which)
    if bound.missing or not all(math.isfinite(term.value) for term in bound.terms):
        return []
    held = {"model": _model(point), "axis": point.axis, "which": which, "level": point.level}
    bars = waterfall_rows([(term.name, max(0.0, term.value)) for term in bound.terms], BOUND)
    hows = {term.name: term.how for term in bound.terms}
    measured = {"term": MEASURED, "value": point.measured, "from": 0.0, "to": point.measured, "kind": "measured"}
    bars = [*bars, measured]
    return [
        {
            **held,
            **bar,
            "how": hows.get(bar["term"], ""),
            "order": order,
            "ceiling": bound.ceiling,
            "room": 1.12 * bar["to"],
        }
        for order, bar in enumerate(bars)
    ]


def _longest(points: Sequence[BoundPoint]) -> int:
    """The most bars of a bound."""
    return 2 + max(max(len(point.supposed.terms), len(point.certified.terms)) for point in points)


def _template(choices: Sequence[Choice], bars: int) -> dict[str, Any]:
    import altair as alt

    parameters = [alt.param(name=choice.name, value=choice.options[0][0]) for choice in choices]
    chosen = " && ".join(f"datum.{choice.name} == {choice.name}" for choice in choices)
    base = alt.Chart(alt.NamedData("terms")).transform_filter(chosen)
    y = alt.Y("term:N", title=None, sort=alt.EncodingSortField("order"), axis=alt.Axis(labelLimit=190))
    x = alt.X("from:Q", title="risk", scale=alt.Scale(domainMin=0, nice=False))
    colour = alt.Color("kind:N", scale=alt.Scale(domain=list(_COLOURS), range=list(_COLOURS.values())), legend=None)
    told = [
        alt.Tooltip("term:N"),
        alt.Tooltip("value:Q", format=".4g"),
        alt.Tooltip("level:N"),
        alt.Tooltip("how:N", title="how it came about"),
    ]
    boxes = base.mark_bar().encode(y=y, x=x, x2="to:Q", color=colour, tooltip=told)
    labels = base.mark_text(align="left", dx=4).encode(y=y, x="to:Q", text=alt.Text("value:Q", format=".3g"))
    ceiling = base.mark_rule(strokeDash=[4, 4], color="#888888").encode(x=alt.X("ceiling:Q", aggregate="max"))
    room = base.mark_point(opacity=0).encode(x="room:Q")  # for the number behind the longest bar
    chart = alt.layer(boxes, labels, ceiling, room).add_params(*parameters)
    return template_of(chart.properties(width=560, height=28 * bars))


def _table(points: Sequence[BoundPoint]) -> Table:
    """How loose the bounds are, by task and axis."""
    groups: dict[tuple[str, str], list[BoundPoint]] = {}
    for point in points:
        groups.setdefault((point.configuration[0], point.axis), []).append(point)
    rows = []
    for (task, axis), group in groups.items():
        rows.append(
            (
                task,
                axis,
                len(group),
                _median([point.measured for point in group]),
                _median([point.supposed.total for point in group]),
                _median([point.looseness for point in group]),
                sum(point.broken for point in group),
                sum(point.broken_beyond_chance for point in group),
                _median([point.certified.total for point in group]),
                sum(point.certified.status == "vacuous" for point in group),
            )
        )
    columns = (
        "task", "levels of", "bounds", "measured", "supposed", "supposed − measured", "exceeded", "beyond chance",
        "certified", "vacuous",
    )  # fmt: skip
    note = (
        "Medians over models and levels, as shares. Exceeded: how often the measured risk is above the supposed bound, "
        "which is then no bound; vacuous: how many certified bounds are 1 or more and say nothing."
    )
    return Table("How loose the bounds are", columns, tuple(rows), note)


def _median(values: Sequence[float]) -> float | None:
    known = [value for value in values if math.isfinite(value)]
    return round(median(known), 4) if known else None
