"""Chains of reasoning steps as arrays: the true one of an instance, and the one that a model walked.

A state is an array of indices into the letters of its formulation, so that states are compared and laid out for a model
without spelling them.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from lengthwise.seeds import Ints
from lengthwise.tasks.formulations.formulation import Formulation, State, column
from lengthwise.tasks.formulations.layouts import END, EQUALS, Columns

Ending = Literal["stopped", "endless", "invalid"]


@dataclass(frozen=True)
class Walk:
    """The states of a chain from its start, and how it ended.

    "stopped": the last state is final by what the model said of it. "endless": it came back to an earlier state, or
    passed the guard. "invalid": what the model said of the last state makes no next one.
    """

    states: tuple[Ints, ...]
    ending: Ending

    @property
    def steps(self) -> int:
        return len(self.states) - 1


class StepSymbols:
    """A formulation read and written in indices: its symbols, and the `=` and `<eos>` of appended layouts."""

    def __init__(self, task: Formulation) -> None:
        self.task = task
        self.texts = (*task.symbols, *(text for text in (EQUALS, END) if text not in task.symbols))
        self.index = {text: number for number, text in enumerate(self.texts)}
        self._columns = [column(text) for text in self.texts]
        self._numbers = {each: number for number, each in enumerate(self._columns)}
        self._known: dict[bytes, Ints | None] = {}

    def written(self, state: State) -> Ints:
        return np.array([self._numbers[each] for each in state], dtype=np.int64)

    def read(self, state: Ints) -> State:
        return tuple(map(self._columns.__getitem__, state.tolist()))

    def chain(self, size: int, row: Ints) -> tuple[Ints, ...]:
        """The true states of an instance, from its start to the finished one."""
        task = self.task
        if isinstance(task, Columns):
            times = np.arange(task.steps(size) + 1)[:, None]
            return tuple(task.frames(np.repeat(row[None], len(times), axis=0), times))
        return tuple(self.written(state) for state in task.chain(task.start(size, row)))

    def step(self, state: Ints) -> Ints | None:
        """The true next state, which for a finished one is itself; None where the task knows no such state.

        A model can bring about a state that no chain holds, and a formulation may fail on it in any way.
        """
        key = state.tobytes()
        if key not in self._known:
            try:
                self._known[key] = self.written(self.task.step(self.read(state)) or self.read(state))
            except Exception:
                self._known[key] = None
        return self._known[key]

    def walk(self, start: Ints, guard: int) -> Walk:
        """The chain of the exact solver from any state, perhaps one that no true chain holds."""
        states = [start]
        for _ in range(guard):
            after = self.step(states[-1])
            if after is None:
                return Walk(tuple(states), "invalid")
            if np.array_equal(after, states[-1]):
                return Walk(tuple(states), "stopped")
            states.append(after)
        return Walk(tuple(states), "endless")

    def labels(self, state: Ints) -> list[int | None]:
        """What is asked at each position of a true state; None where nothing is."""
        return [None if label is None else self.index[label] for label in self.task.labels(self.read(state))]

    def answer(self, walk: Walk) -> tuple[str, ...] | None:
        """What the last state of a chain says; None where the chain did not stop, or the state says nothing."""
        if walk.ending != "stopped":
            return None
        try:
            return self.task.answer(self.read(walk.states[-1]))
        except Exception:
            return None


def equal(one: Ints | None, other: Ints | None) -> bool:
    return one is not None and other is not None and np.array_equal(one, other)


def differing(one: Ints, other: Ints) -> int:
    """In how many columns two states differ; where one is longer, its further columns count."""
    shared = min(len(one), len(other))
    return int((one[:shared] != other[:shared]).sum()) + abs(len(one) - len(other))


def first_error(walk: Walk, truth: Sequence[Ints]) -> int | None:
    """How many steps of a walk from the true start are right before the first that is not; None if all are.

    Stopping, which maps the finished state to itself, is the last step.
    """
    for time, (mine, true) in enumerate(itertools.zip_longest(walk.states, truth)):
        if not equal(mine, true):
            return time - 1
    return None if walk.ending == "stopped" else walk.steps
