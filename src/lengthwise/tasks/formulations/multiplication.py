"""Multiplication in three lines: digits, marks on the digits in use, and where the current row of sums starts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.seeds import Ints
from lengthwise.tasks import tasks
from lengthwise.tasks.formulations.formulation import EMPTY, Column, State, column, symbol
from lengthwise.tasks.formulations.layouts import EQUALS, Change, Columns
from lengthwise.tasks.task import Axis

TIMES, ROW = "*", ">"


@tasks.register("multiplication_marked")
@dataclass(frozen=True)
class MultiplicationMarked(Columns):
    """Multiply two numbers as on paper, one digit product a step, with marks on the digits in use.

    `1|j|· 1|·|· *|·|· 1|i|· 1|·|· =|·|· 0|k0|> 0|·|· 0|·|· 0|·|·` →
    `1|·|· 1|j|· *|·|· 1|i|· 1|·|· =|·|· 1|·|> 0|k0|· 0|·|· 0|·|·` (3 x 3 in base 2, the least significant first).
    The digits under i and j are multiplied and added, with the carry of the mark k, to the digit under k, and j and k
    move on. When j has reached `*` the carry is written, j goes back, i moves on, and k goes to the right of the row
    start `>`, which moves along; when i has reached `=` the product stands there. Three windows of 3 settle a step.
    """

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
        """The end of a row: the carry is written under k, j goes back to the first digit, i and the row start go on."""
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
