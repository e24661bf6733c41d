"""Ladders of models that were never trained: risk rises with the level, falls with depth and width, problems are real.

What a model writes is the right trace with one token exchanged, so that a report has something to show.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from lengthwise.analyses.evidence import Climb, Evidence
from lengthwise.probes.ladder import LadderProbe
from lengthwise.probes.ladder.levels import Calibrated, Example, Inside, Ladder, LevelPoint
from lengthwise.shift.level_shift import LevelShift
from lengthwise.tasks import tasks as registry
from lengthwise.tasks.ladder import Level, ladder_of
from lengthwise.tasks.search.search_task import SearchTask
from lengthwise.tasks.task import Task

TASKS = ("subset_sum", "countdown", "tree_maze")
POSITIONS = ("learned+offset", "rope")
UNITS = {"features": "standard deviations", "contour": "open moves", "edit": "share of tokens"}
TRAIN_SIZE = 3


def synthetic_evidence(
    tasks: Sequence[str] = TASKS,
    positions: Sequence[str] = POSITIONS,
    depths: Sequence[int] = (1, 2, 3),
    widths: Sequence[int] = (16, 32, 64),
    seeds: Sequence[int] = (0,),
    settings: LadderProbe | None = None,
) -> Evidence:
    """Every combination, on the ladders that the tasks really have."""
    given = settings or LadderProbe()
    climbs = []
    for name, position, depth, width, seed in itertools.product(tasks, positions, depths, widths, seeds):
        ladder = _ladder(name, position, depth, width, seed, given)
        climbs.append(Climb(name, position, depth, width, seed, ladder))
    return Evidence(tuple(climbs), tuple(shift for name in tasks for shift in synthetic_shifts(name)))


def synthetic_shifts(name: str) -> list[LevelShift]:
    """Distances that grow with the level, on each axis at its own pace."""
    found = []
    for metric, unit in UNITS.items():
        null = {"features": 0.3, "contour": 0.2, "edit": 0.05}[metric]
        for level in _levels(name):
            w1 = null * (
                1 + 9 * _far(level, name) * {"depth": 1.0, "branching": 0.7, "content": 0.5, "training": 0}[level.axis]
            )
            found.append(LevelShift(name, level.axis, level.value, metric, unit, 128, w1, null, 0.9 * w1, 1.1 * w1))
    return found


def _levels(name: str) -> tuple[Level, ...]:
    return ladder_of(registry.make(name), TRAIN_SIZE)


def _far(level: Level, name: str) -> float:
    """0 for training, 1 for the last level of an axis."""
    values = [other.value for other in _levels(name) if other.axis == level.axis]
    return 0.0 if level.axis == "training" else (values.index(level.value) + 1) / len(values)


def _ladder(name: str, position: str, depth: int, width: int, seed: int, settings: LadderProbe) -> Ladder:
    rng = np.random.default_rng([depth, width, seed, TASKS.index(name) if name in TASKS else 9, len(position)])
    floor = 0.18 / depth + 1.2 / width + (0.04 if position == "rope" else 0.0)
    points, examples = [], []
    for level in _levels(name):
        far = _far(level, name)
        risk = float(np.clip(floor * (0.2 + 2.2 * far) + rng.normal(0, 0.015), 0.0, 0.95))
        points.append(_point(level, risk, depth, settings, rng))
        if far in (0.0, 1.0):
            examples += _examples(level, risk, rng)
    return Ladder(name, position, TRAIN_SIZE, seed, settings, tuple(points), tuple(examples), 3.5e6, "in a norm")


def _point(level: Level, risk: float, depth: int, settings: LadderProbe, rng: np.random.Generator) -> LevelPoint:
    errors = tuple(float(e) for e in np.round(np.clip(rng.normal(risk, 0.05, settings.items), 0, 1), 4))
    tokens = 40 * settings.items
    wrong = round(tokens * sum(errors) / len(errors))
    bins = tuple((20 * k, (k + 0.5) / 10, max(0.0, (k + 0.5) / 10 - risk / 2)) for k in range(10))
    solved = round(settings.decoded * max(0.0, 1 - 2 * risk))
    inside = [Inside(0.9, 40, 8.0, None)]
    inside += [
        Inside(min(1.0, 0.3 / k + risk / 2), 40, 9.0 + k - 6 * risk, 0.4 + 0.3 * risk) for k in range(1, depth + 1)
    ]
    calibration = Calibrated(1 - risk / 2, risk / 2, bins)
    right = sum(error == 0 for error in errors)
    return LevelPoint(
        level.axis, level.value, right, tokens, tokens - wrong, 2 * risk, errors, calibration, settings.decoded,
        max(0, solved - 1), solved, tuple(inside), 40.0 + 100 * risk,
    )  # fmt: skip


def _examples(level: Level, risk: float, rng: np.random.Generator) -> list[Example]:
    task: Task = level.task.part("test")
    samples = task.draw(level.sizes[-1], 0, range(2), role="test")
    found = []
    for row in range(2):
        prompt, truth = (
            task.spelled(samples.prompts[row]),
            task.spelled(np.asarray(samples.answers[row], dtype=np.int64)),
        )
        written, wrong_at = list(truth), None
        if row == 0 and risk > 0.05:
            wrong_at = int(rng.integers(len(truth)))
            written[wrong_at] = next(symbol for symbol in task.symbols if symbol != truth[wrong_at])
            del written[wrong_at + 4 :]
        solved, why = wrong_at is None, ""
        if isinstance(task, SearchTask) and wrong_at is not None:
            solved, why = task.solves(prompt, written), task.verify(prompt, written).wrong
        texts = (" ".join(prompt), " ".join(truth), " ".join(written))
        found.append(Example(level.name, *texts, wrong_at, wrong_at is None, solved, why))
    return found
