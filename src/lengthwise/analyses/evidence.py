"""What conclusions from ladders rest on: the ladders of a study's models, and how far each level is from training.

Models that differ in their seed alone are one configuration. A place is a set of levels: those in range, those of one
axis, the farthest depth, or all beyond training.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from lengthwise.messages import explain, sentence
from lengthwise.probes.index_shift import IndexShift
from lengthwise.probes.ladder.levels import Ladder, LevelPoint
from lengthwise.probes.probe import named as probed
from lengthwise.records import Assumption, Record
from lengthwise.shift.level_shift import LevelShift
from lengthwise.studies.record import RunRecord
from lengthwise.studies.summary import StudySummary
from lengthwise.tasks.ladder import TRAINING

# Any other place is the name of an axis. INDEX is no level: the training range at other positions.
IN_RANGE, FARTHEST, BEYOND, INDEX = "in_range", "farthest", "beyond", "index"
DEPTH = "depth"
LEARNED = 0.15  # risk in the training range up to which a model is said to have learned
_ROUNDING = 1e-9

explain(
    {
        "place.in_range": "in range",
        "place.farthest": "farthest depth",
        "place.beyond": "all levels beyond training",
        "place.index": "index shift",
        "place.axis": "levels of {axis}",
        "ladder.learned": (
            "learned means a risk of at most {learned:g} in range, that is, at least {share:.0%} of the tokens right"
        ),
        "ladder.shared_items": "models of one task were measured on the same items and trained on the same data, so "
        "they are not independent",
    }
)
SHARED_ITEMS = Assumption("ladder.shared_items", "caveat")
LEARNED_VALUES = {"learned": LEARNED, "share": 1 - LEARNED}


class Configuration(NamedTuple):
    """What a seed repeats. `depth` is a level of the search in these studies, so a model has layers in words."""

    task: str
    position: str
    depth: int
    width: int

    @property
    def label(self) -> str:
        return f"{self.task}, {self.position}, depth {self.depth}, width {self.width}"

    @property
    def model(self) -> str:
        """The label without the task: `rope, 2 layers, width 32`."""
        return f"{self.position}, {layers_text(self.depth)}, width {self.width}"


@dataclass(frozen=True)
class Climb:
    """One trained model and its ladder. `position` is the encoding's spec; `seed` that of training; `moved` is what
    moving all positions does in the training range, where that was measured."""

    task: str
    position: str
    depth: int
    width: int
    seed: int
    ladder: Ladder
    moved: IndexShift | None = None

    @property
    def configuration(self) -> Configuration:
        return Configuration(self.task, self.position, self.depth, self.width)

    def points_at(self, place: str) -> list[LevelPoint]:
        """The levels of a place: IN_RANGE, FARTHEST, BEYOND, or the name of an axis."""
        points = self.ladder.points
        if place in (IN_RANGE, BEYOND):
            return [point for point in points if (point.axis == TRAINING) == (place == IN_RANGE)]
        along = [point for point in points if point.axis == (DEPTH if place == FARTHEST else place)]
        return [max(along, key=lambda point: point.value)] if along and place == FARTHEST else along

    def risk_at(self, place: str) -> float | None:
        """The mean risk over the levels of a place, or over index shifts; None where none was measured."""
        if place == INDEX:
            return self.moved and self.moved.moved_risk
        return mean(point.risk for point in self.points_at(place))

    def increase_at(self, place: str) -> float | None:
        """The mean risk over the levels of a place minus the risk in range; None where either was not measured. After
        an index shift the risk of the very same items is subtracted."""
        if place == INDEX:
            return self.moved and self.moved.increase
        there, in_range = self.risk_at(place), self.risk_at(IN_RANGE)
        return None if there is None or in_range is None else there - in_range


@dataclass(frozen=True, eq=False)  # by identity, so that what is concluded from it can be kept
class Evidence:
    """Everything the analyses of ladders look at."""

    climbs: tuple[Climb, ...]
    shifts: tuple[LevelShift, ...]

    def metrics(self) -> list[str]:
        return list(dict.fromkeys(shift.metric for shift in self.shifts))

    def shift_of(self, task: str, metric: str) -> dict[str, LevelShift]:
        """The shifts of a task in a metric, by the name of the level."""
        return {shift.name: shift for shift in self.shifts if (shift.task, shift.metric) == (task, metric)}

    @cached_property
    def configurations(self) -> dict[Configuration, list[Climb]]:
        """The climbs of each configuration, one per seed, in the order of seeds."""
        return by_configuration(self.climbs)

    @property
    def tasks(self) -> list[str]:
        return list(dict.fromkeys(climb.task for climb in self.climbs))

    @property
    def encodings(self) -> list[str]:
        return list(dict.fromkeys(climb.position for climb in self.climbs))

    @property
    def layers(self) -> list[int]:
        return sorted({climb.depth for climb in self.climbs})

    @property
    def axes(self) -> list[str]:
        """The axes that were climbed, in the order in which they come."""
        found = (point.axis for climb in self.climbs for point in climb.ladder.points)
        return [axis for axis in dict.fromkeys(found) if axis != TRAINING]


def evidence_of(runs: Iterable[RunRecord], shifts: Iterable[Mapping[str, Any]]) -> Evidence | None:
    """The ladders of these runs with the distances of their levels, as far as they are known; None without ladders."""
    records = [(run, record) for run in runs if (record := run.record("ladder"))]
    climbs = [_climb({**run.settings, **vars(run)}, record, run.record("index_shift")) for run, record in records]
    return _evidence(climbs, shifts) if climbs else None


def summed_up(summary: StudySummary) -> Evidence:
    """The same from a file that `lengthwise study export --summary` wrote; its ladders have no examples."""
    found = [(row, *(probed(own.values(), name) for name in ("ladder", "index_shift"))) for row, own in summary.runs]
    return _evidence([_climb(row, record, moved) for row, record, moved in found if record], summary.shifts)


def _climb(row: Mapping[str, Any], record: Record, moved: Record | None) -> Climb:
    depth, width = int(row["depth"]), int(row["width"])
    shifted = None if moved is None or moved.failed else IndexShift.from_record(moved)
    return Climb(row["task"], row["position"], depth, width, row["seed"], Ladder.from_record(record), shifted)


def _evidence(climbs: Sequence[Climb], shifts: Iterable[Mapping[str, Any]]) -> Evidence:
    """Distances belong to a training size: of a task that was trained to several, the largest is looked at."""
    sizes: dict[str, int] = {}
    for climb in climbs:
        sizes[climb.task] = max(climb.ladder.train_size, sizes.get(climb.task, 0))
    near = (LevelShift.from_plain(row) for row in shifts if sizes.get(row["task"]) == row["train_size"])
    return Evidence(tuple(climb for climb in climbs if climb.ladder.train_size == sizes[climb.task]), tuple(near))


def by_configuration(climbs: Iterable[Climb]) -> dict[Configuration, list[Climb]]:
    """The climbs of each configuration, one per seed, in the order of seeds."""
    groups: dict[Configuration, list[Climb]] = {}
    for climb in climbs:
        groups.setdefault(climb.configuration, []).append(climb)
    return {key: sorted(group, key=lambda climb: climb.seed) for key, group in groups.items()}


def widest(configurations: Iterable[Configuration]) -> set[Configuration]:
    """Of each task, encoding and number of layers the configuration with the widest model."""
    return set({one[:3]: one for one in sorted(configurations)}.values())


def has_learned(climbs: Sequence[Climb]) -> bool:
    """Whether the risk in the training range, averaged over these models, is LEARNED or less.

    For one model or for the seeds of a configuration. A model that never learned its range has nothing to lose beyond
    it, so nothing about the cost of a shift is concluded from such models.
    """
    found = mean(climb.risk_at(IN_RANGE) for climb in climbs)
    return found is not None and found <= LEARNED + _ROUNDING


def common_levels(climbs: Sequence[Climb]) -> list[LevelPoint]:
    """The levels that all of these climbs have, as points of the first."""
    names = set.intersection(*({point.name for point in climb.ladder.points} for climb in climbs))
    return [point for point in climbs[0].ladder.points if point.name in names]


def mean(values: Iterable[float | None]) -> float | None:
    """The mean of the values that are known; None of nothing."""
    known = [value for value in values if value is not None]
    return math.fsum(known) / len(known) if known else None


def layers_text(depth: int) -> str:
    return f"{depth} layer{'' if depth == 1 else 's'}"


def place_text(place: str) -> str:
    """A place in words."""
    known = place in (IN_RANGE, FARTHEST, BEYOND, INDEX)
    return sentence(f"place.{place}" if known else "place.axis", {"axis": place})
