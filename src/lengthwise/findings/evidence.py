"""What findings are made from: the ladders of a study's models, and how far each level is from training."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lengthwise.probes.ladder.levels import Ladder
from lengthwise.shift.level_shift import LevelShift


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
    def configuration(self) -> tuple[str, str, int, int]:
        """What a seed repeats."""
        return (self.task, self.position, self.depth, self.width)


@dataclass(frozen=True)
class Evidence:
    """Everything findings look at."""

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
