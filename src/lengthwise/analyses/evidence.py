"""What conclusions from ladders rest on: the ladders of a study's models, and how far each level is from training.

Models that differ in their seed alone are one configuration. A place is a set of levels: those in range, those of one
axis, the farthest depth, or all beyond training.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lengthwise.errors import UsageError
from lengthwise.messages import explain, sentence
from lengthwise.probes.ladder.levels import Ladder, LevelPoint
from lengthwise.probes.probe import named as probed
from lengthwise.records import Assumption
from lengthwise.shift.level_shift import LevelShift
from lengthwise.studies.record import RunRecord
from lengthwise.studies.shifts import read_shifts
from lengthwise.studies.store import Store
from lengthwise.studies.summary import StudySummary
from lengthwise.tasks.ladder import TRAINING

Configuration = tuple[str, str, int, int]  # task, position, depth, width

IN_RANGE, FARTHEST, BEYOND = "in_range", "farthest", "beyond"  # any other place is the name of an axis
DEPTH = "depth"
LEARNED = 0.15  # risk in the training range up to which a model is said to have learned
_ROUNDING = 1e-9

explain(
    {
        "place.in_range": "in range",
        "place.farthest": "farthest depth",
        "place.beyond": "all levels beyond training",
        "place.axis": "levels of {axis}",
        "ladder.learned": "learned means a risk of at most {learned:g} in range, so {share:.0%} of the tokens right "
        "or more",
        "ladder.shared_items": "models of one task were measured on the same items and trained on the same data, so "
        "they are not independent",
    }
)
SHARED_ITEMS = Assumption("ladder.shared_items", "violated")
LEARNED_VALUES = {"learned": LEARNED, "share": 1 - LEARNED}


@dataclass(frozen=True)
class Climb:
    """One trained model and its ladder. `position` is the encoding's spec; `seed` that of training."""

    task: str
    position: str
    depth: int
    width: int
    seed: int
    ladder: Ladder

    @property
    def configuration(self) -> Configuration:
        """What a seed repeats."""
        return (self.task, self.position, self.depth, self.width)


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

    def of(self, climbs: Sequence[Climb]) -> Evidence:
        """The same distances with some of the models."""
        return Evidence(tuple(climbs), self.shifts)

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


def gather(folder: str | Path, train_size: int | None = None) -> Evidence:
    """The ladders of all finished runs of a study, with the distances of their levels as far as they are known.

    Distances belong to a training size. Where runs of one task were trained on several, `train_size` says which."""
    with Store.open(folder) as store:
        runs = store.runs(probe="ladder")
    return evidence_of(runs, read_shifts(folder), train_size, str(folder))


def evidence_of(
    runs: Iterable[RunRecord], shifts: Iterable[Mapping[str, Any]], train_size: int | None = None, where: str = "it"
) -> Evidence:
    """The ladders of these runs, which all have one, with the distances of their levels."""
    climbs = []
    for run in runs:
        record = run.record("ladder")
        assert record is not None
        depth, width = int(run.settings["depth"]), int(run.settings["width"])
        climbs.append(Climb(run.task, run.position, depth, width, run.seed, Ladder.from_record(record)))
    return _evidence(climbs, shifts, train_size, where)


def summed_up(summary: StudySummary) -> Evidence:
    """The same from a file that `lengthwise study export --summary` wrote; its ladders have no examples."""
    climbs = [
        Climb(row["task"], row["position"], row["depth"], row["width"], row["seed"], Ladder.from_record(record))
        for row, records in summary.runs
        if (record := probed(records.values(), "ladder"))
    ]
    return _evidence(climbs, summary.shifts, None, "the summary")


def _evidence(
    climbs: Iterable[Climb], shifts: Iterable[Mapping[str, Any]], train_size: int | None, where: str
) -> Evidence:
    climbs = [climb for climb in climbs if train_size in (None, climb.ladder.train_size)]
    trained: dict[str, set[int]] = {}
    for climb in climbs:
        trained.setdefault(climb.task, set()).add(climb.ladder.train_size)
    for task, sizes in trained.items():
        if len(sizes) > 1:
            several = " and ".join(map(str, sorted(sizes)))
            raise UsageError(f"{where} has ladders of {task} trained to {several}; say which with train_size")
    near = [LevelShift.from_plain(row) for row in shifts if row["train_size"] in trained.get(row["task"], ())]
    return Evidence(tuple(climbs), tuple(near))


def by_configuration(climbs: Iterable[Climb]) -> dict[Configuration, list[Climb]]:
    """The climbs of each configuration, one per seed, in the order of seeds."""
    groups: dict[Configuration, list[Climb]] = {}
    for climb in climbs:
        groups.setdefault(climb.configuration, []).append(climb)
    return {key: sorted(group, key=lambda climb: climb.seed) for key, group in groups.items()}


def points_at(climb: Climb, place: str) -> list[LevelPoint]:
    """The levels of a place: IN_RANGE, FARTHEST, BEYOND, or the name of an axis."""
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
    it, so nothing about the cost of a shift is concluded from such models.
    """
    found = mean([risk for climb in climbs if (risk := risk_at(climb, IN_RANGE)) is not None])
    return found is not None and found <= LEARNED + _ROUNDING


def increase_at(climb: Climb, place: str) -> float | None:
    """The mean risk over the levels of a place minus the risk in range; None where either was not measured."""
    there, in_range = risk_at(climb, place), risk_at(climb, IN_RANGE)
    return None if there is None or in_range is None else there - in_range


def common_levels(climbs: Sequence[Climb]) -> list[LevelPoint]:
    """The levels that all of these climbs have, as points of the first."""
    names = set.intersection(*({point.name for point in climb.ladder.points} for climb in climbs))
    return [point for point in climbs[0].ladder.points if point.name in names]


def mean(values: Iterable[float | None]) -> float | None:
    """The mean of the values that are known; None of nothing."""
    known = [value for value in values if value is not None]
    return math.fsum(known) / len(known) if known else None


def named(configuration: Configuration) -> str:
    """The label of a configuration."""
    task, position, depth, width = configuration
    return f"{task}, {position}, depth {depth}, width {width}"


def layers_text(depth: int) -> str:
    """`depth` is a level of the search in these studies, so a model has layers."""
    return f"{depth} layer{'' if depth == 1 else 's'}"


def model_name(configuration: Configuration) -> str:
    """The label without the task: `rope, 2 layers, width 32`."""
    _, position, depth, width = configuration
    return f"{position}, {layers_text(depth)}, width {width}"


def place_text(place: str) -> str:
    """A place in words."""
    known = place in (IN_RANGE, FARTHEST, BEYOND)
    return sentence(f"place.{place}") if known else sentence("place.axis", {"axis": place})
