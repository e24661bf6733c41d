"""Copying in three layouts: distinct tokens one by one, tokens that repeat one by one, and with a pointer."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.seeds import Draws, Ints
from lengthwise.tasks import tasks
from lengthwise.tasks.alphabets import numerals
from lengthwise.tasks.batch import Samples
from lengthwise.tasks.formulations.formulation import EMPTY, State, symbol
from lengthwise.tasks.formulations.layouts import EQUALS, Appending, Change, Columns
from lengthwise.tasks.task import Axis

BLANK, POINTER = "_", "^"
AXES = (Axis("length", "tokens to copy"),)


class _CopySteps(Appending):
    """Numbers below `alphabet`, written again behind themselves."""

    alphabet: int
    axes = AXES

    @property
    def symbols(self) -> tuple[str, ...]:
        return numerals(self.alphabet)

    def ranges(self, size: int) -> tuple[int, ...]:
        return (self.alphabet,) * size

    def lay(self, rows: Ints) -> Samples:
        return Samples(rows, rows)


@tasks.register("copy_distinct_steps")
@dataclass(frozen=True)
class CopyDistinctSteps(_CopySteps):
    """Copy distinct tokens one by one.

    `7 2 9 4` → `7 2 9 4`. The last token copied says where to go on: two windows of 3 settle a step.
    """

    alphabet: int = 150

    def has(self, size: int) -> bool:
        return 1 <= size <= self.alphabet

    def every(self, size: int) -> Iterator[tuple[int, ...]]:
        return itertools.permutations(range(self.alphabet), size)

    def some(self, size: int, draws: Draws) -> Ints:
        return draws.subset(self.alphabet, size)

    def following(self, given: Sequence[str], written: Sequence[str]) -> tuple[str, tuple[int, ...]] | None:
        if len(set(given)) < len(given):
            raise UsageError("the tokens to copy are distinct")
        if not written:
            return given[0], (0,)
        place = given.index(written[-1]) + 1
        return (given[place], (place - 1, place)) if place < len(given) else None


@tasks.register("copy_repeat_steps")
@dataclass(frozen=True)
class CopyRepeatSteps(_CopySteps):
    """Copy tokens that may repeat one by one.

    `0 1 1 0` → `0 1 1 0`. Only the count of tokens copied says where to go on, and no number of windows settles a step.
    """

    alphabet: int = 2

    def following(self, given: Sequence[str], written: Sequence[str]) -> tuple[str, tuple[int, ...]] | None:
        place = len(written)
        return (given[place], (place,)) if place < len(given) else None


@tasks.register("copy_pointer")
@dataclass(frozen=True)
class CopyPointer(Columns):
    """Copy tokens that may repeat; a pointer stands on the one to copy next.

    `0|· 1|^ 1|· =|· 0|· _|· _|·` → `0|· 1|· 1|^ =|· 0|· 1|· _|·`. Two windows of 3 settle a step.
    """

    alphabet: int = 2
    axes = AXES

    @property
    def symbols(self) -> tuple[str, ...]:
        tokens = [symbol((str(token), mark)) for token in range(self.alphabet) for mark in (EMPTY, POINTER)]
        return (*tokens, symbol((EQUALS, EMPTY)), symbol((BLANK, EMPTY)))

    def ranges(self, size: int) -> tuple[int, ...]:
        return (self.alphabet,) * size

    def steps(self, size: int) -> int:
        return size

    def frames(self, rows: Ints, times: Ints) -> Ints:
        equals, blank = 2 * self.alphabet, 2 * self.alphabet + 1
        places = np.arange(rows.shape[1])
        copied = np.where(places < times, 2 * rows, blank)
        return np.hstack([2 * rows + (places == times), np.full((len(rows), 1), equals), copied])

    def changes(self, state: State) -> Mapping[int, Change]:
        size = state.index((EQUALS, EMPTY))
        place = next((place for place, (_, mark) in enumerate(state) if mark == POINTER), None)
        if place is None:
            return {}
        token, cell = state[place][0], state.index((BLANK, EMPTY))
        changes = {
            place: Change((token, EMPTY), (place,)),
            cell: Change((token, EMPTY), (place, cell - 1, cell)),
        }
        if place + 1 < size:
            changes[place + 1] = Change((state[place + 1][0], POINTER), (place, place + 1))
        return changes
