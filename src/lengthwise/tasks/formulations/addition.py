"""Addition with its digits appended, and in aligned columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.seeds import Ints
from lengthwise.tasks import tasks
from lengthwise.tasks.batch import Samples
from lengthwise.tasks.formulations.appending import Appending
from lengthwise.tasks.formulations.columns import THREE_COLUMNS, Change, Columns
from lengthwise.tasks.formulations.formulation import EMPTY, State, symbol
from lengthwise.tasks.task import Axis

PLUS = "+"
AXES = (Axis("digits", "digits of each summand, the least significant first"),)


def digits_of(base: int) -> tuple[str, ...]:
    return tuple(str(digit) for digit in range(base))


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
        return (*digits_of(self.base), PLUS)

    def ranges(self, size: int) -> tuple[int, ...]:
        return (self.base,) * (2 * size)

    def lay(self, rows: Ints) -> Samples:
        left, right, total, _ = summed(rows, self.base)
        plus = np.full((len(rows), 1), self.base)
        return Samples(np.hstack([left[:, :-1], plus, right[:, :-1]]), total)

    def following(self, given: Sequence[str], written: Sequence[str]) -> tuple[str, tuple[int, ...]] | None:
        size, place = len(given) // 2, len(written)
        if [token == PLUS for token in given] != [at == size for at in range(2 * size + 1)]:
            raise UsageError(f"a sum is two summands of one length around {PLUS!r}, not {' '.join(given)!r}")
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


@tasks.register("addition_columns")
@dataclass(frozen=True)
class AdditionColumns(Columns):
    """Add column by column: the two digits, below them the digit of the sum and the carry out of it.

    `1|1|0|1 0|1|·|· 0|0|·|·` → `1|1|0|1 0|1|0|1 0|0|·|·` (1 + 3 in base 2, the least significant first). R is 1, and
    windows of 3 settle it. One more column than the summands have digits takes the last carry.
    """

    base: int = 2
    axes = AXES
    preset = THREE_COLUMNS

    @property
    def symbols(self) -> tuple[str, ...]:
        digits = range(self.base)
        return tuple(
            symbol((str(a), str(b), *(divided(a + b + carry, self.base) if carry >= 0 else (EMPTY, EMPTY))))
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
        carry = int(state[place - 1][3]) if place else 0
        used = (place - 1, place) if place else (0,)
        return {place: Change((a, b, *divided(int(a) + int(b) + carry, self.base)), used)}

    def answer(self, state: State) -> tuple[str, ...]:
        return tuple(digit for _, _, digit, _ in state)
