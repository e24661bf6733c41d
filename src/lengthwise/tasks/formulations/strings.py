"""Strings in several layouts: their parity, directly and step by step, and their copies, with and without a pointer."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.seeds import Draws, Ints
from lengthwise.tasks import tasks
from lengthwise.tasks.alphabets import numerals
from lengthwise.tasks.batch import NOTHING, Samples
from lengthwise.tasks.chance import Chance
from lengthwise.tasks.formulations.formulation import EMPTY, State, symbol
from lengthwise.tasks.formulations.layouts import (
    DROP,
    EQUALS,
    KEEP,
    MARKED_COLUMNS,
    THREE_COLUMNS,
    Appending,
    Change,
    Columns,
    Redex,
    Rewriting,
)
from lengthwise.tasks.task import Axis

BITS = ("0", "1")
BLANK, POINTER = "_", "^"
PARITY = (Axis("length", "bits whose parity is asked for"),)
COPY = (Axis("length", "tokens to copy"),)


def xor(left: str, right: str) -> str:
    return "0" if left == right else "1"


class _BitsAppended(Appending):
    """Bits in, and bits written behind them."""

    axes = PARITY

    @property
    def symbols(self) -> tuple[str, ...]:
        return BITS

    def ranges(self, size: int) -> tuple[int, ...]:
        return (2,) * size


@tasks.register("parity_direct")
@dataclass(frozen=True)
class ParityDirect(_BitsAppended):
    """Say at once whether the number of ones is odd.

    `1 0 1 1` → `1`. The one step reads every bit: R grows with the length, and no number of windows settles it.
    """

    def lay(self, rows: Ints) -> Samples:
        return Samples(rows, rows.sum(axis=1, keepdims=True) % 2)

    def following(self, given: Sequence[str], written: Sequence[str]) -> tuple[str, tuple[int, ...]] | None:
        return None if written else (str(given.count("1") % 2), tuple(range(len(given))))

    def chance(self, size: int) -> Chance:  # noqa: ARG002
        return Chance(0.5, 0.5)


@tasks.register("parity_appended")
@dataclass(frozen=True)
class ParityAppended(_BitsAppended):
    """Append the parity of the first bit, of the first two, and so on; the last is the parity of all.

    `1 0 1 1` → `1 1 0 1`. A step reads the parity before and the next bit, which lie as far apart as the input is long.
    """

    def lay(self, rows: Ints) -> Samples:
        return Samples(rows, np.cumsum(rows, axis=1) % 2)

    def following(self, given: Sequence[str], written: Sequence[str]) -> tuple[str, tuple[int, ...]] | None:
        if len(written) == len(given):
            return None
        return xor(written[-1] if written else "0", given[len(written)]), (len(written),)


@tasks.register("parity_leftmost")
@dataclass(frozen=True)
class ParityLeftmost(Rewriting):
    """Replace the leftmost two bits by their exclusive or, until one bit is left.

    `1 0 1 1` → `1 drop keep keep`, which makes it `1 1 1`. R is 1; windows of 4R + 1 = 5 are the least that settle it.
    """

    axes = PARITY

    @property
    def tokens(self) -> tuple[str, ...]:
        return BITS

    def ranges(self, size: int) -> tuple[int, ...]:
        return (2,) * size

    def length(self, size: int) -> int:
        return size

    def start(self, size: int, row: Sequence[int] | Ints) -> State:  # noqa: ARG002
        return tuple((str(bit),) for bit in row)

    def redexes(self, tokens: Sequence[str]) -> list[Redex]:
        return [Redex(0, 1, 0, xor(tokens[0], tokens[1]))] if len(tokens) > 1 else []

    def sample(self, size: int, draws: Draws) -> Samples:
        """As in `Rewriting`, for all items at once: after t steps the first bit is the parity of the first t + 1."""
        bits = self.some(size, draws)
        time = (draws.uniform(1) * size).astype(np.int64)
        places = time + np.arange(size)
        prompts = np.where(places < size, np.take_along_axis(bits, places % size, axis=1), NOTHING)
        prompts[:, :1] = np.take_along_axis(np.cumsum(bits, axis=1) % 2, time, axis=1)
        answers = np.where(places < size, self.symbols.index(KEEP), NOTHING)
        if size > 1:
            going = time[:, 0] < size - 1  # one bit is the end, and is kept
            answers[going, 0] = prompts[going, 0] ^ prompts[going, 1]
            answers[going, 1] = self.symbols.index(DROP)
        return Samples(prompts, answers)


@tasks.register("parity_columns")
@dataclass(frozen=True)
class ParityColumns(Columns):
    """Write the running parity under the bits, one bit per step.

    `1|1 0|· 1|· 1|·` → `1|1 0|1 1|· 1|·`. R is 1, and windows of 3 settle it.
    """

    axes = PARITY
    preset = THREE_COLUMNS

    @property
    def symbols(self) -> tuple[str, ...]:
        return tuple(symbol((bit, parity)) for bit in BITS for parity in (EMPTY, *BITS))

    def ranges(self, size: int) -> tuple[int, ...]:
        return (2,) * size

    def steps(self, size: int) -> int:
        return size

    def frames(self, rows: Ints, times: Ints) -> Ints:
        written = np.arange(rows.shape[1]) < times
        return rows * 3 + np.where(written, 1 + np.cumsum(rows, axis=1) % 2, 0)

    def changes(self, state: State) -> Mapping[int, Change]:
        place = next((place for place, (_, parity) in enumerate(state) if parity == EMPTY), None)
        if place is None:
            return {}
        bit = state[place][0]
        if place == 0:
            return {0: Change((bit, bit), (0,))}
        return {place: Change((bit, xor(state[place - 1][1], bit)), (place - 1, place))}

    def answer(self, state: State) -> tuple[str, ...]:
        return (state[-1][1],)


class _CopySteps(Appending):
    """Numbers below `alphabet`, written again behind themselves."""

    alphabet: int
    axes = COPY

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

    `7 2 9 4` → `7 2 9 4`. The last token copied says where to continue: two windows of 3 determine every step.
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

    `0 1 1 0` → `0 1 1 0`. Only the count of tokens copied says where to continue, and no number of windows settles a
    step.
    """

    alphabet: int = 2

    def following(self, given: Sequence[str], written: Sequence[str]) -> tuple[str, tuple[int, ...]] | None:
        place = len(written)
        return (given[place], (place,)) if place < len(given) else None


@tasks.register("copy_pointer")
@dataclass(frozen=True)
class CopyPointer(Columns):
    """Copy tokens that may repeat; a pointer stands on the one to copy next.

    `0|· 1|^ 1|· =|· 0|· _|· _|·` → `0|· 1|· 1|^ =|· 0|· 1|· _|·`. Two windows of 3 determine every step.
    """

    preset = MARKED_COLUMNS
    alphabet: int = 2
    axes = COPY

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
