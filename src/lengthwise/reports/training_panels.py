"""Training curves: the loss and the share of in-range items right by step, a line a run, of as many runs as can be
told apart."""

from __future__ import annotations

from typing import Any, Literal

from lengthwise.figures.layout import whole_axis
from lengthwise.reports.content import Content
from lengthwise.reports.figure import Figure, coloured_by_encoding, template_of, thinned
from lengthwise.studies.record import RunRecord

MOST_LINES = 240
MOST_STEPS = 60

Measure = Literal["loss", "share"]
_TITLES: dict[Measure, str] = {"loss": "training loss", "share": "in-range items right"}


def drawn_runs(content: Content) -> list[RunRecord]:
    """The finished runs whose training is drawn: all; else the first seed of each cell; else some of these."""
    done = [run for cell in content.cells for run in cell.done]
    if len(done) <= MOST_LINES:
        return done
    return thinned([cell.done[0] for cell in content.cells if cell.done], MOST_LINES)


def training_panels(content: Content) -> list[Figure]:
    """Two panels a row of the study: loss, and share right."""
    runs = {run.key for run in drawn_runs(content)}
    templates = {measure: _template(content, measure) for measure in _TITLES}
    panels = []
    for place, row in enumerate(content.rows):
        chosen = [run for cell in content.row_cells(row).values() for run in cell.done if run.key in runs]
        for measure, title in _TITLES.items():
            data = [point for run in chosen for point in _points(run, measure)]
            if data:
                name = f"training-{measure}-{place + 1}-{row.label}"
                words = f"{title.capitalize()} by step for {row.label}, a line a run, coloured by encoding."
                panels.append(
                    Figure(
                        name, f"training {measure}", f"{row.label}: {title}", words, templates[measure], {"steps": data}
                    )
                )
    return panels


def _points(run: RunRecord, measure: Measure) -> list[dict[str, Any]]:
    entries = thinned(run.losses if measure == "loss" else run.checks, MOST_STEPS)
    if measure == "loss":
        entries = [(step, value) for step, value in entries if value > 0]  # the axis is logarithmic
    return [
        {"encoding": run.position, "run": run.key, "seed": run.seed, "step": step, "value": float(value)}
        for step, value in entries
    ]


def _template(content: Content, measure: Measure) -> dict[str, Any]:
    import altair as alt

    colour, dash = coloured_by_encoding(content.encodings)
    picked = alt.selection_point(name="picked", fields=["encoding"], bind="legend")
    hidden = alt.param(name="hidden", value=[])
    scale = alt.Scale(type="log", nice=False) if measure == "loss" else alt.Scale(domain=[0, 1])
    axis = alt.Axis(tickCount=5) if measure == "loss" else alt.Axis(format="%", tickCount=5)
    base = (
        alt.Chart(alt.NamedData("steps"))
        .transform_filter("indexof(hidden, datum.encoding) < 0")
        .encode(
            x=alt.X("step:Q", title="training step", axis=whole_axis(tickCount=5)),
            y=alt.Y("value:Q", title=_TITLES[measure], scale=scale, axis=axis),
            color=colour,
            detail="run:N",
        )
    )
    hover = [
        alt.Tooltip("encoding:N"),
        alt.Tooltip("seed:Q"),
        alt.Tooltip("step:Q"),
        alt.Tooltip("value:Q", title=_TITLES[measure], format=".3g" if measure == "loss" else ".1%"),
    ]
    lines = base.mark_line(strokeWidth=1.4, strokeJoin="round").encode(
        strokeDash=dash, opacity=alt.condition(picked, alt.value(0.9), alt.value(0.06))
    )
    points = base.mark_point(size=40, filled=True).encode(opacity=alt.value(0), tooltip=hover)
    layers = alt.layer(lines.add_params(picked), points).add_params(hidden)
    return template_of(layers.properties(width=340, height=170))
