"""Long division by a number below the size of a column: digit by digit in columns, and appended.

The remainder is what a step hands to the next. In columns it is written down, so that two columns settle a step; where
only the quotient is written, every digit read so far enters a step again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.seeds import Ints
from lengthwise.tasks import tasks
from lengthwise.tasks.alphabets import numerals
from lengthwise.tasks.batch import Samples
from lengthwise.tasks.formulations.formulation import EMPTY, State, symbol
from lengthwise.tasks.formulations.layouts import THREE_COLUMNS, Appending, Change, Columns
from lengthwise.tasks.task import Axis

OVER = "/"
DIVIDEND = (Axis("digits", "digits of the dividend, the most significant first"),)


def check_division(base: int, most: int) -> None:
    if base < 2 or most < 2:
        raise UsageError(f"division takes a base and a largest divisor of 2 or more, not {base} and {most}")


def remainders(digits: Ints, divisors: Ints, base: int) -> Ints:
    """The remainder before each digit [items, digits], of divisors [items, 1]."""
    found = np.zeros_like(digits)
    for place in range(1, digits.shape[1]):
        found[:, place] = (base * found[:, place - 1] + digits[:, place - 1]) % divisors[:, 0]
    return found


@tasks.register("division_columns")
@dataclass(frozen=True)
class DivisionColumns(Columns):
    """Divide column by column: digit and divisor, below them digit of the quotient and remainder.

    `1|3|0|1 0|3|·|· 1|3|·|·` → `1|3|0|1 0|3|0|2 1|3|·|·` (5 : 3 in base 2, the most significant first). The divisor,
    from 2 to `most`, stands in every column. R is 1, and windows of 3 settle it.
    """

    base: int = 2
    most: int = 3
    axes = DIVIDEND
    preset = THREE_COLUMNS

    def __post_init__(self) -> None:
        check_division(self.base, self.most)

    @property
    def symbols(self) -> tuple[str, ...]:
        return tuple(
            self._column(digit, divisor, before)
            for digit in range(self.base)
            for divisor in range(2, self.most + 1)
            for before in (-1, *range(divisor))
        )

    def _column(self, digit: int, divisor: int, before: int) -> str:
        """The column of a digit after the remainder `before`; -1: not yet written."""
        done = divmod(self.base * before + digit, divisor) if before >= 0 else (EMPTY, EMPTY)
        return symbol((str(digit), str(divisor), *map(str, done)))

    def ranges(self, size: int) -> tuple[int, ...]:
        return (self.base,) * size + (self.most - 1,)

    def steps(self, size: int) -> int:
        return size

    def frames(self, rows: Ints, times: Ints) -> Ints:
        digits, divisors = rows[:, :-1], rows[:, -1:] + 2
        before = np.where(np.arange(digits.shape[1]) < times, remainders(digits, divisors, self.base), -1)
        per_digit = sum(range(3, self.most + 2))  # columns of one digit: 1 + divisor for each divisor
        offsets = np.array([sum(range(3, divisor + 1)) for divisor in range(2, self.most + 1)])
        return digits * per_digit + offsets[rows[:, -1:]] + 1 + before

    def changes(self, state: State) -> Mapping[int, Change]:
        place = next((place for place, column in enumerate(state) if column[2] == EMPTY), None)
        if place is None:
            return {}
        digit, divisor = state[place][:2]
        before = int(state[place - 1][3]) if place else 0
        quotient, rest = divmod(self.base * before + int(digit), int(divisor))
        used = (place - 1, place) if place else (0,)
        return {place: Change((digit, divisor, str(quotient), str(rest)), used)}

    def answer(self, state: State) -> tuple[str, ...]:
        return tuple(digit for _, _, digit, _ in reversed(state))


@tasks.register("division_appended")
@dataclass(frozen=True)
class DivisionAppended(Appending):
    """Append the digits of a quotient, the most significant first.

    `1 0 1 / 3` → `0 0 1` (5 : 3 in base 2). The remainder is not written, so a step reads all digits up to its own.
    """

    base: int = 2
    most: int = 3
    axes = DIVIDEND

    def __post_init__(self) -> None:
        check_division(self.base, self.most)

    @property
    def symbols(self) -> tuple[str, ...]:
        return (*numerals(max(self.base, self.most + 1)), OVER)

    def ranges(self, size: int) -> tuple[int, ...]:
        return (self.base,) * size + (self.most - 1,)

    def lay(self, rows: Ints) -> Samples:
        digits, divisors = rows[:, :-1], rows[:, -1:] + 2
        quotient = (self.base * remainders(digits, divisors, self.base) + digits) // divisors
        over = np.full((len(rows), 1), len(self.symbols) - 1)
        return Samples(np.hstack([digits, over, divisors]), quotient)

    def following(self, given: Sequence[str], written: Sequence[str]) -> tuple[str, tuple[int, ...]] | None:
        place, size = len(written), len(given) - 2
        if size < 1 or given[size] != OVER or OVER in (*given[:size], given[-1]):
            raise UsageError(f"a division must be digits, {OVER!r} and a divisor, not {' '.join(given)!r}")
        divisor = int(given[-1])
        if divisor < 1:
            raise UsageError("a divisor must be at least 1")
        if place >= size:
            return None
        value = 0
        for digit in given[: place + 1]:
            value = self.base * (value % divisor) + int(digit)
        return str(value // divisor), (*range(place + 1), size + 1)

    def answer(self, state: State) -> tuple[str, ...]:
        return super().answer(state)[::-1]

    def solve(self, prompt: Sequence[str]) -> Sequence[str]:
        return super().solve(prompt)[::-1]
