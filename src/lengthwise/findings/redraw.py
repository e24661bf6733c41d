"""The items of a level once more, as trajectories, without a model: those that were measured, in the same order."""

from __future__ import annotations

from lengthwise.tasks.ladder import Level
from lengthwise.transport.trajectories import Trajectory

ITEMS_SEED = 0  # all models are measured on the items of this seed


def measured_items(level: Level, count: int) -> list[Trajectory]:
    """Items 0 to `count` - 1 of the level, prompt and answer. The sizes take turns: item i is number i // sizes of the
    size i % sizes, as `measurement.level_items` draws them (that needs torch, so it is written again here; a test keeps
    the two the same)."""
    task, sizes = level.task.part("test"), level.sizes
    found: list[Trajectory | None] = [None] * count
    for turn, size in enumerate(sizes[:count]):
        places = range(turn, count, len(sizes))
        samples = task.draw(size, ITEMS_SEED, range(len(places)), role="test")
        for place, prompt, answer in zip(places, samples.prompts, samples.answers, strict=True):
            asked = task.spelled(prompt)
            found[place] = Trajectory((*asked, *task.spelled(answer)), asked=len(asked))
    return [trajectory for trajectory in found if trajectory is not None]


def longest_trajectory(level: Level) -> int:
    """No trajectory of the level has more tokens: the width of the arrays that its items are drawn into."""
    task = level.task.part("test")
    drawn = (task.draw(size, ITEMS_SEED, [0], role="test") for size in level.sizes)
    return max(samples.prompts.shape[1] + samples.answers.shape[1] for samples in drawn)
