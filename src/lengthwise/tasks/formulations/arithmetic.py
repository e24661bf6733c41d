"""Arithmetic in a prime field: in parentheses, flat with precedence, and flat with only the leftmost part reduced."""

from __future__ import annotations

import abc
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.seeds import Draws, Ints
from lengthwise.tasks import tasks
from lengthwise.tasks.alphabets import numerals
from lengthwise.tasks.formulations.formulation import State
from lengthwise.tasks.formulations.layouts import Redex, Rewriting
from lengthwise.tasks.task import Axis

OPERATORS = ("+", "-", "*")


@dataclass(frozen=True)
class Arithmetic(Rewriting):
    """An expression of numbers in the field of `prime` elements; its result stands where the operator stood."""

    prime: int = 7
    axes = (Axis("operators", "operators in the expression"),)

    def __post_init__(self) -> None:
        if self.prime < 2 or any(self.prime % factor == 0 for factor in range(2, self.prime)):
            raise UsageError(f"prime takes a prime number, not {self.prime}")

    def ranges(self, size: int) -> tuple[int, ...]:
        return (self.prime,) * (size + 1) + (len(OPERATORS),) * size

    @abc.abstractmethod
    def ready(self, tokens: Sequence[str]) -> list[tuple[int, int, int]]:
        """The parts that can be reduced, as (first, last, place of the operator)."""

    def redexes(self, tokens: Sequence[str]) -> list[Redex]:
        return [
            Redex(first, last, place, self.reduced(*tokens[place - 1 : place + 2]))
            for first, last, place in self.ready(tokens)
        ]

    def reduced(self, left: str, operator: str, right: str) -> str:
        a, b = int(left), int(right)
        return str({"+": a + b, "-": a - b, "*": a * b}[operator] % self.prime)


@tasks.register("arithmetic_parenthesised")
@dataclass(frozen=True)
class ArithmeticParenthesised(Arithmetic):
    """Reduce every innermost pair of parentheses of a fully parenthesised expression at once.

    `( ( 3 + 2 ) * 4 )` → `keep drop drop 5 drop drop keep keep keep`, which makes it `( 5 * 4 )`. R is 4; windows of 7
    are the least that settle a step, and the general bound is 4R + 1 = 17. A sampled expression splits at an operator
    chosen uniformly, and so do its parts.
    """

    @property
    def tokens(self) -> tuple[str, ...]:
        return (*numerals(self.prime), *OPERATORS, "(", ")")

    def length(self, size: int) -> int:
        return 4 * size + 1

    def every(self, size: int) -> Iterator[tuple[int, ...]]:
        for order in _orders(size):
            for values in super().every(size):
                yield (*values, *order)

    def some(self, size: int, draws: Draws) -> Ints:
        return np.hstack([super().some(size, draws), draws.permutation(size)])

    def start(self, size: int, row: Sequence[int] | Ints) -> State:
        """A row holds the numbers, the operators, and for each operator when it is split at (the first is the root)."""
        numbers, operators, order = row[: size + 1], row[size + 1 : 2 * size + 1], row[2 * size + 1 :]

        def written(low: int, high: int) -> list[str]:
            if low == high:
                return [str(numbers[low])]
            root = min(range(low, high), key=lambda place: order[place])
            return ["(", *written(low, root), OPERATORS[operators[root]], *written(root + 1, high), ")"]

        return tuple((token,) for token in written(0, size))

    def ready(self, tokens: Sequence[str]) -> list[tuple[int, int, int]]:
        kinds = "".join("o" if t in OPERATORS else t if t in "()" else "n" for t in tokens)
        return [(at, at + 4, at + 2) for at in range(len(tokens)) if kinds.startswith("(non)", at)]


@tasks.register("arithmetic_flat")
@dataclass(frozen=True)
class ArithmeticFlat(Arithmetic):
    """Reduce all that is ready in an expression without parentheses at once, products before sums.

    `3 + 2 * 4 - 1 * 6` → `keep keep drop 1 drop keep drop 6 drop`, which makes it `3 + 1 - 6`. The first product of
    each run of products is ready, and the first sum unless a product follows it. R is 2, and windows of 7 are the least
    that settle a step; the general bound is 4R + 1 = 9.
    """

    @property
    def tokens(self) -> tuple[str, ...]:
        return (*numerals(self.prime), *OPERATORS)

    def length(self, size: int) -> int:
        return 2 * size + 1

    def start(self, size: int, row: Sequence[int] | Ints) -> State:
        tokens = [str(row[0])]
        for place in range(size):
            tokens += [OPERATORS[row[size + 1 + place]], str(row[place + 1])]
        return tuple((token,) for token in tokens)

    def ready(self, tokens: Sequence[str]) -> list[tuple[int, int, int]]:
        if any((token in OPERATORS) != place % 2 for place, token in enumerate(tokens)) or len(tokens) % 2 == 0:
            raise UsageError(f"an expression alternates numbers and operators, and {' '.join(tokens)!r} does not")
        ready = []
        for place in range(1, len(tokens), 2):
            before = tokens[place - 2] if place > 1 else ""
            after = tokens[place + 2] if place + 2 < len(tokens) else ""
            if (before != "*") if tokens[place] == "*" else (not before and after != "*"):
                ready.append((place - 1, place + 1, place))
        return ready


@tasks.register("arithmetic_flat_leftmost")
@dataclass(frozen=True)
class ArithmeticFlatLeftmost(ArithmeticFlat):
    """Reduce only the leftmost part that is ready in an expression without parentheses.

    `3 + 2 * 4 - 1 * 6` → `keep keep drop 1 drop keep keep keep keep`, which makes it `3 + 1 - 1 * 6`. R is 2, but
    windows of 4R + 1 = 9 do not settle a step. Windows of 11 do: the leftmost part that is ready has one of the first
    two operators, so that all that is needed is to see the beginning.
    """

    def ready(self, tokens: Sequence[str]) -> list[tuple[int, int, int]]:
        return super().ready(tokens)[:1]


def _orders(size: int) -> Iterator[tuple[int, ...]]:
    """One order of the operators for each shape of tree, so that splitting in this order gives that shape."""
    if size == 0:
        yield ()
    for root in range(size):
        for left in _orders(root):
            for right in _orders(size - 1 - root):
                yield (*(1 + time for time in left), 0, *(1 + root + time for time in right))
