"""Evidence whose truth is known: ladders of which every risk was chosen, and distances to go with them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from lengthwise.analyses.evidence import Climb, Evidence
from lengthwise.probes.index_shift import IndexShift, MovedItems
from lengthwise.probes.ladder import LadderProbe
from lengthwise.probes.ladder.levels import Calibrated, Inside, Ladder, LevelPoint
from lengthwise.shift.level_shift import LevelShift

AXES = ("depth", "branching", "content")
LEVELS = (("training", 0), *((axis, step) for axis in AXES for step in range(4, 10)))


@dataclass(frozen=True)
class Place:
    """One model at one level."""

    task: str
    position: str
    depth: int
    width: int
    seed: int
    axis: str
    value: int


def distance(task: str, axis: str, value: int) -> float:
    """All levels in one order: 0.1 in training, then the axes turn by turn."""
    if axis == "training":
        return 0.1
    return 0.2 + 0.3 * (value - 4) + 0.1 * (AXES.index(axis) if axis in AXES else 0) + 0.001 * len(task)


def planted(
    risk: Callable[[Place], float],
    *,
    tasks: Sequence[str] = ("one", "two", "three"),
    positions: Sequence[str] = ("learned+offset", "rope"),
    depths: Sequence[int] = (1, 2, 3),
    widths: Sequence[int] = (16, 32, 64),
    seeds: Sequence[int] = (0,),
    levels: Sequence[tuple[str, int]] = LEVELS,
    metrics: Sequence[str] = ("features",),
    items: int = 4,
    inside: Callable[[Place, int], Inside] | None = None,
    errors: Callable[[Place], tuple[float, ...]] | None = None,
    train_size: int = 3,
    moved: Callable[[Place], float] | None = None,
) -> Evidence:
    """Every combination; all items of a level have the same error unless `errors` says otherwise. `moved` is the risk
    of a model at its training level when positions move, by two shifts."""
    climbs = []
    for task, position, depth, width, seed in itertools.product(tasks, positions, depths, widths, seeds):
        points = []
        for axis, value in levels:
            place = Place(task, position, depth, width, seed, axis, value)
            own = errors(place) if errors else (risk(place),) * items
            layers = tuple((inside or _inside)(place, layer) for layer in range(depth + 1))
            points.append(point_of(axis, value, own, layers))
        settings = LadderProbe(items, 2, 2)
        ladder = Ladder(task, position, train_size, seed, settings, tuple(points), (), None, "")
        shifted = None
        if moved is not None:
            place = Place(task, position, depth, width, seed, "training", 0)
            rows = tuple(MovedItems(f"depth {by}", by, (moved(place),) * items, 0.5) for by in (4, 5))
            shifted = IndexShift(points[0].errors, rows)
        climbs.append(Climb(task, position, depth, width, seed, ladder, shifted))
    shifts = [
        LevelShift(task, axis, value, metric, "units", 200, distance(task, axis, value), 0.1, 0.0, 9.0)
        for task, metric, (axis, value) in itertools.product(tasks, metrics, levels)
    ]
    return Evidence(tuple(climbs), tuple(shifts))


def point_of(axis: str, value: int, errors: tuple[float, ...], inside: tuple[Inside, ...] = ()) -> LevelPoint:
    tokens = 1000
    right = round(tokens * (1 - sum(errors) / len(errors)))
    solved = round(100 * (1 - sum(errors) / len(errors)))
    calibration = Calibrated(0.5, 0.0, ())
    return LevelPoint(axis, value, 0, tokens, right, 1.0, errors, calibration, 100, solved, solved, inside, None)


def _inside(place: Place, layer: int) -> Inside:
    return Inside(0.5, 10, 4.0, None if layer == 0 else 0.5)
