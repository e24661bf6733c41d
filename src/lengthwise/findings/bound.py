"""The measured risk at a level beside what Kantorovich's inequality allows, term by term.

The error of a model is a function of the trajectory (prompt and true trace) with values in [0, 1]. In the edit metric,
which tells all trajectories apart, it has a Lipschitz constant L, and the risk at a level is at most the risk in
training plus L W1. Two constants are tried. The certified one (`slopes.steepest_possible`) needs no model and is large.
The supposed one is the steepest slope between held-out items of the training level: what somebody without test data
would have to go by. Nothing guarantees it, and where the measured risk exceeds the bound it was wrong.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from lengthwise.bounds.kantorovich import realizable_bound
from lengthwise.bounds.risk import RiskBound
from lengthwise.bounds.sampling import Sampling, risk_deviation
from lengthwise.findings.bound_records import BoundFinding, BoundPoint
from lengthwise.findings.evidence import Climb, Evidence
from lengthwise.findings.redraw import redrawn
from lengthwise.findings.slopes import METRIC, edit_distances, steepest_possible, steepest_seen
from lengthwise.probes.ladder.levels import Ladder, LevelPoint
from lengthwise.records import Claim, Reference
from lengthwise.seeds import Floats
from lengthwise.shift.level_shift import LevelShift
from lengthwise.tasks.ladder import TRAINING

__all__ = ["BoundFinding", "BoundPoint", "bound"]

DELTA = 0.05  # shared by the two sampling terms of a bound; and once more for the measured risk


@dataclass(frozen=True, eq=False)
class _Places:
    """What is needed of the levels of one task: distances of the measured items from those of training, and the most
    tokens of a trajectory there or in training."""

    distances: Mapping[str, Floats]
    longest: Mapping[str, int]


def bound(evidence: Evidence) -> BoundFinding:
    """The bounds of every model at every level beyond training whose distance is known in the edit metric."""
    points: list[BoundPoint] = []
    missing: dict[str, None] = {}
    known: dict[tuple[str, int, int], _Places | None] = {}
    if METRIC not in evidence.metrics():
        return BoundFinding(METRIC, (), (f"no distance is known in the metric {METRIC}",))
    for climb in evidence.climbs:
        ladder = climb.ladder
        key = (climb.task, ladder.train_size, ladder.settings.items)
        if key not in known:
            known[key] = _places(*key)
        places = known[key]
        if places is None:
            missing[f"the items of {climb.task} cannot be drawn here"] = None
            continue
        source = next((point for point in ladder.points if point.axis == TRAINING), None)
        if source is None or source.items != ladder.settings.items:
            missing[f"a model of {climb.task} was not measured in the training range"] = None
            continue
        points += _points(climb, source, places, evidence.shift_of(climb.task, METRIC))
    return BoundFinding(METRIC, tuple(points), tuple(missing))


def _places(task: str, train_size: int, items: int) -> _Places | None:
    """The levels of a task; None where it is not known here, as a file of somebody else's."""
    levels = redrawn(task, train_size, items)
    if TRAINING not in levels:
        return None
    training = levels[TRAINING]
    distances = {name: edit_distances(training.items, level.items) for name, level in levels.items()}
    return _Places(distances, {name: max(level.longest, training.longest) for name, level in levels.items()})


def _points(climb: Climb, source: LevelPoint, places: _Places, shifts: Mapping[str, LevelShift]) -> list[BoundPoint]:
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
        "Lipschitz constant of any error in [0, 1] in the edit metric",
        steepest_possible(longest),
        "per unit of distance",
        "certified",
        reference=Reference("lengthwise", "docs/findings.md, the certified slope"),
        evidence={"longest trajectory": longest},
    )


def _supposed_slope(ladder: Ladder, slope: float) -> Claim:
    return Claim(
        "steepest slope of the error between held-out items of training",
        slope,
        "per unit of distance",
        "measured",
        evidence={"items": ladder.settings.items},
    )
