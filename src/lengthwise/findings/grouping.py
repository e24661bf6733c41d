"""The models of a study by configuration, and the risks of a model by place."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from lengthwise.findings.evidence import Climb, Evidence
from lengthwise.probes.ladder.levels import LevelPoint
from lengthwise.records import Assumption
from lengthwise.tasks.ladder import TRAINING

Configuration = tuple[str, str, int, int]  # task, position, depth, width

IN_RANGE, FARTHEST, BEYOND = "in range", "farthest depth", "all levels beyond training"
DEPTH = "depth"
LEARNED = 0.15  # risk in the training range up to which a model is said to have learned
LEARNED_RULE = f"learned is: a risk of at most {LEARNED:g} in range, so {1 - LEARNED:.0%} of the tokens right or more"
_ROUNDING = 1e-9

SHARED_ITEMS = Assumption(
    "models of one task were measured on the same items and trained on the same data, so they are not independent",
    "violated",
)


def by_configuration(climbs: Iterable[Climb]) -> dict[Configuration, list[Climb]]:
    """The climbs of each configuration, one a seed, in the order of seeds."""
    groups: dict[Configuration, list[Climb]] = {}
    for climb in climbs:
        groups.setdefault(climb.configuration, []).append(climb)
    return {key: sorted(group, key=lambda climb: climb.seed) for key, group in groups.items()}


def axes_of(evidence: Evidence) -> list[str]:
    """The axes that were climbed, in the order in which they come."""
    found = (point.axis for climb in evidence.climbs for point in climb.ladder.points)
    return [axis for axis in dict.fromkeys(found) if axis != TRAINING]


def points_at(climb: Climb, place: str) -> list[LevelPoint]:
    """The levels that a place stands for: IN_RANGE, FARTHEST, BEYOND, or the name of an axis."""
    points = climb.ladder.points
    if place == IN_RANGE:
        return [point for point in points if point.axis == TRAINING]
    if place == BEYOND:
        return [point for point in points if point.axis != TRAINING]
    along = [point for point in points if point.axis == (DEPTH if place == FARTHEST else place)]
    return [max(along, key=lambda point: point.value)] if along and place == FARTHEST else along


def risk_at(climb: Climb, place: str) -> float | None:
    """The mean risk over the levels of a place; None where none was measured."""
    return mean([point.risk for point in points_at(climb, place)])


def has_learned(climbs: Sequence[Climb]) -> bool:
    """Whether the risk in the training range, averaged over these models, is LEARNED or less.

    For one model or for the seeds of a configuration. A model that never learned its range has nothing to lose beyond
    it, so no finding about what a shift costs is made from such models.
    """
    risks = [risk for climb in climbs if (risk := risk_at(climb, IN_RANGE)) is not None]
    found = mean(risks)
    return found is not None and found <= LEARNED + _ROUNDING


def increase_at(climb: Climb, place: str) -> float | None:
    """The mean risk over the levels of a place minus the risk in range; None where either was not measured."""
    there, in_range = risk_at(climb, place), risk_at(climb, IN_RANGE)
    return None if there is None or in_range is None else there - in_range


def common_levels(climbs: Sequence[Climb]) -> list[LevelPoint]:
    """The levels that all of these climbs have, as points of the first."""
    names = set.intersection(*({point.name for point in climb.ladder.points} for climb in climbs))
    return [point for point in climbs[0].ladder.points if point.name in names]


def mean(values: Sequence[float]) -> float | None:
    """The mean; None of nothing."""
    return math.fsum(values) / len(values) if values else None


def named(configuration: Configuration) -> str:
    """A configuration in words."""
    task, position, depth, width = configuration
    return f"{task}, {position}, depth {depth}, width {width}"
