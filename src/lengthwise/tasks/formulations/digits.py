"""Sums and products digit by digit: appended, in aligned columns, and with marks on the digits in use."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.seeds import Ints
from lengthwise.tasks import tasks
from lengthwise.tasks.alphabets import numerals
from lengthwise.tasks.batch import Samples, ids_by_significance
from lengthwise.tasks.formulations.formulation import EMPTY, Column, State, column, symbol
from lengthwise.tasks.formulations.layouts import EQUALS, MARKED_COLUMNS, THREE_COLUMNS, Appending, Change, Columns
from lengthwise.tasks.task import Axis

PLUS, TIMES, BLANK, ROW = "+", "*", "_", ">"
AXES = (Axis("digits", "digits of each summand, the least significant first"),)


def summed(rows: Ints, base: int) -> tuple[Ints, Ints, Ints, Ints]:
    """Two summands side by side in a row → each with a zero on top, the digits of the sum, the carries into them."""
    size = rows.shape[1] // 2
    top = np.zeros((len(rows), 1), dtype=np.int64)
    left, right = np.hstack([rows[:, :size], top]), np.hstack([rows[:, size:], top])
    carries = np.zeros_like(left)
    for place in range(size):
        carries[:, place + 1] = (left[:, place] + right[:, place] + carries[:, place]) // base
    return left, right, (left + right + carries) % base, carries


def divided(total: int, base: int) -> tuple[str, str]:
    """The digit and the carry."""
    return str(total % base), str(total // base)


@tasks.register("addition_appended")
@dataclass(frozen=True)
class AdditionAppended(Appending):
    """Append the digits of a sum, the least significant first.

    `1 0 1 + 1 1 0` → `0 0 0 1` (5 + 3 in base 2). The digits a step reads lie as far apart as the summands are long.
    """

    base: int = 2
    axes = AXES

    @property
    def symbols(self) -> tuple[str, ...]:
        return (*numerals(self.base), PLUS)

    def ranges(self, size: int) -> tuple[int, ...]:
        return (self.base,) * (2 * size)

    def lay(self, rows: Ints) -> Samples:
        left, right, total, _ = summed(rows, self.base)
        plus = np.full((len(rows), 1), self.base)
        return Samples(np.hstack([left[:, :-1], plus, right[:, :-1]]), total)

    def ids(self, prompts: Ints, answer: int) -> Ints:
        return ids_by_significance(prompts, self.base, answer, longest="sum")

    def following(self, given: Sequence[str], written: Sequence[str]) -> tuple[str, tuple[int, ...]] | None:
        size, place = len(given) // 2, len(written)
        if [token == PLUS for token in given] != [at == size for at in range(2 * size + 1)]:
            raise UsageError(f"a sum must be two summands of one length around {PLUS!r}, not {' '.join(given)!r}")
        if place > size:
            return None
        total, used = 0, ()
        if place:  # a digit smaller than its summands together has overflowed
            used = (place - 1, size + place)
            total = int(int(given[place - 1]) + int(given[size + place]) > int(written[-1]))
        if place < size:
            used = (*used, place, size + 1 + place)
            total += int(given[place]) + int(given[size + 1 + place])
        return str(total % self.base), used


@dataclass(frozen=True)
class ColumnSums(Columns):
    """Add column by column: two digits, and below them what is written of their sum with the carry. R is 1, and windows
    of 3 settle it. Classes say what is written, and read it."""

    base: int = 2
    axes = AXES
    preset = THREE_COLUMNS

    @abstractmethod
    def written(self, total: int) -> tuple[str, ...]:
        """The lines below two digits, once their sum with the carry is known."""

    @abstractmethod
    def carry(self, column: Column) -> int:
        """The carry out of a column that is written."""

    @property
    def symbols(self) -> tuple[str, ...]:
        digits = range(self.base)
        empty = (EMPTY,) * len(self.written(0))
        return tuple(
            symbol((str(a), str(b), *(self.written(a + b + carry) if carry >= 0 else empty)))
            for a in digits
            for b in digits
            for carry in (-1, 0, 1)
        )

    def ranges(self, size: int) -> tuple[int, ...]:
        return (self.base,) * (2 * size)

    def steps(self, size: int) -> int:
        return size + 1

    def frames(self, rows: Ints, times: Ints) -> Ints:
        left, right, _, carries = summed(rows, self.base)
        written = np.arange(left.shape[1]) < times
        return (left * self.base + right) * 3 + np.where(written, 1 + carries, 0)

    def changes(self, state: State) -> Mapping[int, Change]:
        place = next((place for place, column in enumerate(state) if column[2] == EMPTY), None)
        if place is None:
            return {}
        a, b = state[place][:2]
        carry = self.carry(state[place - 1]) if place else 0
        used = (place - 1, place) if place else (0,)
        return {place: Change((a, b, *self.written(int(a) + int(b) + carry)), used)}


@tasks.register("addition_columns")
@dataclass(frozen=True)
class AdditionColumns(ColumnSums):
    """Add column by column: the two digits, below them the digit of the sum and the carry out of it.

    `1|1|0|1 0|1|·|· 0|0|·|·` → `1|1|0|1 0|1|0|1 0|0|·|·` (1 + 3 in base 2, the least significant first). R is 1, and
    windows of 3 settle it. One more column than the summands have digits takes the last carry.
    """

    def written(self, total: int) -> tuple[str, ...]:
        return divided(total, self.base)

    def carry(self, column: Column) -> int:
        return int(column[3])

    def answer(self, state: State) -> tuple[str, ...]:
        return tuple(digit for _, _, digit, _ in state)


@tasks.register("addition_marked")
@dataclass(frozen=True)
class AdditionMarked(Columns):
    """Add digit by digit; the two digits to be added are marked, and the one to be written has the carry.

    `1|a 0|· +|· 1|b 1|· =|· _|c0 _|· _|·` → `1|· 0|a +|· 1|· 1|b =|· 0|· _|c1 _|·` (1 + 3 in base 2, the least
    significant first). A step reads digits far apart, but three windows of 3 settle it, each found by its mark.
    """

    preset = MARKED_COLUMNS
    base: int = 2
    axes = AXES
    marks: ClassVar[tuple[str, str]] = ("a", "b")

    @property
    def symbols(self) -> tuple[str, ...]:
        marks = (EMPTY, *dict.fromkeys(self.marks))
        digits = [symbol((digit, mark)) for digit in numerals(self.base) for mark in marks]
        return (*digits, *(symbol((token, EMPTY)) for token in (PLUS, EQUALS, BLANK)), f"{BLANK}|c0", f"{BLANK}|c1")

    def ranges(self, size: int) -> tuple[int, ...]:
        return (self.base,) * (2 * size)

    def steps(self, size: int) -> int:
        return size + 1

    def frames(self, rows: Ints, times: Ints) -> Ints:
        left, right, total, carries = summed(rows, self.base)
        where = {text: number for number, text in enumerate(self.symbols)}
        digits = numerals(self.base)
        plain, first, second = (np.array([where[f"{d}|{mark}"] for d in digits]) for mark in (EMPTY, *self.marks))
        pending = np.array([where[f"{BLANK}|c0"], where[f"{BLANK}|c1"]])[carries]
        places = np.arange(left.shape[1])
        parts = [
            np.where(places == times, marked[n], plain[n])[:, :-1] for marked, n in ((first, left), (second, right))
        ]
        plus, equals = (np.full((len(rows), 1), where[f"{token}|{EMPTY}"]) for token in (PLUS, EQUALS))
        unwritten = np.where(places == times, pending, where[f"{BLANK}|{EMPTY}"])
        return np.hstack([parts[0], plus, parts[1], equals, np.where(places < times, plain[total], unwritten)])

    def changes(self, state: State) -> Mapping[int, Change]:
        size = state.index((PLUS, EMPTY))
        equals = state.index((EQUALS, EMPTY))
        cell = next((place for place, (_, mark) in enumerate(state) if mark.startswith("c")), None)
        if cell is None:
            return {}
        place, carry = cell - equals - 1, int(state[cell][1][1:])
        if place == size:
            return {cell: Change((str(carry), EMPTY), (cell,))}
        one, two = place, size + 1 + place
        if (state[one][1], state[two][1]) != self.marks:
            raise UsageError(f"digit {place + 1} is next, but the marks stand elsewhere")
        digit, out = divided(int(state[one][0]) + int(state[two][0]) + carry, self.base)
        changes = {
            cell: Change((digit, EMPTY), (one, two, cell)),
            cell + 1: Change((BLANK, f"c{out}"), (one, two, cell, cell + 1)),
        }
        for at, mark, end in zip((one, two), self.marks, (size, equals), strict=True):
            changes[at] = Change((state[at][0], EMPTY), (at,))
            if at + 1 < end:
                changes[at + 1] = Change((state[at + 1][0], mark), (at, at + 1))
        return changes


@tasks.register("addition_marked_alike")
@dataclass(frozen=True)
class AdditionMarkedAlike(AdditionMarked):
    """Add digit by digit as in `addition_marked`, with the same mark on both digits to be added.

    `1|^ 0|· +|· 1|^ 1|· =|· _|c0 _|· _|·` → `1|· 0|^ +|· 1|· 1|^ =|· 0|· _|c1 _|·`. The set of windows cannot tell two
    marked ones from one, and from five digits on no number of windows of 3 settles the sum.
    """

    preset = Columns.preset
    marks = ("^", "^")


@tasks.register("multiplication_marked")
@dataclass(frozen=True)
class MultiplicationMarked(Columns):
    """Multiply two numbers as on paper, one digit product per step, with marks on the digits in use.

    `1|j|· 1|·|· *|·|· 1|i|· 1|·|· =|·|· 0|k0|> 0|·|· 0|·|· 0|·|·` →
    `1|·|· 1|j|· *|·|· 1|i|· 1|·|· =|·|· 1|·|> 0|k0|· 0|·|· 0|·|·` (3 x 3 in base 2, the least significant first).
    The digits under i and j are multiplied and added, with the carry of the mark k, to the digit under k, and j and k
    move on. When j has reached `*` the carry is written, j goes back, i moves on, and k goes to the right of the row
    start `>`, which moves along; when i has reached `=` the product stands there. Three windows of 3 determine
    every step.
    """

    preset = MARKED_COLUMNS
    base: int = 2
    axes = (Axis("digits", "digits of each factor, the least significant first"),)

    @property
    def symbols(self) -> tuple[str, ...]:
        carries = [f"k{carry}" for carry in range(self.base)]
        marks = [*((mark, EMPTY) for mark in (EMPTY, "i", "j", *carries)), (EMPTY, ROW), ("k0", ROW)]
        digits = [symbol((str(digit), *mark)) for digit in range(self.base) for mark in marks]
        signs = [symbol((sign, mark, EMPTY)) for sign, end in ((TIMES, "j"), (EQUALS, "i")) for mark in (EMPTY, end)]
        return (*digits, *signs)

    def ranges(self, size: int) -> tuple[int, ...]:
        return (self.base,) * (2 * size)

    def steps(self, size: int) -> int:
        return size * (size + 1)

    def between(self, first: Sequence[int], second: Sequence[int]) -> State:
        """The first state for two factors of any lengths, the least significant digit first."""
        return tuple(column(text) for text in self._frame(list(first), list(second), 0))

    def frames(self, rows: Ints, times: Ints) -> Ints:
        """In whole numbers of any length, item by item: O(width) an item."""
        where = {text: number for number, text in enumerate(self.symbols)}
        size = rows.shape[1] // 2
        frames = np.empty((len(rows), 4 * size + 2), dtype=np.int64)
        for item, (row, time) in enumerate(zip(rows.tolist(), times[:, 0].tolist(), strict=True)):
            frames[item] = [where[text] for text in self._frame(row[:size], row[size:], time)]
        return frames

    def _frame(self, first: list[int], second: list[int], time: int) -> list[str]:
        """The state after `time` steps, from the numbers: below k the sum with this row, from k on without it."""
        base, (i, j) = self.base, divmod(time, len(first) + 1)
        k, number = i + j, self._number(first)
        before = number * self._number(second[:i])
        added = self._number(first[:j]) * (second[i] if j else 0) * base**i
        carry, low = divmod(before % base**k + added, base**k)
        product = before - before % base**k + low
        tokens = [*first, TIMES, *second, EQUALS]
        marks = {j: "j", len(first) + 1 + i: "i", len(tokens) + k: f"k{carry}"}
        tokens += [product // base**place % base for place in range(len(first) + len(second))]
        start = len(first) + len(second) + 2 + i
        return [f"{t}|{marks.get(at, EMPTY)}|{ROW if at == start else EMPTY}" for at, t in enumerate(tokens)]

    def _number(self, digits: Sequence[int]) -> int:
        return sum(digit * self.base**place for place, digit in enumerate(digits))

    def changes(self, state: State) -> Mapping[int, Change]:
        marks = {mark[0]: place for place, (_, mark, _) in enumerate(state) if mark != EMPTY}
        if set(marks) != {"i", "j", "k"}:
            raise UsageError("a state has the three marks i, j and k")
        i, j, k = marks["i"], marks["j"], marks["k"]
        if state[i][0] == EQUALS:
            return {}
        return self._new_row(state, i, j, k) if state[j][0] == TIMES else self._product(state, i, j, k)

    def _product(self, state: State, i: int, j: int, k: int) -> dict[int, Change]:
        """One digit product: the digit under k is written, and j and k move on with the carry."""
        total = int(state[i][0]) * int(state[j][0]) + int(state[k][0]) + int(state[k][1][1:])
        carry, digit = divmod(total, self.base)
        return {
            j: Change(_marked(state[j], EMPTY), (j,)),
            j + 1: Change(_marked(state[j + 1], "j"), (j, j + 1)),
            k: Change((str(digit), EMPTY, state[k][2]), (j, i, k)),
            k + 1: Change(_marked(state[k + 1], f"k{carry}"), (j, i, k, k + 1)),
        }

    def _new_row(self, state: State, i: int, j: int, k: int) -> dict[int, Change]:
        """The end of a row: the carry is written under k, j goes back to the first digit, i and the row start move."""
        row = next(place for place, (_, _, start) in enumerate(state) if start == ROW)
        last = str(int(state[k][0]) + int(state[k][1][1:]))
        changes = {
            0: Change(_marked(state[0], "j"), (0, j)),
            j: Change(_marked(state[j], EMPTY), (j,)),
            i: Change(_marked(state[i], EMPTY), (j, i)),
            i + 1: Change(_marked(state[i + 1], "i"), (j, i, i + 1)),
            row: Change((state[row][0], EMPTY, EMPTY), (j, row)),
            k: Change((last, EMPTY, EMPTY), (j, k)),
        }
        digit = last if k == row + 1 else state[row + 1][0]  # a first factor of one digit: k is already there
        changes[row + 1] = Change((digit, "k0", ROW), (j, row, row + 1))
        return changes


def _marked(column: Column, mark: str) -> Column:
    return (column[0], mark, column[2])
