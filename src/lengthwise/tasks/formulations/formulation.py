"""The contract of a formulation: states made of columns, the step to the next, and what each column is made from."""

from __future__ import annotations

import abc
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.records import Reference
from lengthwise.seeds import Draws, Ints
from lengthwise.tasks.batch import NOTHING
from lengthwise.tasks.facts import Facts
from lengthwise.tasks.task import Task

Column = tuple[str, ...]  # one token a line, the lines stacked
State = tuple[Column, ...]
Labels = tuple[str | None, ...]
Sources = tuple[tuple[int, ...], ...]

EMPTY = "·"  # a line that holds nothing in this column
XIAO = Reference("xiao2024", "(n, r)-consistency, Theorems 3.5 to 3.7")


@dataclass(frozen=True)
class StepMove:
    """One step of a chain.

    `labels[i]` is what is asked at position i of `state` (None: nothing); `sources[j]` are the positions of `state`
    from which position j of `after` was computed. A column that is only carried over has one source.
    """

    state: State
    after: State
    labels: Labels
    sources: Sources


class Formulation(Task):
    """A task whose one step maps a state to the next: `step` until None, then `answer`.

    An instance of a size is a row of numbers, the j-th of them below `ranges(size)[j]`; `start` lays it out.
    `instances` gives all of a size, `starts` a sample, and `moves` the steps from a start. The labels of a step give
    the next state back through `apply`, so that a model that predicts labels can be run to the end. A finished state
    has no step; its labels leave it as it is.
    """

    facts = Facts(references=(XIAO,))
    padded: ClassVar[bool] = True  # a state that has shrunk is filled up to the length of the first one

    @abc.abstractmethod
    def ranges(self, size: int) -> tuple[int, ...]:
        """How many values each number of an instance can take."""

    @abc.abstractmethod
    def start(self, size: int, row: Sequence[int] | Ints) -> State:
        """The first state of an instance."""

    @abc.abstractmethod
    def step(self, state: State) -> State | None:
        """The next state, or None when the state is finished."""

    @abc.abstractmethod
    def labels(self, state: State) -> Labels:
        """What is asked at each position of a state."""

    @abc.abstractmethod
    def apply(self, state: State, labels: Labels) -> State:
        """The next state, from the labels of this one."""

    def advance(self, states: Ints, labels: Ints) -> list[Ints | None]:
        """`apply` for a batch of equally long states with the labels a model gave, both indices into `symbols`.

        A label that is no symbol is `NOTHING`. None stands where there is no next state: a model may say anything, and
        a formulation may answer a state that no chain holds in any way, so whatever `apply` raises is meant.
        """
        index = {text: number for number, text in enumerate(self.symbols)}

        def following(state: Ints, given: Ints) -> Ints | None:
            if NOTHING in given:
                return None
            try:
                after = self.apply(tuple(column(text) for text in self.spelled(state)), self.spelled(given))
                return np.array([index[symbol(each)] for each in after], dtype=np.int64) if after else None
            except Exception:
                return None

        return [following(state, given) for state, given in zip(states, labels, strict=True)]

    @abc.abstractmethod
    def sources(self, state: State) -> Sources:
        """For each position of the next state the positions of this one it is computed from, in increasing order."""

    @abc.abstractmethod
    def answer(self, state: State) -> tuple[str, ...]:
        """What a finished state says, the least significant digit first where it is a number of several digits."""

    def lacking(self, size: int) -> str:
        """The sentence that says that there are no instances of a size."""
        return f"the task has no instances of size {size}"

    def every(self, size: int) -> Iterator[tuple[int, ...]]:
        """All instances of a size as rows of numbers."""
        return itertools.product(*map(range, self.ranges(size)))

    def some(self, size: int, draws: Draws) -> Ints:
        """One instance for each row of `draws`, uniform among all, [items, numbers]."""
        ranges = self.ranges(size)
        return draws.integers(0, np.array(ranges), len(ranges))

    def instances(self, size: int) -> Iterator[State]:
        """The first states of all instances of a size; their number grows exponentially with it."""
        return (self.start(size, row) for row in self.every(size))

    def starts(self, size: int, draws: Draws) -> list[State]:
        """The first state of one instance for each row of `draws`."""
        return [self.start(size, row) for row in self.some(size, draws)]

    def chain(self, start: State) -> Iterator[State]:
        """The states from `start` to the finished one, both included."""
        state: State | None = start
        while state is not None:
            yield state
            state = self.step(state)

    def moves(self, start: State) -> Iterator[StepMove]:
        """The steps from a start to its end; an instance that needs none gives one move, which leaves it as it is."""
        states = list(self.chain(start))
        for state, after in itertools.pairwise(states if len(states) > 1 else states * 2):
            yield StepMove(state, after, self.labels(state), self.sources(state))

    def read(self, prompt: Sequence[str]) -> State:
        """A prompt as a state."""
        unknown = sorted(set(prompt) - set(self.symbols))
        if unknown or not prompt:
            raise UsageError(
                f"a prompt is made of this task's symbols, not of {unknown[0]!r}" if unknown else "no prompt"
            )
        return tuple(column(symbol) for symbol in prompt)


def column(symbol: str) -> Column:
    """`1|0|·` → ("1", "0", "·")."""
    return tuple(symbol.split("|"))


def symbol(column: Column) -> str:
    """("1", "0", "·") → `1|0|·`."""
    return "|".join(column)
