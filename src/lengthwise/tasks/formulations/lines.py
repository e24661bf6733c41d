"""Sums and products in other numbers of lines: the same steps, with what they hand on written in another place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.seeds import Ints
from lengthwise.tasks import tasks
from lengthwise.tasks.alphabets import numerals
from lengthwise.tasks.batch import Samples
from lengthwise.tasks.formulations.digits import ROW, TIMES, ColumnSums, MultiplicationMarked
from lengthwise.tasks.formulations.formulation import EMPTY, Column, State, column, symbol
from lengthwise.tasks.formulations.layouts import Appending, Change, Columns
from lengthwise.tasks.task import Axis

FACTORS = (Axis("digits", "digits of each factor, the least significant first"),)


@tasks.register("addition_three_lines")
@dataclass(frozen=True)
class AdditionThreeLines(ColumnSums):
    """Add column by column in three lines: two digits, below them their sum with the carry.

    `1|1|2 0|1|· 0|0|·` → `1|1|2 0|1|2 0|0|·` (1 + 3 in base 2, the least significant first): a sum of `base` or more
    carries. R is 1, and windows of 3 settle it.
    """

    def written(self, total: int) -> tuple[str, ...]:
        return (str(total),)

    def carry(self, column: Column) -> int:
        return int(int(column[2]) >= self.base)

    def answer(self, state: State) -> tuple[str, ...]:
        return tuple(str(int(total) % self.base) for _, _, total in state)


@tasks.register("multiplication_appended")
@dataclass(frozen=True)
class MultiplicationAppended(Appending):
    """Append the digits of a product, the least significant first.

    `1 1 * 1 1` → `1 0 0 1` (3 x 3 in base 2). A step reads all digits of both factors up to its own place.
    """

    base: int = 2
    axes = FACTORS

    @property
    def symbols(self) -> tuple[str, ...]:
        return (*numerals(self.base), TIMES)

    def ranges(self, size: int) -> tuple[int, ...]:
        return (self.base,) * (2 * size)

    def lay(self, rows: Ints) -> Samples:
        size = rows.shape[1] // 2
        product = np.zeros((len(rows), 2 * size), dtype=np.int64)
        for place in range(size):
            product[:, place : place + size] += rows[:, place : place + 1] * rows[:, size:]
        for place in range(2 * size - 1):
            product[:, place + 1] += product[:, place] // self.base
        product %= self.base
        times = np.full((len(rows), 1), self.base)
        return Samples(np.hstack([rows[:, :size], times, rows[:, size:]]), product)

    def following(self, given: Sequence[str], written: Sequence[str]) -> tuple[str, tuple[int, ...]] | None:
        size, place = len(given) // 2, len(written)
        if [token == TIMES for token in given] != [at == size for at in range(2 * size + 1)]:
            raise UsageError(f"a product must be two factors of one length around {TIMES!r}, not {' '.join(given)!r}")
        if place >= 2 * size:
            return None
        left, right = (
            sum(int(digit) * self.base**at for at, digit in enumerate(part))
            for part in (given[:size], given[size + 1 :])
        )
        used = range(min(place + 1, size))
        return str(left * right // self.base**place % self.base), (*used, *(size + 1 + at for at in used))


@tasks.register("multiplication_two_lines")
@dataclass(frozen=True)
class MultiplicationTwoLines(Columns):
    """Multiply as in `multiplication_marked`, with all marks in one line.

    `1|j 1|· *|· 1|i 1|· =|· 0|>k0 0|· 0|· 0|·` → `1|· 1|j *|· 1|i 1|· =|· 1|> 0|k0 0|· 0|·` (3 x 3 in base 2, the least
    significant first). A digit at the row start `>` may also have the mark k. Three windows of 3 determine every step.
    """

    base: int = 2
    axes = FACTORS

    @property
    def symbols(self) -> tuple[str, ...]:
        return tuple(symbol(_merged(column(text))) for text in self._three().symbols)

    def _three(self) -> MultiplicationMarked:
        return MultiplicationMarked(self.base)

    def ranges(self, size: int) -> tuple[int, ...]:
        return self._three().ranges(size)

    def steps(self, size: int) -> int:
        return self._three().steps(size)

    def frames(self, rows: Ints, times: Ints) -> Ints:
        return self._three().frames(rows, times)  # the symbols are the same ones in the same order

    def changes(self, state: State) -> Mapping[int, Change]:
        found = self._three().changes(tuple(map(_split, state)))
        return {place: Change(_merged(change.column), change.sources) for place, change in found.items()}


def _merged(three: Column) -> Column:
    token, mark, row = three
    return (token, mark) if row == EMPTY else (token, row if mark == EMPTY else row + mark)


def _split(two: Column) -> Column:
    if len(two) != 2:
        raise UsageError(f"a column must have two lines, not {len(two)}")
    token, mark = two
    return (token, mark[1:] or EMPTY, ROW) if mark.startswith(ROW) else (token, mark, EMPTY)
