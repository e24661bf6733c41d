"""A sample of trajectories from a task: at a size, at a range of sizes, or at a level of a ladder."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.seeds import Ints, Seeds
from lengthwise.tasks import tasks
from lengthwise.tasks.contract import check_own
from lengthwise.tasks.ladder import Level
from lengthwise.tasks.search.search_task import SearchTask
from lengthwise.tasks.sizes import name_of
from lengthwise.tasks.task import Task
from lengthwise.transport.trajectories import Sample, Trajectory

ITEMS = 200


def task_sample(task: str | Task, sizes: int | str, items: int = ITEMS, seed: int = 0, role: str = "first") -> Sample:
    """Items 0, 1, ... of a task; item i is the same however many are drawn, and samples of two roles are independent.

    `sizes` is one size, or a range as "5-20" of which each item has any size with the same chance. A trajectory is the
    prompt followed by its answer; tags and numbers are not written after a prompt, so there it is the prompt alone. A
    search carries its depth after every token and what it does in numbers (nodes, pops, choices, values).
    Roles that begin with "second" draw from what the task keeps for testing, any other from what it has for training.
    """
    made = tasks.make(task) if isinstance(task, str) else task
    chosen = _sizes(made, str(sizes))
    check_own(made, [max(chosen)])
    return _sample(made, chosen, items, seed, role, f"{name_of(made)} at {sizes}")


def level_sample(level: Level, items: int = ITEMS, seed: int = 0, role: str = "first") -> Sample:
    """Items 0, 1, ... of a level of a ladder, each of any of its sizes with the same chance; roles are as above.

    Levels that are drawn with one role and one seed may share random numbers, so they are not independent of each
    other; samples of two roles are.
    """
    return _sample(level.task, level.sizes, items, seed, role, f"{name_of(level.task)}, {level.name}")


def _sample(task: Task, sizes: Sequence[int], items: int, seed: int, role: str, name: str) -> Sample:
    if items < 1:
        raise UsageError(f"a sample has 1 item or more, not {items}")
    numbers = np.arange(items)
    drawn = np.array(sizes)[Seeds(seed).draws(f"size of {role}", items=numbers).integers(0, len(sizes), 1)[:, 0]]
    trajectories: list[Trajectory | None] = [None] * items
    for size in np.unique(drawn):
        of_size = numbers[drawn == size]
        for item, trajectory in zip(of_size, _drawn(task, int(size), seed, of_size, role), strict=True):
            trajectories[item] = trajectory
    return Sample.of([t for t in trajectories if t is not None], name=name)


def _drawn(task: Task, size: int, seed: int, items: Ints, role: str) -> list[Trajectory]:
    part = task.part("test" if role.startswith("second") else "train")
    samples = part.draw(size, seed, items, role)
    if part.readout != "answer":
        return [Trajectory(part.spelled(prompt)) for prompt in samples.prompts]
    pairs = ((part.spelled(p), part.spelled(a)) for p, a in zip(samples.prompts, samples.answers, strict=True))
    return [_trajectory(part, prompt, answer) for prompt, answer in pairs]


def _trajectory(task: Task, prompt: tuple[str, ...], answer: tuple[str, ...]) -> Trajectory:
    tokens, asked = (*prompt, *answer), len(prompt)
    if not isinstance(task, SearchTask):
        return Trajectory(tokens, asked=asked)
    depth = tuple(float(moves) for moves in task.contour(prompt, answer))
    return Trajectory(tokens, depth, tuple(task.numbers_of(prompt, answer).items()), asked)


def _sizes(task: Task, text: str) -> list[int]:
    found = re.fullmatch(r"\s*(\d+)\s*(?:-\s*(\d+)\s*)?", text)
    if not found:
        raise UsageError(f"sizes are a whole number as 10, or a range as 5-20, not {text!r}")
    low, high = int(found[1]), int(found[2] or found[1])
    if low > high:
        raise UsageError(f"a range of sizes goes upwards, as {high}-{low}, not {text}")
    sizes = task.sizes(low, high)
    if not sizes:
        task.draw(low, 0, [0])  # says which sizes there are
        raise UsageError(f"the task has no items of the sizes {text}")
    return sizes
