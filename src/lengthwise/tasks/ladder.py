"""A ladder of shifts: levels at which a task is drawn further and further from training, one axis at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from lengthwise.errors import UsageError
from lengthwise.tasks.sizes import name_of
from lengthwise.tasks.task import Task

TRAINING = "training"


def level_name(axis: str, value: int) -> str:
    """What a level is called: "depth 5", or "training"."""
    return TRAINING if axis == TRAINING else f"{axis} {value}"


@dataclass(frozen=True)
class Rung:
    """How an axis is climbed: `steps` levels beyond training, each `by` further."""

    axis: str
    by: int
    steps: int = 6


@dataclass(frozen=True)
class Level:
    """One level: which axis was moved to which value, and the task and the sizes to draw from there."""

    axis: str
    value: int
    task: Task
    sizes: tuple[int, ...]

    @property
    def name(self) -> str:
        return level_name(self.axis, self.value)


@runtime_checkable
class Laddered(Protocol):
    """A task that knows its levels."""

    def levels(self, train_size: int) -> tuple[Level, ...]: ...


def ladder_of(task: Task, train_size: int) -> tuple[Level, ...]:
    """The levels of a task trained on sizes up to `train_size`. A task with one axis climbs it in six steps to three
    times the training size."""
    if isinstance(task, Laddered):
        return task.levels(train_size)
    axis = task.axes[0].name
    sizes = tuple(task.sizes(1, train_size))
    beyond = task.sizes(train_size + 1, 3 * train_size)
    if not beyond:
        raise UsageError(f"the task {name_of(task)} has no items beyond size {train_size}, so there is no ladder")
    steps = sorted({beyond[round(share * (len(beyond) - 1) / 6)] for share in range(1, 7)})
    return (Level(TRAINING, 0, task, sizes), *(Level(axis, size, task, (size,)) for size in steps))
