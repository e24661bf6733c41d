"""Marks on the columns in use, marks of their own for each, and segments one above the other; steps stay as they are,
but for a pointer that moves one column at a time."""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

from lengthwise.oracle.locality.repairs.shapes import Column, State, cut, gathered, joined, spread


class Encoding(ABC):
    """Another way to write a state, from which the state can be read; steps are those of the original."""

    @abstractmethod
    def encoded(self, state: State, original: Any) -> State:
        """The state, written in this way."""

    @abstractmethod
    def answer(self, state: State) -> State:
        """The state that is written in this way."""

    def begin(self, start: State, original: Any) -> State:
        return self.encoded(start, original)

    def step(self, state: State, original: Any) -> State | None:
        after = original.step(self.answer(state))
        return None if after is None else self.encoded(after, original)


@dataclass(frozen=True)
class Stacked(Encoding):
    """The segments of a state one above the other: columns of equal index share a column."""

    between: tuple[Column, ...]
    heights: tuple[int, ...]
    places: tuple[str, ...]
    nothing: str

    def encoded(self, state: State, original: Any) -> State:  # noqa: ARG002
        segments = cut(state, self.between)
        width = max(map(len, segments))
        parts = zip(segments, self.places, self.heights, strict=True)
        rows = [spread(segment, place, width, (self.nothing,) * height) for segment, place, height in parts if height]
        return tuple(sum(cells, ()) for cells in zip(*rows, strict=True))

    def answer(self, state: State) -> State:
        segments, top = [], 0
        for place, height in zip(self.places, self.heights, strict=True):
            cells = [column[top : top + height] for column in state]
            segments.append(gathered(cells, place, (self.nothing,) * height) if height else ())
            top += height
        return joined(segments, self.between)


@dataclass(frozen=True)
class Numbered(Encoding):
    """Equal marks are numbered from the left, so that each has its own: each of `marks` names a row and a token."""

    marks: tuple[tuple[int, str], ...]

    def encoded(self, state: State, original: Any) -> State:  # noqa: ARG002
        counts = {mark: itertools.count(1) for mark in self.marks}
        return tuple(
            tuple(f"{t}{next(counts[row, t])}" if (row, t) in counts else t for row, t in enumerate(column))
            for column in state
        )

    def answer(self, state: State) -> State:
        plain = {(row, f"{token}{number}"): token for row, token in self.marks for number in range(1, 10)}
        return tuple(tuple(plain.get((row, t), t) for row, t in enumerate(column)) for column in state)


@dataclass(frozen=True)
class Marked(Encoding):
    """A mark on every column that the next step changes, in a row of its own; states keep their length."""

    mark: str
    empty: str

    def encoded(self, state: State, original: Any) -> State:
        after = original.step(state) or state
        same = (old == new for old, new in zip(state, after, strict=True))
        return tuple((*column, self.empty if kept else self.mark) for column, kept in zip(state, same, strict=True))

    def answer(self, state: State) -> State:
        return tuple(column[:-1] for column in state)


@dataclass(frozen=True)
class Pointed:
    """A pointer that moves one column per step to where the original step changes something, and when nothing is left
    to change to the end. It begins at the "left" or "right" end and goes to the first or last column of a change."""

    mark: str
    empty: str
    begins: str
    goes: str

    def begin(self, start: State, original: Any) -> State:  # noqa: ARG002
        return self._with(start, 0 if self.begins == "left" else len(start) - 1)

    def answer(self, state: State) -> State:
        return tuple(column[:-1] for column in state)

    def step(self, state: State, original: Any) -> State | None:
        plain = self.answer(state)
        here = next(at for at, column in enumerate(state) if column[-1] == self.mark)
        after = original.step(plain)
        end = len(plain) - 1 if self.begins == "left" else 0
        there = end if after is None else self._place(plain, after)
        if here != there:
            return self._with(plain, here + (1 if there > here else -1))
        return None if after is None else self._with(after, min(here, len(after) - 1))

    def _place(self, state: State, after: State) -> int:
        """The first or last column that a step changes."""
        shorter = min(len(state), len(after))
        head = next((at for at in range(shorter) if state[at] != after[at]), shorter)
        tail = next((at for at in range(shorter - head) if state[-1 - at] != after[-1 - at]), shorter - head)
        return min(head, len(state) - 1) if self.goes == "first" else max(0, len(state) - tail - 1)

    def _with(self, state: State, here: int) -> State:
        return tuple((*column, self.mark if at == here else self.empty) for at, column in enumerate(state))
