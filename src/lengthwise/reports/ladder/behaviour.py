"""What the models do at every level: problems solved, traces valid, tokens right, and whether confidence is earned."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from lengthwise.findings.evidence import Climb, Evidence
from lengthwise.findings.grouping import by_configuration
from lengthwise.probes.ladder.levels import LevelPoint
from lengthwise.reports.figure import Figure, template_of
from lengthwise.reports.ladder.looks import encoding_colour, layers_dash
from lengthwise.reports.ladder.models import (
    layers_of,
    layers_text,
    level_names,
    mean_at,
    model_name,
    tasks_of,
)
from lengthwise.reports.ladder.reliability import RELIABILITY, reliability_panels
from lengthwise.reports.ladder.section import Choice, Panel, Section

MEASURES: dict[str, tuple[str, Callable[[LevelPoint], float]]] = {
    "solved": ("problems solved by its own writing", lambda point: point.solved / point.decoded),
    "valid": ("traces valid in every step", lambda point: point.valid / point.decoded),
    "token": ("tokens right, the true trace given", lambda point: point.token),
    "calibration": ("expected calibration error", lambda point: point.calibration.error),
}


def behaviour_section(evidence: Evidence, encodings: Sequence[str]) -> Section:
    """A panel a task and measure: by level, the widest model of each encoding and number of layers."""
    panels = []
    widest = _widest(evidence)
    for measure, (title, read) in MEASURES.items():
        template = _template(title, encodings, layers_of(evidence))
        for number, task in enumerate(tasks_of(evidence)):
            rows = [row for climbs in widest if climbs[0].task == task for row in _rows(climbs, read)]
            words = f"{title.capitalize()} at every level of {task}, a line an encoding and number of layers."
            name = f"levels-{measure}-{number + 1}-{task}"
            panels.append(Panel(Figure(name, f"levels, {measure}", task, words, template, {"levels": rows}), measure))
    panels += reliability_panels(evidence, encodings)
    options = (
        *((measure, title) for measure, (title, _) in MEASURES.items()),
        (RELIABILITY, "confidence and accuracy"),
    )
    settings = evidence.climbs[0].ladder.settings
    text = (
        f"The widest model of each encoding and number of layers, seeds averaged, at every level of the ladder: "
        f"{settings.items} items a level read with the true trace given, {settings.decoded} written freely. The "
        "calibration error is the mean gap between confidence and accuracy, by tenths of confidence.",
    )
    return Section(
        "levels", "What they do at every level", "Levels", text, (Choice("does", "Shown", options),), tuple(panels)
    )


def _widest(evidence: Evidence) -> list[list[Climb]]:
    """The seeds of the widest model of each task, encoding and number of layers."""
    found: dict[tuple[str, str, int], tuple[int, list[Climb]]] = {}
    for (task, position, depth, width), climbs in by_configuration(evidence.climbs).items():
        if width > found.get((task, position, depth), (0, []))[0]:
            found[task, position, depth] = (width, climbs)
    return [climbs for _, climbs in found.values()]


def _rows(climbs: Sequence[Climb], read: Callable[[LevelPoint], float]) -> list[dict[str, Any]]:
    points = {point.name: point for point in climbs[0].ladder.points}
    held = {
        "encoding": climbs[0].position,
        "layers": layers_text(climbs[0].depth),
        "model": model_name(climbs[0].configuration),
    }
    rows = []
    for name in level_names(climbs):
        value = mean_at(climbs, name, read)
        if value is not None:
            rows.append({**held, "level": name, "axis": points[name].axis, "value": value})
    return rows


def _template(title: str, encodings: Sequence[str], layers: Sequence[int]) -> dict[str, Any]:
    import altair as alt

    base = alt.Chart(alt.NamedData("levels")).encode(
        x=alt.X("level:N", title=None, sort=None, axis=alt.Axis(labelAngle=-70, labelOverlap=False, labelFontSize=10)),
        y=alt.Y("value:Q", title=title, scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format="%", tickCount=5)),
        color=encoding_colour(encodings),
    )
    told = [alt.Tooltip("model:N"), alt.Tooltip("level:N"), alt.Tooltip("value:Q", title=title, format=".1%")]
    # A line an axis: the last level of one axis is no neighbour of the first of the next.
    lines = base.mark_line(strokeWidth=1.6, opacity=0.85).encode(
        detail=["model:N", "axis:N"], strokeDash=layers_dash(layers)
    )
    points = base.mark_point(filled=True, size=26, opacity=0.9).encode(tooltip=told)
    return template_of(alt.layer(lines, points).properties(width=460, height=210))
