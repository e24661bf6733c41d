"""States as segments between separators, and segments as rows of cells."""

from __future__ import annotations

import itertools
import random
from typing import Any

Column = tuple[str, ...]
State = tuple[Column, ...]


def columns(value: Any) -> State:
    """A state as a tuple of columns, from text or from a list of tokens or columns."""
    parts = value.split() if isinstance(value, str) else value
    return tuple(tuple(p.split("|")) if isinstance(p, str) else tuple(map(str, _listed(p))) for p in parts)


def _listed(part: Any) -> Any:
    return (part,) if isinstance(part, int) else part


def given(state: State) -> list[Any]:
    """A state as a step function takes it: a list of tokens where every column is one, else of columns."""
    return list(state) if any(len(column) > 1 for column in state) else [token for (token,) in state]


def cut(state: State, separators: tuple[Column, ...]) -> list[State]:
    """The segments of a state between its separators."""
    segments: list[list[Column]] = [[]]
    for column in state:
        if column in separators:
            segments.append([])
        else:
            segments[-1].append(column)
    return [tuple(segment) for segment in segments]


def joined(segments: list[State], between: tuple[Column, ...]) -> State:
    """The segments with what stands between them."""
    state = list(segments[0])
    for separator, segment in zip(between, segments[1:], strict=True):
        state += [separator, *segment]
    return tuple(state)


def spread(segment: State, place: str, width: int, nothing: Column) -> list[Column]:
    """A segment in a row of `width` cells: at the "left" or "right" end, forwards or "reversed"."""
    parts = list(segment[::-1] if place.endswith("reversed") else segment)
    if len(parts) > width:
        raise ValueError(f"a segment of {len(parts)} columns does not fit into {width}")
    empty = [nothing] * (width - len(parts))
    return empty + parts if place.startswith("right") else parts + empty


def gathered(cells: list[Column], place: str, nothing: Column) -> State:
    """The segment in a row of cells."""
    parts = [cell for cell in cells if cell != nothing]
    return tuple(parts[::-1] if place.endswith("reversed") else parts)


class Original:
    """The layout that is repaired, with states as tuples of columns."""

    def __init__(self, step: Any, starts: Any, draw: Any = None) -> None:
        self._step, self._starts, self.draw = step, starts, draw
        self._finals: dict[State, State] = {}

    def step(self, state: State) -> State | None:
        after = self._step(given(state))
        return None if after is None else columns(after)

    def starts(self, size: int) -> Any:
        return map(columns, self._starts(size))

    def some(self, size: int, count: int) -> list[State]:
        """A few first states of a size: random ones where the layout can draw them, else the first of all."""
        if self.draw is None:
            return list(itertools.islice(self.starts(size), count))
        return [columns(self.draw(size, random.Random(f"{size} {number}"))) for number in range(count)]

    def final(self, start: State) -> State:
        """The last state of the chain from a start; the last thousand are remembered."""
        if start not in self._finals:
            state, after = start, self.step(start)
            while after is not None:
                state, after = after, self.step(after)
            if len(self._finals) > 1000:
                self._finals.clear()
            self._finals[start] = state
        return self._finals[start]
