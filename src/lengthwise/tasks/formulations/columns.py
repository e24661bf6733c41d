"""States that keep their length: a step writes some columns anew and carries the others over."""

from __future__ import annotations

import abc
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.seeds import Draws, Ints
from lengthwise.tasks.batch import NOTHING, Samples
from lengthwise.tasks.formulations.formulation import Column, Formulation, Labels, Sources, State, column, symbol

# One layer in which a column sees itself and its two neighbours: enough where windows of 3 settle a step. Where what
# stands in them tells left from right, it does without a position encoding.
THREE_COLUMNS = {"causal": False, "depth": 1, "width": 32, "heads": 2, "attention": "window:size=2"}


class Change(NamedTuple):
    """A column as a step writes it, and the positions it was computed from."""

    column: Column
    sources: tuple[int, ...]


class Columns(Formulation):
    """A formulation whose states keep their length; the label of a position is its next column.

    A subclass says what a step changes, on symbols (`changes`), and independently of it what the state of an instance
    is at any time, on arrays (`frames`); the first serves the solver and the second the sampler.
    """

    readout = "tags"
    preset: ClassVar[Mapping[str, Any]] = {"causal": False}  # a step looks to both sides

    @abc.abstractmethod
    def steps(self, size: int) -> int:
        """How many steps an instance of this size takes."""

    @abc.abstractmethod
    def frames(self, rows: Ints, times: Ints) -> Ints:
        """The states of instances [items, numbers] after `times` [items, 1] steps, as indices into `symbols`."""

    @abc.abstractmethod
    def changes(self, state: State) -> Mapping[int, Change]:
        """The columns the next step writes, by position; none when the state is finished."""

    def start(self, size: int, row: Sequence[int] | Ints) -> State:  # noqa: ARG002
        frame = self.frames(np.array([row], dtype=np.int64), np.zeros((1, 1), dtype=np.int64))[0]
        return tuple(column(text) for text in self.spelled(frame))

    def step(self, state: State) -> State | None:
        changes = self.changes(state)
        if not changes:
            return None
        return tuple(changes[place].column if place in changes else same for place, same in enumerate(state))

    def labels(self, state: State) -> Labels:
        return tuple(symbol(column) for column in self.step(state) or state)

    def apply(self, state: State, labels: Labels) -> State:
        if len(labels) != len(state) or None in labels:
            raise UsageError(f"a state of {len(state)} columns takes as many labels, not {len(labels)}")
        return tuple(column(label) for label in labels if label is not None)

    def advance(self, states: Ints, labels: Ints) -> list[Ints | None]:
        if type(self).apply is not Columns.apply:
            return super().advance(states, labels)
        return [None if lost else row for row, lost in zip(labels, (labels == NOTHING).any(axis=1), strict=True)]

    def sources(self, state: State) -> Sources:
        changes = self.changes(state)
        return tuple(changes[place].sources if place in changes else (place,) for place in range(len(state)))

    def sample(self, size: int, draws: Draws) -> Samples:
        """A random instance at a time drawn uniformly from its chain, its end included.

        The finished state is asked for itself: that is how a model that is run to the end knows where to stop.
        """
        rows, last = self.some(size, draws), self.steps(size)
        times = draws.integers(0, last + 1, 1)
        return Samples(self.frames(rows, times), self.frames(rows, np.minimum(times + 1, last)))

    def solve(self, prompt: Sequence[str]) -> Sequence[str]:
        try:
            return tuple(label for label in self.labels(self.read(prompt)) if label is not None)
        except (ValueError, IndexError) as error:
            raise UsageError(f"{' '.join(prompt)!r} is not a state of this formulation") from error
