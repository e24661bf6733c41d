"""What the models do at every level: problems solved, traces valid, tokens right, and how well confidence fits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from lengthwise.analyses.analysis import Analysis, analyses
from lengthwise.analyses.content import StudyContent
from lengthwise.analyses.evidence import Climb, Evidence, by_configuration, common_levels, layers_text, mean, model_name
from lengthwise.analyses.ladder.looks import encoding_colour, layers_dash
from lengthwise.analyses.layout import LAYOUT, Menu, PageLayout
from lengthwise.figures.layout import wrapping_legend
from lengthwise.figures.lazy import alt
from lengthwise.figures.style import hover, template_of
from lengthwise.messages import explain, sentence
from lengthwise.probes.ladder.levels import LevelPoint
from lengthwise.records import Figure, Record
from lengthwise.tasks.ladder import TRAINING

MEASURES: dict[str, Callable[[LevelPoint], float]] = {
    "solved": lambda point: point.solved / point.decoded,
    "valid": lambda point: point.valid / point.decoded,
    "token": lambda point: point.token,
    "calibration": lambda point: point.calibration.error,
}
RELIABILITY, FAR = "reliability", "farthest level"

explain(
    {
        "levels.title": "What they do at every level",
        "levels.link": "Levels",
        "levels.text": "The widest model of each encoding and number of layers, seeds averaged, at every level of the "
        "ladder: {items} items per level read with the true trace given, {decoded} written freely. The calibration "
        "error is the mean gap between confidence and accuracy, by tenths of confidence.",
        "levels.menu": "Shown",
        "levels.solved": "problems solved by its own writing",
        "levels.valid": "traces valid in every step",
        "levels.token": "tokens right, the true trace given",
        "levels.calibration": "expected calibration error",
        "levels.reliability": "confidence and accuracy",
        "levels.words": "{what} at every level of {task}, one line per encoding and number of layers.",
        "levels.reliability_words": "Accuracy by confidence for {task}, in training and at the farthest level, one "
        "line per encoding.",
    }
)


@analyses.register("levels")
@dataclass(frozen=True)
class LevelsAnalysis(Analysis):
    """What the models do at every level of their ladders."""

    def analyse(self, study: StudyContent) -> Record:
        evidence = study.evidence
        assert evidence is not None
        figures = level_panels(evidence, study.encodings) if study.pictures else []
        options = tuple((name, sentence(f"levels.{name}")) for name in (*MEASURES, RELIABILITY))
        settings = evidence.climbs[0].ladder.settings
        text = sentence("levels.text", {"items": settings.items, "decoded": settings.decoded})
        menus = (Menu("does", sentence("levels.menu"), options),) if figures else ()
        layout = PageLayout(sentence("levels.link"), notes=(text,), menus=menus)
        return Record("levels", title=sentence("levels.title"), figures=tuple(figures), data={LAYOUT: layout.plain()})

    def applies(self, study: StudyContent) -> bool:
        return study.pictures and study.evidence is not None and bool(study.evidence.climbs)


def level_panels(evidence: Evidence, encodings: Sequence[str]) -> list[Figure]:
    """One panel per task and measure: by level, the widest model of each encoding and number of layers; then accuracy
    by confidence."""
    panels = []
    widest = _widest(evidence)
    for measure, read in MEASURES.items():
        what = sentence(f"levels.{measure}")
        template = _template(what, encodings, evidence.layers)
        for number, task in enumerate(evidence.tasks):
            rows = [row for climbs in widest if climbs[0].task == task for row in _rows(climbs, read)]
            words = sentence("levels.words", {"what": what, "task": task})
            panels.append(Figure(f"levels.{measure}.{number + 1}", template, {"levels": rows}, task, words, measure))
    template = _reliability_template(encodings)
    for number, task in enumerate(evidence.tasks):
        own = [climb for climb in evidence.climbs if climb.task == task]
        groups = {name: [climb for climb in own if climb.position == name] for name in evidence.encodings}
        rows = [row for name, climbs in groups.items() for row in _bins(name, climbs)]
        words = sentence("levels.reliability_words", {"task": task})
        panels.append(Figure(f"levels.{RELIABILITY}.{number + 1}", template, {"bins": rows}, task, words, RELIABILITY))
    return panels


def _widest(evidence: Evidence) -> list[list[Climb]]:
    """The seeds of the widest model of each task, encoding and number of layers."""
    found: dict[tuple[str, str, int], tuple[int, list[Climb]]] = {}
    for (task, position, depth, width), climbs in by_configuration(evidence.climbs).items():
        if width > found.get((task, position, depth), (0, []))[0]:
            found[task, position, depth] = (width, climbs)
    return [climbs for _, climbs in found.values()]


def _rows(climbs: Sequence[Climb], read: Callable[[LevelPoint], float]) -> list[dict[str, Any]]:
    held = {
        "encoding": climbs[0].position,
        "layers": layers_text(climbs[0].depth),
        "model": model_name(climbs[0].configuration),
    }
    return [
        {
            **held,
            "level": point.name,
            "axis": point.axis,
            "value": mean(read(climb.ladder.at(point.name)) for climb in climbs),
        }
        for point in common_levels(climbs)
    ]


def _farthest(climbs: Sequence[Climb]) -> str | None:
    """The last level of the first axis that was climbed; None where there is training alone."""
    beyond = [point for point in common_levels(climbs) if point.axis != TRAINING]
    along = [point.name for point in beyond if point.axis == beyond[0].axis]
    return along[-1] if along else None


def _template(title: str, encodings: Sequence[str], layers: Sequence[int]) -> dict[str, Any]:
    base = alt.Chart(alt.NamedData("levels")).encode(
        x=alt.X("level:N", title=None, sort=None, axis=alt.Axis(labelAngle=-70, labelOverlap=False, labelFontSize=10)),
        y=alt.Y("value:Q", title=title, scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format="%", tickCount=5)),
        color=encoding_colour(encodings),
    )
    told = hover("model:N", "level:N", ("value:Q", title, ".1%"))
    # One line per axis: the last level of one axis is no neighbour of the first of the next.
    lines = base.mark_line(strokeWidth=1.6, opacity=0.85).encode(
        detail=["model:N", "axis:N"], strokeDash=layers_dash(layers)
    )
    points = base.mark_point(filled=True, size=26, opacity=0.9).encode(tooltip=told)
    return template_of(alt.layer(lines, points).properties(width=460, height=210))


def _bins(position: str, climbs: Sequence[Climb]) -> list[dict[str, Any]]:
    names = {point.name for point in common_levels(climbs)} if climbs else set()
    levels = {TRAINING: TRAINING if TRAINING in names else None, FAR: _farthest(climbs) if names else None}
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


def _reliability_template(encodings: Sequence[str]) -> dict[str, Any]:
    scale = alt.Scale(domain=[0, 1])
    axis = alt.Axis(format="%", tickCount=5)
    legend = wrapping_legend([TRAINING, FAR], symbolType="stroke", offset=8)
    dash = alt.StrokeDash("where:N", scale=alt.Scale(domain=[TRAINING, FAR], range=[[1, 0], [4, 3]]), legend=legend)
    base = alt.Chart(alt.NamedData("bins")).encode(
        x=alt.X("confidence:Q", title="confidence", scale=scale, axis=axis),
        y=alt.Y("accuracy:Q", title="accuracy", scale=scale, axis=axis),
        color=encoding_colour(encodings),
    )
    told = hover(
        "encoding:N", "level:N", ("tokens:Q", "", ",d"), ("confidence:Q", "", ".1%"), ("accuracy:Q", "", ".1%")
    )
    ends = alt.Chart(alt.Data(values=[{"at": 0}, {"at": 1}]))
    diagonal = ends.mark_line(color="#888888", strokeDash=[2, 3], strokeWidth=1).encode(x="at:Q", y="at:Q")
    lines = base.mark_line(strokeWidth=1.6).encode(detail="where:N", strokeDash=dash)
    points = base.mark_point(filled=True, size=30, opacity=0.9).encode(tooltip=told)
    return template_of(alt.layer(diagonal, lines, points).properties(width=460, height=230))
