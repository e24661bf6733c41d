"""The measured risk at a level and what Kantorovich's inequality allows, term by term.

The error of a model is a function of the trajectory (prompt and true trace) with values in [0, 1]. In the edit metric,
which distinguishes all trajectories, it has a Lipschitz constant L, and the risk at a level is at most the risk in
training plus L W1. Two constants are tried. The certified one (`steepest_possible`) needs no model and is large. The
supposed one is the steepest slope between held-out items of the training level: what somebody without test data would
have to go by. Nothing guarantees it, and where the measured risk exceeds the bound it was wrong.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lengthwise.analyses.evidence import Climb, Evidence
from lengthwise.analyses.ladder.bound_record import BoundFinding, BoundPoint
from lengthwise.analyses.ladder.redraw import redrawn
from lengthwise.bounds.kantorovich import realizable_bound
from lengthwise.bounds.risk import RiskBound
from lengthwise.bounds.sampling import Sampling, risk_deviation
from lengthwise.messages import explain
from lengthwise.probes.ladder.levels import Ladder, LevelPoint
from lengthwise.records import Assumption, Claim, Reference
from lengthwise.seeds import Floats
from lengthwise.shift.level_shift import LevelShift
from lengthwise.tasks.ladder import TRAINING
from lengthwise.transport.metrics import metrics
from lengthwise.transport.trajectories import Sample, Trajectory

METRIC = "edit"
DELTA = 0.05  # shared by the two sampling terms of a bound; and once more for the measured risk


explain(
    {
        "bound.no_distance": "no distance is known in the metric {metric}",
        "bound.no_items": "the items of {task} cannot be drawn here",
        "bound.no_training": "a model of {task} was not measured in the training range",
        "bound.certified_slope": "Lipschitz constant of any error in [0, 1] in the edit metric",
        "bound.supposed_slope": "steepest slope of the error between held-out items of training",
    }
)


@dataclass(frozen=True, eq=False)
class _LevelDistances:
    """What is needed of the levels of one task: distances of the measured items from those of training, and the most
    tokens of a trajectory there or in training."""

    distances: Mapping[str, Floats]
    longest: Mapping[str, int]


@functools.lru_cache(maxsize=4)
def bound(evidence: Evidence) -> BoundFinding:
    """The bounds of every model at every level beyond training whose distance is known in the edit metric."""
    points: list[BoundPoint] = []
    missing: dict[tuple[str, str], None] = {}
    known: dict[tuple[str, int, int], _LevelDistances | None] = {}
    if METRIC not in evidence.metrics():
        return BoundFinding(METRIC, (), (Assumption("bound.no_distance", "violated", {"metric": METRIC}),))
    for climb in evidence.climbs:
        ladder = climb.ladder
        key = (climb.task, ladder.train_size, ladder.settings.items)
        if key not in known:
            known[key] = _places(*key)
        places = known[key]
        if places is None:
            missing["bound.no_items", climb.task] = None
            continue
        source = next((point for point in ladder.points if point.axis == TRAINING), None)
        if source is None or source.items != ladder.settings.items:
            missing["bound.no_training", climb.task] = None
            continue
        points += _points(climb, source, places, evidence.shift_of(climb.task, METRIC))
    gaps = tuple(Assumption(key, "violated", {"task": task}) for key, task in missing)
    return BoundFinding(METRIC, tuple(points), gaps)


def _places(task: str, train_size: int, items: int) -> _LevelDistances | None:
    """The levels of a task; None where it is not known here, such as a file of somebody else's."""
    levels = redrawn(task, train_size, items)
    if TRAINING not in levels:
        return None
    training = levels[TRAINING]
    distances = {name: edit_distances(training.items, level.items) for name, level in levels.items()}
    return _LevelDistances(distances, {name: max(level.longest, training.longest) for name, level in levels.items()})


def _points(
    climb: Climb, source: LevelPoint, places: _LevelDistances, shifts: Mapping[str, LevelShift]
) -> list[BoundPoint]:
    slope = steepest_seen(places.distances[TRAINING], source.errors, source.errors)
    found = []
    for point in climb.ladder.points:
        name = point.name
        usable = name in shifts and name in places.distances and point.items == source.items
        if point.axis == TRAINING or not usable:
            continue
        certain = _certified_slope(places.longest[name])
        supposed = _supposed_slope(climb.ladder, slope)
        found.append(
            BoundPoint(
                configuration=climb.configuration,
                seed=climb.seed,
                axis=point.axis,
                level=name,
                measured=point.risk,
                tolerance=risk_deviation(point.items, 1.0, DELTA),
                certified=_bound(source, shifts[name], certain),
                supposed=_bound(source, shifts[name], supposed),
                slope=slope,
                steepest=steepest_seen(places.distances[name], source.errors, point.errors),
            )
        )
    return found


def _bound(source: LevelPoint, shift: LevelShift, slope: Claim) -> RiskBound:
    """Statement 12 with the error as the model, 0 as the label and the difference as the loss.

    W1 of the distributions exceeds W1 of samples by more than its sampling term with probability DELTA / 2 at most
    (McDiarmid; see `shift/sampling_error.py`); the diameter of the metric is 1.
    """
    return realizable_bound(
        source.risk,
        shift.w1,
        model_lipschitz=slope,
        target_lipschitz=0.0,
        loss_range=1.0,
        sampling=Sampling(
            risk=risk_deviation(source.items, 1.0, DELTA / 2), distance=math.sqrt(math.log(2 / DELTA) / shift.items)
        ),
        metric="normalised edit distance of prompt and trace",
    )


def _certified_slope(longest: int) -> Claim:
    return Claim(
        "bound.certified_slope",
        steepest_possible(longest),
        "per unit of distance",
        "certified",
        reference=Reference("lengthwise", "docs/findings.md, the certified slope"),
        evidence={"longest": longest},
    )


def _supposed_slope(ladder: Ladder, slope: float) -> Claim:
    return Claim(
        "bound.supposed_slope",
        slope,
        "per unit of distance",
        "measured",
        evidence={"items": ladder.settings.items},
    )


def steepest_possible(longest: int) -> float:
    """n + 1/2: a Lipschitz constant of every function into [0, 1] on trajectories of at most n = `longest` tokens.

    The metric is D(x, y) = 2 d / (|x| + |y| + d), d the Levenshtein distance. It grows with d and falls with
    |x| + |y|; different trajectories have d >= 1, and |x| + |y| <= 2n. So D >= 2 / (2n + 1) between different ones,
    which two of n tokens that differ at one place attain, and a function into [0, 1] changes by 1 at most over that.

    A bound made from it is never better than total variation: whatever a coupling moves at all it moves by 2 / (2n + 1)
    or more, so (n + 1/2) W1 is at least the mass that must move. Where training and test share no trajectory, as when
    depth shifts, that is all of it, and the bound is vacuous.
    """
    return longest + 0.5


def edit_distances(first: Sequence[Trajectory], second: Sequence[Trajectory]) -> Floats:
    """The normalised edit distances of two lists of trajectories, [first, second]."""
    one, two = Sample.of(first, name="first"), Sample.of(second, name="second")
    return metrics.restore(METRIC).fit(one).distances(one, two)[one.owner][:, two.owner]


def steepest_seen(distances: Floats, first: Sequence[float], second: Sequence[float]) -> float:
    """The largest |e(x) - e(y)| / d(x, y) over pairs that differ, a lower bound of the Lipschitz constant; 0 without
    such pairs. `first` and `second` are the errors, `distances` is [first, second]."""
    gaps = np.abs(np.asarray(first, dtype=np.float64)[:, None] - np.asarray(second, dtype=np.float64)[None, :])
    apart = distances > 0
    return float((gaps[apart] / distances[apart]).max()) if apart.any() else 0.0
