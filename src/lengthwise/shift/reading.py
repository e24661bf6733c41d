"""Two files of trajectories, one JSON object a line."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from lengthwise.errors import UsageError
from lengthwise.tasks.jsonl_reader import Split, object_of, read_alike, tokens_of
from lengthwise.transport.trajectories import Sample, Trajectory

_EXAMPLE = '{"text": "3 1 2"} or {"input": "3 1 2", "answer": "1 2 3"}'
_WAYS = ("trajectory", "text", "input")


def read_samples(first: str, second: str) -> tuple[Sample, Sample]:
    """The samples of two files; their texts are split by one rule, that of `--data`, taken over both files.

    A line holds `trajectory` (a list of tokens, or text), `text`, or `input` and `answer`; perhaps also `weight`,
    `depth` (a list of numbers) and `features` (numbers by name). What one line of a file has, all its lines have.
    """
    try:
        readers = read_alike([first, second], _Reader)
    except OSError as error:
        raise UsageError(f"{error.filename} cannot be read: {error.strerror or error}") from None
    one, two = (reader.sample(path) for reader, path in zip(readers, (first, second), strict=True))
    return one, two


class _Reader:
    """Takes a file line by line."""

    def __init__(self, split: Split) -> None:
        self.split = split
        self.trajectories: list[Trajectory] = []
        self.weights: list[float] = []
        self.extras: set[str] | None = None

    def take(self, text: str, line: int) -> None:  # noqa: ARG002  # the line is told by who calls
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
        raise UsageError(f"the depth is a list of numbers, one a step, not {json.dumps(item['depth'])[:40]}")
    return tuple(_number(value, "the depth of a step") for value in item["depth"])


def _features(item: Mapping[str, Any]) -> tuple[tuple[str, float], ...]:
    features = item.get("features", {})
    if not isinstance(features, dict):
        raise UsageError(f'features are numbers by name, as {{"nodes": 12}}, not {json.dumps(features)[:40]}')
    return tuple((name, _number(value, f"the feature {name!r}")) for name, value in sorted(features.items()))


def _number(value: Any, what: str) -> float:
    if type(value) not in (int, float) or not math.isfinite(value):
        raise UsageError(f"{what} is a finite number, not {json.dumps(value)[:40]}")
    return float(value)
