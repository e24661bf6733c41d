"""What the models do at every level: problems solved, traces valid, tokens right, and how well confidence fits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lengthwise.analyses.analysis import analyses
from lengthwise.analyses.content import StudyContent
from lengthwise.analyses.evidence import Climb, Evidence, common_levels, mean, widest
from lengthwise.analyses.ladder import section
from lengthwise.analyses.layout import PageLayout, arranged, menu_of
from lengthwise.figures.style import GREY, alt, hover, lines_and_points, share_axis, template_of
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

explain(
    {
        "levels.title": "Results at every level",
        "levels.link": "Levels",
        "levels.text": (
            "The widest model of each encoding and number of layers, averaged over seeds, at every level of "
            "the ladder: {items} items per level are scored given the true trace, {decoded} are decoded "
            "freely. The calibration error is the mean gap between confidence and accuracy, by tenths of "
            "confidence."
        ),
        "levels.menu": "Shown",
        "levels.solved": "problems solved when decoding freely",
        "levels.valid": "traces valid in every step",
        "levels.token": "tokens right, given the true trace",
        "levels.calibration": "expected calibration error",
        "levels.reliability": "confidence and accuracy",
        "levels.words": "{what} at every level of {task}, one line per encoding and number of layers.",
        "levels.reliability_words": "Accuracy by confidence for {task}, in training and at the farthest level, one "
        "line per encoding.",
    }
)


@analyses.register("levels")
@dataclass(frozen=True)
class LevelsAnalysis(section.LadderAnalysis):
    """What the models do at every level of their ladders."""

    def found(self, evidence: Evidence, study: StudyContent) -> Record:
        figures = level_panels(evidence, study.encodings) if study.pictures else []
        settings = evidence.climbs[0].ladder.settings
        text = sentence("levels.text", {"items": settings.items, "decoded": settings.decoded})
        menus = menu_of(figures, "does", "levels.menu", lambda name: sentence(f"levels.{name}"))
        return arranged("levels", PageLayout(notes=(text,), menus=menus), figures=figures)

    def applies(self, study: StudyContent) -> bool:
        return study.pictures and super().applies(study)


def level_panels(evidence: Evidence, encodings: Sequence[str]) -> list[Figure]:
    """One panel per task and measure: by level, the widest model of each encoding and number of layers; then accuracy
    by confidence."""
    configurations = evidence.configurations
    models = widest(configurations)
    seeds = [climbs for configuration, climbs in configurations.items() if configuration in models]
    panels = []
    for measure, read in MEASURES.items():
        what = sentence(f"levels.{measure}")
        template = _template(what, encodings, evidence.layers)
        data = {
            task: {"levels": [row for climbs in seeds if climbs[0].task == task for row in _rows(climbs, read)]}
            for task in evidence.tasks
        }
        panels += section.task_panels(f"levels.{measure}", "levels.words", template, data, {"what": what})
    groups: dict[str, dict[str, list[Climb]]] = {}
    for climb in evidence.climbs:
        groups.setdefault(climb.task, {}).setdefault(climb.position, []).append(climb)
    bins = {
        task: {"bins": [row for name in evidence.encodings if name in own for row in _bins(own[name])]}
        for task, own in groups.items()
    }
    template = _reliability_template(encodings)
    return [*panels, *section.task_panels("levels.reliability", "levels.reliability_words", template, bins)]


def _rows(climbs: Sequence[Climb], read: Callable[[LevelPoint], float]) -> list[dict[str, Any]]:
    held = section.looks(climbs[0].configuration)
    names = {point.name: point.axis for point in common_levels(climbs)}
    values = {name: mean(read(climb.ladder.at(name)) for climb in climbs) for name in names}
    return [{**held, "level": name, "axis": names[name], "value": value} for name, value in values.items()]


def _template(title: str, encodings: Sequence[str], layers: Sequence[int]) -> dict[str, Any]:
    base = alt.Chart(alt.NamedData("levels")).encode(
        x=alt.X("level:N", title=None, sort=None, axis=alt.Axis(labelAngle=-70, labelOverlap=False, labelFontSize=10)),
        y=share_axis("value", title),
        color=section.encoding_colour(encodings),
    )
    told = hover("model:N", "level:N", ("value:Q", title, ".1%"))
    # One line per axis: the last level of one axis is no neighbour of the first of the next.
    drawn = lines_and_points(base, told, section.layers_dash(layers), detail=["model:N", "axis:N"])
    return template_of(alt.layer(*drawn).properties(width=460, height=210))


def _bins(climbs: Sequence[Climb]) -> list[dict[str, Any]]:
    """Accuracy by confidence in training and at the last level of the first axis that was climbed, over all tokens of
    these models."""
    names = {point.name: point.axis for point in common_levels(climbs)}
    first = next((axis for axis in names.values() if axis != TRAINING), None)
    places = {TRAINING: [TRAINING] if TRAINING in names else []}
    places[section.FAR] = [name for name, axis in names.items() if axis == first][-1:]
    rows = []
    for where, level in ((where, level) for where, levels in places.items() for level in levels):
        found = [np.array(climb.ladder.at(level).calibration.bins, float).reshape(-1, 3) for climb in climbs]
        sums = np.sum([np.column_stack([own[:, 0], own[:, :1] * own[:, 1:]]) for own in found], axis=0)
        for count, confidence, accuracy in sums[sums[:, 0] > 0].tolist():
            held = {"encoding": climbs[0].position, "where": where, "level": level, "tokens": int(count)}
            rows.append({**held, "confidence": confidence / count, "accuracy": accuracy / count})
    return rows


def _reliability_template(encodings: Sequence[str]) -> dict[str, Any]:
    base = alt.Chart(alt.NamedData("bins")).encode(
        x=share_axis("confidence", "confidence", alt.X),
        y=share_axis("accuracy", "accuracy"),
        color=section.encoding_colour(encodings),
    )
    shares = (("confidence:Q", "", ".1%"), ("accuracy:Q", "", ".1%"))
    told = hover("encoding:N", "level:N", ("tokens:Q", "", ",d"), *shares)
    ends = alt.Chart(alt.Data(values=[{"at": 0}, {"at": 1}]))
    diagonal = ends.mark_line(color=GREY, strokeDash=[2, 3], strokeWidth=1).encode(x="at:Q", y="at:Q")
    drawn = lines_and_points(base, told, section.where_dash(), detail="where:N")
    return template_of(alt.layer(diagonal, *drawn).properties(width=460, height=230))
