"""Names and shapes of many tensors in few bytes: what differs only in the number of its layer is listed once."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from lengthwise.bounds.compression.bit_strings import DAMAGED
from lengthwise.errors import UsageError

Shape = tuple[int, ...]
MARK = "#"  # where the number of the layer stood
MOST_TENSORS = 1 << 20
MOST_LETTERS = 1 << 26  # of the names of one group
_NUMBER = re.compile(r"(?<![0-9])(0|[1-9][0-9]*)(?![0-9])")


def grouped(shapes: Mapping[str, Shape]) -> list[list[Any]]:
    """[pattern, shape, count] for every group; `layers.#.weight` with count 3 stands for the layers 0, 1 and 2.

    A name on its own has count 0 and its pattern is the name. A group is made only where the numbers 0 … count - 1 are
    all there in the same shape.
    """
    members: dict[tuple[str, Shape], dict[int, str]] = {}
    for name, shape in shapes.items():
        found = None if MARK in name else _NUMBER.search(name)
        if found:
            pattern = name[: found.start()] + MARK + name[found.end() :]
            members.setdefault((pattern, shape), {})[int(found[0])] = name
    groups, done = [], set()
    for (pattern, shape), numbered in members.items():
        if len(numbered) > 1 and set(numbered) == set(range(len(numbered))):
            groups.append([pattern, list(shape), len(numbered)])
            done.update(numbered.values())
    return groups + [[name, list(shape), 0] for name, shape in shapes.items() if name not in done]


def listed(groups: Any, limit: int) -> dict[str, Shape]:
    """The names and shapes that `grouped` put together, in the order of the groups; at most `limit` numbers in all."""
    shapes: dict[str, Shape] = {}
    numbers = 0
    for group in groups if isinstance(groups, list) else [None]:
        match group:
            case [str(pattern), list(sizes), int(count)] if all(type(n) is int and n >= 0 for n in sizes):
                names = _names(pattern, count, MOST_TENSORS - len(shapes))
            case _:
                raise UsageError(f"{DAMAGED}: its list of tensors cannot be read")
        for name in names:
            size = 1
            for n in sizes:
                size *= n
            numbers += size
            if name in shapes or len(sizes) > 32 or max(sizes, default=0) > 1 << 40:
                raise UsageError(f"{DAMAGED}: its list of tensors contradicts itself")
            if numbers > limit:
                raise UsageError(f"the message holds more than {limit} numbers; raise `limit` to read it all the same")
            shapes[name] = tuple(sizes)
    return shapes


def _names(pattern: str, count: int, most: int) -> list[str]:
    if not 0 <= count <= most or count * len(pattern) > MOST_LETTERS:
        raise UsageError(f"{DAMAGED}: it lists too many tensors")
    if count == 0:
        return [pattern]
    return [pattern.replace(MARK, str(n), 1) for n in range(count)]
