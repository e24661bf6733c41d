"""Short ways to write trees, for programs that are made from a task's settings."""

from __future__ import annotations

from collections.abc import Iterable

from lengthwise.oracle.programs.syntax import (
    And,
    Boolean,
    Choice,
    Compare,
    Constant,
    Count,
    Expression,
    Letter,
    Line,
    Name,
    Not,
    Number,
    Or,
    Program,
    Relation,
    Sum,
    Truth,
)

TRUE, FALSE = Truth(True), Truth(False)


def all_of(parts: Iterable[Boolean]) -> Boolean:
    """The conjunction, without parts that are plainly true; true if nothing is left."""
    kept = tuple(part for part in parts if part != TRUE)
    return FALSE if FALSE in kept else TRUE if not kept else kept[0] if len(kept) == 1 else And(kept)


def any_of(parts: Iterable[Boolean]) -> Boolean:
    """The disjunction, without parts that are plainly false; false if nothing is left."""
    kept = tuple(part for part in parts if part != FALSE)
    return TRUE if TRUE in kept else FALSE if not kept else kept[0] if len(kept) == 1 else Or(kept)


def none_of(part: Boolean) -> Boolean:
    """The negation."""
    return Truth(not part.value) if isinstance(part, Truth) else Not(part)


def total(terms: Iterable[Number]) -> Number:
    """The sum; 0 if there is nothing to add."""
    result: Number | None = None
    for term in terms:
        result = term if result is None else Sum(result, term)
    return Constant(0) if result is None else result


def compare(left: Number, relation: Relation, right: Number | int) -> Boolean:
    return Compare(relation, left, Constant(right) if isinstance(right, int) else right)


def some(what: Boolean) -> Boolean:
    """Whether some position so far has it."""
    return compare(Count(what), ">=", 1)


def never(what: Boolean) -> Boolean:
    """Whether no position so far has it."""
    return compare(Count(what), "==", 0)


def one_if(what: Boolean) -> Number:
    """1 where it holds, 0 elsewhere."""
    return Choice(what, Constant(1), Constant(0))


def at_back(what: Boolean, steps: int) -> Boolean:
    """Whether the position `steps` before this one has it: a local predicate, none at all for 0 steps."""
    return what if steps == 0 else compare(Count(what, (steps,)), "==", 1)


class Draft:
    """A program in the making: lines are added in order, and a defined expression is used by its name."""

    def __init__(self) -> None:
        self._lines: list[Line] = []

    def define(self, name: str, expression: Expression) -> Name:
        self._lines.append(Line(name, expression))
        return Name(name)

    def output(self, symbol: str, expression: Boolean) -> None:
        self._lines.append(Line(symbol, expression, output=True))

    def program(self) -> Program:
        return Program(tuple(self._lines))


def letters(symbols: Iterable[str]) -> Boolean:
    """Whether one of these symbols stands here."""
    return any_of(Letter(symbol) for symbol in symbols)
