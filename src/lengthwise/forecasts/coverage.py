"""What the atlas covers. A question outside of it gets no number: it is said why, and the nearest evidence is shown."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.evidence import Atlas, AtlasRun
from lengthwise.forecasts.cases import CURVED, OF_DESIGN
from lengthwise.forecasts.similar import Cases, distances
from lengthwise.messages import explain, sentence
from lengthwise.records import Assumption
from lengthwise.tasks.sizes import name_of
from lengthwise.tasks.task import Task

FEWEST_TASKS = 3  # with an encoding, for a forecast

# Each condition, and under the same key with `_not` what is said where it is violated.
explain(
    {
        "forecast.known_design": "the atlas has runs with this encoding or model",
        "forecast.known_design_not": "the atlas has no runs with {design} (it has {known})",
        "forecast.enough_tasks": "the atlas has several tasks with this encoding or model",
        "forecast.enough_tasks_not": "with {design} the atlas has {tasks} of the {least} tasks that a forecast needs",
        "forecast.train_size_covered": "the training size is among those of the atlas",
        "forecast.train_size_covered_not": "the training size {train_size} is not among those of the atlas ({sizes})",
        "forecast.readout_covered": "the atlas has tasks with this kind of answer",
        "forecast.readout_covered_not": "the atlas has no tasks with answers of the kind {readout!r} (it has {known})",
        "forecast.near_enough": "a task of the atlas is as near as its tasks are to each other",
        "forecast.near_enough_not": "the nearest task of the atlas is at a distance of {distance:.2g}, where its own "
        "tasks have a neighbour within {most:.2g}",
    }
)


def check_certain(task: Task) -> None:
    """Refuse a task without right answers: the atlas is about exact match, and there is none."""
    if not task.certain:
        raise UsageError(f"answers of the task {name_of(task)} are drawn at random, so the atlas says nothing about it")


def covering(asked: AtlasRun, atlas: Atlas) -> list[Assumption]:
    """The conditions on a question that a forecast rests on, each checked or violated."""
    alike = [run for run in atlas.runs if run.design == asked.design]
    tasks = len({run.task for run in alike if run.task != asked.task})
    designs = ", ".join(sorted(atlas.designs))
    found = [condition("forecast.known_design", bool(alike), design=asked.design or "not known", known=designs)]
    if alike:
        about = {"design": asked.design, "tasks": tasks, "least": FEWEST_TASKS}
        found.append(condition("forecast.enough_tasks", tasks >= FEWEST_TASKS, **about))
    trained = {(run.task, run.train_size) for run in alike or atlas.runs}
    low, high, size = *_usual_range([size for _, size in trained]), asked.train_size
    sizes = f"{low} to {high}" if low < high else str(low)
    found.append(condition("forecast.train_size_covered", low <= size <= high, train_size=size, sizes=sizes))
    forms, form = sorted({run.facts.readout for run in atlas.runs}), asked.facts.readout
    found.append(condition("forecast.readout_covered", form in forms, readout=form, known=", ".join(forms)))
    return found


def _usual_range(sizes: Sequence[int]) -> tuple[int, int]:
    """From the least to the largest training size, those of one or two tasks left out."""
    ordered, many = sorted(sizes), min(FEWEST_TASKS, (len(sizes) + 1) // 2)
    return ordered[many - 1], ordered[-many]


def near_enough(asked: Cases, known: Cases) -> Assumption:
    """Whether the nearest task is as near as every task of the atlas has another one, by all features but those of the
    encoding. Runs that held, or failed, so far are compared with each other and, where the encoding or model is known,
    runs with it."""
    if "held" in known.features:
        known = known.part(known.features["held"] == asked.features["held"][0])
    alike = known.features["design"] == asked.features["design"][0]
    known = known.part(alike) if alike.any() else known
    features = [name for name in known.features if name not in (*OF_DESIGN, *CURVED)]
    same = known.task[:, None] == known.task
    own = np.where(same, np.inf, distances(known, known, features)).min(axis=1, initial=np.inf)
    gaps = distances(asked, known, features)[0]
    nearest = np.where(known.task == asked.task[0], np.inf, gaps).min(initial=np.inf)
    most = float(own[np.isfinite(own)].max(initial=0.0))
    return condition("forecast.near_enough", bool(nearest <= most + 1e-9), distance=float(nearest), most=most)


def condition(key: str, kept: bool, **values: object) -> Assumption:
    """A condition that was looked at; what is said of a violation is filled in from the values."""
    return Assumption(key, "checked" if kept else "violated", {} if kept else values)


def violations(conditions: Sequence[Assumption]) -> list[str]:
    """What is said of the conditions that are violated."""
    return [sentence(f"{one.key}_not", one.values) for one in conditions if one.check == "violated"]
