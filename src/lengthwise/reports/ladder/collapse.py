"""Inside the models: which different stacks share a state, how many directions states fill, how attention spreads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lengthwise.figures.layout import whole_axis, wrapping_legend
from lengthwise.findings.collapse import Collapse, Stratum
from lengthwise.reports.figure import Figure, template_of
from lengthwise.reports.ladder.looks import encoding_colour
from lengthwise.reports.ladder.models import layers_text
from lengthwise.reports.ladder.section import Choice, Panel, Section

MEASURES = {
    "shared": ("shared states", "share of pairs of stacks"),
    "rank": ("effective rank", "effective rank of the states"),
    "entropy": ("attention entropy", "share of the largest entropy"),
}
TRAINING = "training"


def collapse_section(result: Collapse, encodings: Sequence[str]) -> Section | None:
    """A panel a task and measure: by layer, training beside the farthest level of the first axis."""
    strata = _widest(result.strata)
    if not strata:
        return None
    panels, options = [], []
    for measure, (title, unit) in MEASURES.items():
        template = _template(measure, unit, encodings)
        found = []
        for number, task in enumerate(dict.fromkeys(row.configuration[0] for row in strata)):
            rows = _rows([row for row in strata if row.configuration[0] == task], measure)
            if rows:
                words = f"{title.capitalize()} by layer for {task}, in training and at the farthest level."
                name = f"collapse-{measure}-{number + 1}-{task}"
                figure = Figure(name, f"collapse, {measure}", task, words, template, {"layers": rows})
                found.append(Panel(figure, measure))
        if found:
            panels += found
            options.append((measure, title))
    text = (
        "The residual stream where a push or a pop ends, by layer (0 is the embedding), of the widest model of each "
        "encoding and number of layers. Solid: training; dashed: the farthest level of depth. Shared states: pairs of "
        "places of one trace with the same token and different stacks whose states point the same way (cosine 0.99 or "
        "more), as a share of all such pairs; nothing is shown where no trace has such a pair. Attention entropy: 100 "
        "% is attention spread evenly over all that can be seen.",
    )
    choices = (Choice("inside", "Shown", tuple(options)),) if len(options) > 1 else ()
    title = "Collapse by layer"
    return Section("collapse", title, "Collapse", text, choices, tuple(panels), claims=result.changes, three=True)


def _widest(strata: Sequence[Stratum]) -> list[Stratum]:
    """Of each task, encoding and number of layers the widest model; of its levels training and the farthest depth."""
    widest: dict[tuple[str, str, int], int] = {}
    axes: dict[str, str] = {}
    last: dict[str, int] = {}
    for row in strata:
        task, position, depth, width = row.configuration
        widest[task, position, depth] = max(width, widest.get((task, position, depth), 0))
        if row.axis != TRAINING and axes.setdefault(task, row.axis) == row.axis:
            last[task] = max(row.value, last.get(task, row.value))
    return [
        row
        for row in strata
        if row.configuration[3] == widest[row.configuration[:3]]
        and (
            row.axis == TRAINING or (row.axis == axes[row.configuration[0]] and row.value == last[row.configuration[0]])
        )
    ]


def _rows(strata: Sequence[Stratum], measure: str) -> list[dict[str, Any]]:
    rows = []
    for row in strata:
        value = getattr(row, measure)
        if value is None:
            continue
        _, position, depth, width = row.configuration
        rows.append(
            {
                "encoding": position,
                "model": f"{position}, {layers_text(depth)}, width {width}",
                "level": row.level,
                "where": TRAINING if row.axis == TRAINING else "farthest level",
                "layer": row.layer,
                "value": float(value),
            }
        )
    return rows


def _template(measure: str, unit: str, encodings: Sequence[str]) -> dict[str, Any]:
    import altair as alt

    domain = alt.Scale(zero=True) if measure == "rank" else alt.Scale(domain=[0, 1])
    axis = alt.Axis(tickCount=5) if measure == "rank" else alt.Axis(format="%", tickCount=5)
    names = [TRAINING, "farthest level"]
    legend = wrapping_legend(names, symbolType="stroke", offset=8)
    scale = alt.Scale(domain=names, range=[[1, 0], [4, 3]])
    base = alt.Chart(alt.NamedData("layers")).encode(
        x=alt.X("layer:Q", title="after layer", axis=whole_axis(grid=False)),
        y=alt.Y("value:Q", title=unit, scale=domain, axis=axis),
        color=encoding_colour(encodings),
        detail="model:N",
    )
    told = [
        alt.Tooltip("model:N"),
        alt.Tooltip("level:N"),
        alt.Tooltip("layer:Q", title="after layer"),
        alt.Tooltip("value:Q", title=unit, format=".3g" if measure == "rank" else ".1%"),
    ]
    lines = base.mark_line(strokeWidth=1.6, opacity=0.8).encode(
        strokeDash=alt.StrokeDash("where:N", scale=scale, legend=legend)
    )
    points = base.mark_point(filled=True, size=28, opacity=0.8).encode(tooltip=told)
    return template_of(alt.layer(lines, points).properties(width=330, height=200))
