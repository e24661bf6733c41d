"""How far every level of a ladder is from training, in one metric or several.

Everything is drawn from the task, so nothing has to be split. In each metric there are, with `items` trajectories each:

    fit         a sample of training, on which the metric is standardised, once for all levels
    W1          between one sample of training, the same for all levels, and one sample of the level; certified
    null        the mean W1 of NULLS pairs of samples of training, all fresh: what W1 is where nothing has shifted
    interval    of the distance of the distributions, by further samples of both (`held_out_interval`)

The W1 of samples is too large on average, so it is compared with the null, which is too large for the same reason. The
levels share the sample of training, and levels of one axis share random numbers; their distances are not independent.
The level "training" is measured like all others, by a sample of its own.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lengthwise.errors import CertificateRefused, UsageError
from lengthwise.messages import explain
from lengthwise.records import Assumption, Claim, Interval, Reference
from lengthwise.seeds import Floats
from lengthwise.shift import hidden  # noqa: F401  # registers the metric that needs a model
from lengthwise.shift.ground import Ground, ground
from lengthwise.shift.level_shift import LevelShift
from lengthwise.shift.samples import ITEMS, level_sample
from lengthwise.shift.sampling_error import held_out_interval
from lengthwise.tasks.ladder import TRAINING, Level, ladder_of
from lengthwise.tasks.search.search_task import SearchTask
from lengthwise.tasks.sizes import name_of
from lengthwise.tasks.task import Task
from lengthwise.transport.metrics import Fitted, Metric, metrics
from lengthwise.transport.solving import Transported, solve
from lengthwise.transport.trajectories import Sample

METRICS = ("features", "contour", "edit")
NULLS = 8
Progress = Callable[[str, int, int], None]
LEAST_ITEMS = 20

explain(
    {
        "shift.level": "W1 of {level} ({metric})",
        "shift.level_distribution": "W1 of the distribution of {level} ({metric})",
        "shift.level_null": "null W1 ({metric})",
        "shift.farthest": "W1 at the end of {axis} ({metric})",
        "shift.differ": "two samples of training differ in this metric",
        "shift.normal": "means of potentials, and W1 of samples, deviate as normal variables do; simulated, not proved",
    }
)
_INDEPENDENT = Assumption("shift.independent", "checked")


@dataclass(frozen=True, eq=False)
class LadderShift:
    """All levels in all metrics that were asked for, metric by metric; `nulls[metric]` are the draws of its null."""

    levels: tuple[LevelShift, ...]
    nulls: dict[str, Floats]
    distances: tuple[Claim, ...]  # of the samples, one per level, as certified
    intervals: tuple[Claim, ...]  # of the distributions, one per level

    def along(self, metric: str, axis: str) -> list[LevelShift]:
        """The levels of one axis in one metric, from near to far."""
        return [level for level in self.levels if (level.metric, level.axis) == (metric, axis)]

    def claims(self) -> list[Claim]:
        """W1 of the samples of every level (certified), nulls and intervals (measured), and how far each axis goes."""
        axes = dict.fromkeys(level.axis for level in self.levels if level.axis != TRAINING)
        reach = [self._farthest(metric, axis) for metric in self.nulls for axis in axes]
        return [*self.distances, *self.intervals, *map(self._null, self.nulls), *reach]

    def plain(self) -> list[dict[str, Any]]:
        """One row per level and metric."""
        return [level.plain() for level in self.levels]

    def _null(self, metric: str) -> Claim:
        unit = next(level.unit for level in self.levels if level.metric == metric)
        draws, items = self.nulls[metric], self.levels[0].items
        evidence = {"metric": metric, "pairs": len(draws), "sd": float(draws.std(ddof=1)), "items": items}
        mean, given = float(draws.mean()), (_INDEPENDENT,)
        return Claim("shift.level_null", mean, unit, "measured", assumptions=given, evidence=evidence)

    def _farthest(self, metric: str, axis: str) -> Claim:
        """W1 at the last level of an axis in nulls, and how often W1 falls on the way there."""
        climbed = self.along(metric, axis)
        last, values = climbed[-1], [level.w1 for level in climbed]
        key, unit = "shift.farthest", "nulls"
        evidence = {
            "axis": axis,
            "metric": metric,
            "level": last.name,
            "w1": last.w1,
            "null": last.null,
            "falls": int((np.diff(values) < 0).sum()),
            "steps": len(values) - 1,
        }
        if last.null <= 0:
            why = (Assumption("shift.differ", "violated"),)
            return Claim(key, None, unit, "measured", "unknown", assumptions=why, evidence=evidence)
        return Claim(key, last.ratio, unit, "measured", assumptions=(_INDEPENDENT,), evidence=evidence)


def measure_ladder(
    task: Task,
    train_size: int,
    metrics: Sequence[str] | None = None,
    items: int = ITEMS,
    seed: int = 0,
    progress: Progress | None = None,
) -> LadderShift:
    """The distance of every level of `ladder_of(task, train_size)` from training, in every metric.

    Without `metrics` they are METRICS, less contour for a task that is no search. `progress` hears the name of every
    level as it is measured. O(levels x metrics) transport problems of `items` by `items`.
    """
    if items < LEAST_ITEMS:
        raise UsageError(f"the levels of a ladder must have {LEAST_ITEMS} items or more each, not {items}")
    if train_size < 1:
        raise UsageError(f"the training size must be 1 or more, not {train_size}")
    levels = ladder_of(task, train_size)
    if not levels[0].sizes:
        raise UsageError(
            f"the task {name_of(task)} has no items up to size {train_size} to train on; take a larger one"
        )
    samples = _LevelSamples(levels, items, seed)
    chosen = metrics if metrics is not None else metrics_for(task)
    steps = itertools.count(1)

    def measured(level: Level) -> None:
        if progress:
            progress(level.name, next(steps), len(chosen) * len(levels))

    return _joined([_in_metric(name, name_of(task), levels, samples, measured) for name in chosen])


def metrics_for(task: Task) -> tuple[str, ...]:
    """The metrics that apply: contours need a search."""
    return METRICS if isinstance(task, SearchTask) else tuple(name for name in METRICS if name != "contour")


class _LevelSamples:
    """What is drawn, once for all metrics: everything is independent of everything else but level of level."""

    def __init__(self, levels: Sequence[Level], items: int, seed: int) -> None:
        def drawn(role: str, level: Level = levels[0]) -> Sample:
            return level_sample(level, items, seed, role)

        self.items = items
        self.fit, self.first, self.first_again = map(drawn, ("fit", "first", "first again"))
        self.pairs = [(drawn(f"null {k}"), drawn(f"null {k} again")) for k in range(NULLS)]
        self.second = [drawn("second", level) for level in levels]
        self.second_again = [drawn("second again", level) for level in levels]


def _in_metric(
    spec: str, task: str, levels: Sequence[Level], samples: _LevelSamples, measured: Callable[[Level], None]
) -> LadderShift:
    metric = metrics.make(spec)
    fitted = metric.fit(samples.fit)
    null = np.array([_solved(metric, fitted, one, two)[1].certificate.primal for one, two in samples.pairs])
    rows, distances, intervals = [], [], []
    for level, second, again in zip(levels, samples.second, samples.second_again, strict=True):
        placed, found = _solved(metric, fitted, samples.first, second)
        interval = held_out_interval(placed, found, samples.first_again, again)
        w1, mean = found.certificate.primal, float(null.mean())
        unit, items = fitted.unit, samples.items
        row = LevelShift(task, level.axis, level.value, placed.spec, unit, items, w1, mean, interval.low, interval.high)
        rows.append(row)
        about = {"level": level.name, "metric": placed.spec}
        distances.append(found.claim("shift.level", unit, about))
        intervals.append(_interval_claim(row, interval, about))
        measured(level)
    return LadderShift(tuple(rows), {rows[0].metric: null}, tuple(distances), tuple(intervals))


def _solved(metric: Metric, fitted: Fitted, first: Sample, second: Sample) -> tuple[Ground, Transported]:
    placed = ground(metric, fitted, first, second)
    found = solve(placed.problem)
    if found.certificate.status != "holds":
        raise CertificateRefused(f"the distance of {second.name} was not certified: {found.certificate.why}")
    return placed, found


def _interval_claim(row: LevelShift, interval: Interval, about: dict[str, str]) -> Claim:
    """What the samples say about the distributions."""
    return Claim(
        "shift.level_distribution",
        row.w1,
        row.unit,
        "measured",
        interval=interval,
        assumptions=(_INDEPENDENT, Assumption("shift.metric_fixed", "checked"), Assumption("shift.normal")),
        reference=Reference("boucheron2013", "theorem 3.1"),
        evidence={**about, "items": row.items, "held_out": row.items},
    )


def _joined(parts: Sequence[LadderShift]) -> LadderShift:
    if not parts:
        raise UsageError("a ladder is measured in one metric or more, such as features; none was given")
    return LadderShift(
        tuple(level for part in parts for level in part.levels),
        {metric: draws for part in parts for metric, draws in part.nulls.items()},
        tuple(claim for part in parts for claim in part.distances),
        tuple(claim for part in parts for claim in part.intervals),
    )
