"""Samples of trajectories: drawn from a task, or read from two files with one JSON object per line."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.limits import MOST_SIZE, whole_number
from lengthwise.seeds import Ints, Seeds
from lengthwise.tasks import tasks
from lengthwise.tasks.contract import check_own
from lengthwise.tasks.jsonl import Split, object_of, read_alike, tokens_of
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
        raise UsageError(f"a sample must have 1 item or more, not {items}")
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
        raise UsageError(f"sizes must be a whole number such as 10, or a range such as 5-20, not {text!r}")
    low, high = (whole_number(end, "a size", MOST_SIZE) for end in (found[1], found[2] or found[1]))
    if low > high:
        raise UsageError(f"a range of sizes must go upwards, such as {high}-{low}, not {text}")
    sizes = task.sizes(low, high)
    if not sizes:
        task.draw(low, 0, [0])  # says which sizes there are
        raise UsageError(f"the task has no items of the sizes {text}")
    return sizes


_EXAMPLE = '{"text": "3 1 2"} or {"input": "3 1 2", "answer": "1 2 3"}'
_WAYS = ("trajectory", "text", "input")


def read_samples(first: str, second: str) -> tuple[Sample, Sample]:
    """The samples of two files; their texts are split by one rule, that of `--data`, taken over both files.

    A line holds `trajectory` (a list of tokens, or text), `text`, or `input` and `answer`; perhaps also `weight`,
    `depth` (a list of numbers) and `features` (numbers by name). What one line of a file has, all its lines have.
    """
    try:
        readers = read_alike([first, second], _TrajectoryReader)
    except OSError as error:
        raise UsageError(f"{error.filename} cannot be read: {error.strerror or error}") from None
    one, two = (reader.sample(path) for reader, path in zip(readers, (first, second), strict=True))
    return one, two


class _TrajectoryReader:
    """Takes a file line by line."""

    def __init__(self, split: Split) -> None:
        self.split = split
        self.trajectories: list[Trajectory] = []
        self.weights: list[float] = []
        self.extras: set[str] | None = None

    def take(self, text: str, line: int) -> None:  # noqa: ARG002  # the caller names the line
        item = object_of(text, _EXAMPLE)
        extras = {key for key in ("weight", "depth", "features") if key in item}
        if self.extras is None:
            self.extras = extras
        if odd := sorted(self.extras ^ extras):
            raise UsageError(f"{odd[0]!r} is on some lines only; give it on all of them or on none")
        tokens, asked = self._tokens(item)
        depth, features = _depth(item), _features(item)
        self.trajectories.append(Trajectory(tuple(tokens), depth, features, asked))
        if "weight" in item:
            self.weights.append(_number(item["weight"], "the weight"))

    def _tokens(self, item: Mapping[str, Any]) -> tuple[list[str], int | None]:
        ways = [key for key in _WAYS if key in item]
        if len(ways) != 1:
            found = f"it has {' and '.join(ways)}" if ways else f"it has {', '.join(item) or 'none'}"
            raise UsageError(f"a line has one of 'trajectory', 'text' and 'input' (with 'answer'); {found}")
        if ways != ["input"]:
            return tokens_of(item[ways[0]], ways[0], self.split), None
        if "answer" not in item:
            raise UsageError(f"the key 'answer' is missing; it has {', '.join(item)}")
        asked, answer = (tokens_of(item[key], key, self.split) for key in ("input", "answer"))
        return [*asked, *answer], len(asked)

    def sample(self, path: str) -> Sample:
        if not self.trajectories:
            raise UsageError(f"{path} is empty; each line holds a trajectory such as {_EXAMPLE}")
        glue = "" if self.split is list else " "
        return Sample.of(self.trajectories, self.weights or None, name=path, glue=glue)


def _depth(item: Mapping[str, Any]) -> tuple[float, ...] | None:
    if "depth" not in item:
        return None
    if not isinstance(item["depth"], list):
        raise UsageError(f"the depth must be a list of numbers, one per step, not {json.dumps(item['depth'])[:40]}")
    return tuple(_number(value, "the depth of a step") for value in item["depth"])


def _features(item: Mapping[str, Any]) -> tuple[tuple[str, float], ...]:
    features = item.get("features", {})
    if not isinstance(features, dict):
        raise UsageError(f'features must be numbers by name, such as {{"nodes": 12}}, not {json.dumps(features)[:40]}')
    return tuple((name, _number(value, f"the feature {name!r}")) for name, value in sorted(features.items()))


def _number(value: Any, what: str) -> float:
    if type(value) not in (int, float) or not math.isfinite(value):
        raise UsageError(f"{what} must be a finite number, not {json.dumps(value)[:40]}")
    return float(value)
