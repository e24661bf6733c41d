"""The items of a ladder once more, as trajectories, without a model: those that were measured, in the same order."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass

from lengthwise.errors import LengthwiseError
from lengthwise.tasks import tasks
from lengthwise.tasks.ladder import Level, ladder_of
from lengthwise.transport.trajectories import Trajectory

ITEMS_SEED = 0  # all models are measured on the items of this seed, whatever the seed of their training


@dataclass(frozen=True)
class Redrawn:
    """A level and its items; no trajectory of the level has more than `longest` tokens, drawn or not."""

    level: Level
    items: tuple[Trajectory, ...]
    longest: int


def redrawn(task: str, train_size: int, count: int) -> Mapping[str, Redrawn]:
    """The levels of a task by name, with the first `count` items of each; none for a task that is not known here, such
    as a file on another machine or one that is not trusted."""
    try:
        return _redrawn(task, train_size, count)
    except LengthwiseError:
        return {}


@functools.lru_cache(maxsize=32)
def _redrawn(task: str, train_size: int, count: int) -> Mapping[str, Redrawn]:
    return {level.name: redraw(level, count) for level in ladder_of(tasks.restore(task), train_size)}


def redraw(level: Level, count: int) -> Redrawn:
    """Items 0 to `count` - 1 at a level, prompt and answer. The sizes take turns: item i is number i // sizes of the
    size i % sizes, as `measurement.level_items` draws them (that needs torch, so it is written again here; a test keeps
    the two the same). `longest` is the width of the arrays that items are drawn into, of all sizes."""
    task, sizes = level.task.part("test"), level.sizes
    found: list[Trajectory | None] = [None] * count
    longest = 0
    for turn, size in enumerate(sizes):
        places = range(turn, count, len(sizes))
        samples = task.draw(size, ITEMS_SEED, range(max(1, len(places))), role="test")
        longest = max(longest, samples.prompts.shape[1] + samples.answers.shape[1])
        for place, prompt, answer in zip(places, samples.prompts, samples.answers, strict=False):
            asked = task.spelled(prompt)
            found[place] = Trajectory((*asked, *task.spelled(answer)), asked=len(asked))
    return Redrawn(level, tuple(item for item in found if item is not None), longest)
