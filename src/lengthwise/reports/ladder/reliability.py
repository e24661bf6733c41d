"""Confidence beside accuracy, in training and at the farthest level."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lengthwise.figures.layout import wrapping_legend
from lengthwise.findings.evidence import Climb, Evidence
from lengthwise.reports.figure import Figure, template_of
from lengthwise.reports.ladder.looks import encoding_colour
from lengthwise.reports.ladder.models import encodings_of, farthest, tasks_of
from lengthwise.reports.ladder.section import Panel

RELIABILITY = "reliability"
TRAINING, FAR = "training", "farthest level"


def reliability_panels(evidence: Evidence, encodings: Sequence[str]) -> list[Panel]:
    """A panel a task: the tokens of all models of an encoding together, by tenths of confidence."""
    template = _template(encodings)
    panels = []
    for number, task in enumerate(tasks_of(evidence)):
        own = [climb for climb in evidence.climbs if climb.task == task]
        rows = [
            row
            for position in encodings_of(evidence)
            for row in _rows(position, [climb for climb in own if climb.position == position])
        ]
        words = f"Accuracy by confidence for {task}, in training and at the farthest level, a line an encoding."
        name = f"levels-{RELIABILITY}-{number + 1}-{task}"
        panels.append(Panel(Figure(name, RELIABILITY, task, words, template, {"bins": rows}), RELIABILITY))
    return panels


def _rows(position: str, climbs: Sequence[Climb]) -> list[dict[str, Any]]:
    levels = {TRAINING: TRAINING, FAR: farthest(climbs)} if climbs else {}
    rows = []
    for where, level in levels.items():
        sums: dict[int, list[float]] = {}
        for climb in climbs:
            bins = [] if level is None else climb.ladder.at(level).calibration.bins
            for place, (count, confidence, accuracy) in enumerate(bins):
                if count:
                    held = sums.setdefault(place, [0.0, 0.0, 0.0])
                    for index, value in enumerate((count, count * confidence, count * accuracy)):
                        held[index] += value
        for _, (count, confidence, accuracy) in sorted(sums.items()):
            rows.append(
                {
                    "encoding": position,
                    "where": where,
                    "level": level,
                    "tokens": int(count),
                    "confidence": confidence / count,
                    "accuracy": accuracy / count,
                }
            )
    return rows


def _template(encodings: Sequence[str]) -> dict[str, Any]:
    import altair as alt

    scale = alt.Scale(domain=[0, 1])
    axis = alt.Axis(format="%", tickCount=5)
    legend = wrapping_legend([TRAINING, FAR], symbolType="stroke", offset=8)
    dash = alt.StrokeDash("where:N", scale=alt.Scale(domain=[TRAINING, FAR], range=[[1, 0], [4, 3]]), legend=legend)
    base = alt.Chart(alt.NamedData("bins")).encode(
        x=alt.X("confidence:Q", title="confidence", scale=scale, axis=axis),
        y=alt.Y("accuracy:Q", title="accuracy", scale=scale, axis=axis),
        color=encoding_colour(encodings),
    )
    told = [
        alt.Tooltip("encoding:N"),
        alt.Tooltip("level:N"),
        alt.Tooltip("tokens:Q", format=",d"),
        alt.Tooltip("confidence:Q", format=".1%"),
        alt.Tooltip("accuracy:Q", format=".1%"),
    ]
    ends = alt.Chart(alt.Data(values=[{"at": 0}, {"at": 1}]))
    diagonal = ends.mark_line(color="#888888", strokeDash=[2, 3], strokeWidth=1).encode(x="at:Q", y="at:Q")
    lines = base.mark_line(strokeWidth=1.6).encode(detail="where:N", strokeDash=dash)
    points = base.mark_point(filled=True, size=30, opacity=0.9).encode(tooltip=told)
    return template_of(alt.layer(diagonal, lines, points).properties(width=460, height=230))
