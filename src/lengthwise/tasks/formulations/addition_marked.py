"""Addition with marks that walk along the summands, each with its own or both with the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.seeds import Ints
from lengthwise.tasks import tasks
from lengthwise.tasks.formulations.addition import AXES, PLUS, digits_of, divided, summed
from lengthwise.tasks.formulations.appending import EQUALS
from lengthwise.tasks.formulations.columns import Change, Columns
from lengthwise.tasks.formulations.formulation import EMPTY, State, symbol

BLANK = "_"


@tasks.register("addition_marked")
@dataclass(frozen=True)
class AdditionMarked(Columns):
    """Add digit by digit; the two to be added bear a mark each, and the one to be written the carry.

    `1|a 0|· +|· 1|b 1|· =|· _|c0 _|· _|·` → `1|· 0|a +|· 1|· 1|b =|· 0|· _|c1 _|·` (1 + 3 in base 2, the least
    significant first). A step reads digits far apart, but three windows of 3 settle it, each found by its mark.
    """

    base: int = 2
    axes = AXES
    marks: ClassVar[tuple[str, str]] = ("a", "b")

    @property
    def symbols(self) -> tuple[str, ...]:
        marks = (EMPTY, *dict.fromkeys(self.marks))
        digits = [symbol((digit, mark)) for digit in digits_of(self.base) for mark in marks]
        return (*digits, *(symbol((token, EMPTY)) for token in (PLUS, EQUALS, BLANK)), f"{BLANK}|c0", f"{BLANK}|c1")

    def ranges(self, size: int) -> tuple[int, ...]:
        return (self.base,) * (2 * size)

    def steps(self, size: int) -> int:
        return size + 1

    def frames(self, rows: Ints, times: Ints) -> Ints:
        left, right, total, carries = summed(rows, self.base)
        where = {text: number for number, text in enumerate(self.symbols)}
        digits = digits_of(self.base)
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

    def answer(self, state: State) -> tuple[str, ...]:
        return tuple(token for token, _ in state[state.index((EQUALS, EMPTY)) + 1 :])


@tasks.register("addition_marked_alike")
@dataclass(frozen=True)
class AdditionMarkedAlike(AdditionMarked):
    """Add digit by digit as in `addition_marked`, with the same mark on both digits to be added.

    `1|^ 0|· +|· 1|^ 1|· =|· _|c0 _|· _|·` → `1|· 0|^ +|· 1|· 1|^ =|· 0|· _|c1 _|·`. The set of windows cannot tell two
    marked ones from one, and from five digits on no number of windows of 3 settles the sum.
    """

    marks = ("^", "^")
