"""Aligned columns that are filled from left to right, one per step, with what has to be carried along in a row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lengthwise.oracle.locality.repairs.shapes import Column, State, cut, gathered, joined, spread


@dataclass(frozen=True)
class Sweep:
    """Segments of the first state are the rows of columns; below them stands the answer, which each step writes in the
    first empty column. `between` separates the segments and `places` says how each lies in its row, that of the answer
    last; `heights` is how many tokens their columns have. `extra` columns are more than the longest segment has.
    `carried` gives what a column adds to what was carried so far; None: nothing is. `appends`: the original layout
    appends its answer, and otherwise its last state is the answer."""

    between: tuple[Column, ...]
    heights: tuple[int, ...]
    places: tuple[str, ...]
    extra: int
    appends: bool
    empty: str
    nothing: str
    carried: dict[tuple[str, str], str] | None = None

    def begin(self, start: State) -> State:
        """The first state."""
        unwritten = (self.empty,) * (self.heights[-1] + (self.carried is not None))
        return tuple(column + unwritten for column in self.laid(start))

    def laid(self, start: State) -> list[Column]:
        """The segments of a first state, one above the other."""
        segments = cut(start, self.between)
        width = max(map(len, segments)) + self.extra
        parts = zip(segments, self.places, self.heights, strict=False)
        rows = [spread(segment, place, width, (self.nothing,) * height) for segment, place, height in parts if height]
        return [sum(cells, ()) for cells in zip(*rows, strict=True)]

    def answers(self, start: State, final: State, width: int) -> list[Column]:
        """What is written into each column."""
        written = final[len(start) :] if self.appends else final
        return spread(written, self.places[-1], width, (self.nothing,) * self.heights[-1])

    def seen(self, column: Column, last: bool) -> str:
        """What the machine that carries reads of a column: its segments, and whether it is the last."""
        return "|".join(column[: sum(self.heights[:-1])]) + (" $" if last else "")

    def step(self, state: State, original: Any) -> State | None:
        """The first empty column is written."""
        at = next((at for at, column in enumerate(state) if column[-1] == self.empty), None)
        if at is None:
            return None
        start, head = self.start(state), sum(self.heights[:-1])
        written = self.answers(start, original.final(start), len(state))[at]
        if self.carried is not None:
            before = state[at - 1][-1] if at else "s0"
            written += (self.carried[before, self.seen(state[at], at == len(state) - 1)],)
        return (*state[:at], state[at][:head] + written, *state[at + 1 :])

    def start(self, state: State) -> State:
        """The first state of the original chain."""
        segments, top = [], 0
        for place, height in zip(self.places[:-1], self.heights[:-1], strict=True):
            cells = [column[top : top + height] for column in state]
            segments.append(gathered(cells, place, (self.nothing,) * height) if height else ())
            top += height
        return joined(segments, self.between)

    def answer(self, state: State) -> State:
        """The last state of the original chain, from that of this one."""
        top = sum(self.heights[:-1])
        cells = [column[top : top + self.heights[-1]] for column in state]
        written = gathered(cells, self.places[-1], (self.nothing,) * self.heights[-1])
        return (*self.start(state), *written) if self.appends else written
