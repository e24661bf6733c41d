"""The tree of a C-RASP[periodic, local] program.

A program reads a text and gives, at every position, a truth value or a whole number for each of its definitions. A
Boolean is a letter test, a constant, a periodic predicate, a combination of Booleans or a comparison of numbers; a
number is a count of earlier positions, a constant, a sum, a difference, a multiple or a choice. Positions start at 0,
where `<bos>` stands, and nothing looks to the right.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from lengthwise.errors import UsageError

Relation = Literal["<=", "<", "==", "!=", ">=", ">"]


@dataclass(frozen=True, slots=True)
class Letter:
    """Whether this symbol stands here."""

    symbol: str


@dataclass(frozen=True, slots=True)
class Truth:
    """The same truth value everywhere."""

    value: bool


@dataclass(frozen=True, slots=True)
class Phase:
    """Whether position modulo `modulus` is `residue`."""

    modulus: int
    residue: int

    def __post_init__(self) -> None:
        if self.modulus < 1 or not 0 <= self.residue < self.modulus:
            raise UsageError(
                f"position % m == k needs k from 0 to m - 1, which {self.residue} modulo {self.modulus} is not"
            )


@dataclass(frozen=True, slots=True)
class Not:
    part: Boolean


@dataclass(frozen=True, slots=True)
class And:
    """All of the parts; two at least."""

    parts: tuple[Boolean, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """One of the parts at least; two at least."""

    parts: tuple[Boolean, ...]


@dataclass(frozen=True, slots=True)
class Compare:
    relation: Relation
    left: Number
    right: Number

    def __post_init__(self) -> None:
        if self.relation not in get_args(Relation):
            raise UsageError(f"a comparison is one of {' '.join(get_args(Relation))}, not {self.relation!r}")


@dataclass(frozen=True, slots=True)
class Name:
    """What an earlier line defines, a Boolean or a number."""

    name: str


@dataclass(frozen=True, slots=True)
class Constant:
    value: int


@dataclass(frozen=True, slots=True)
class Count:
    """How many positions j <= i have `what`; with `back`, only those with i - j in this set: a local count."""

    what: Boolean
    back: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        if self.back is not None and (not self.back or self.back != tuple(sorted({*self.back})) or self.back[0] < 0):
            raise UsageError(
                f"the steps back of a local count are distinct, increasing and not negative, not {self.back}"
            )


@dataclass(frozen=True, slots=True)
class Sum:
    left: Number
    right: Number


@dataclass(frozen=True, slots=True)
class Difference:
    left: Number
    right: Number


@dataclass(frozen=True, slots=True)
class Multiple:
    factor: int
    term: Number


@dataclass(frozen=True, slots=True)
class Choice:
    """`yes` where the condition holds, `no` elsewhere."""

    condition: Boolean
    yes: Number
    no: Number


Boolean = Letter | Truth | Phase | Not | And | Or | Compare | Name
Number = Constant | Count | Sum | Difference | Multiple | Choice | Name
Expression = Boolean | Number


@dataclass(frozen=True)
class Line:
    """`name := expression`; for an output, `next["symbol"] := expression`, `name` is the symbol and `output` is set."""

    name: str
    expression: Expression
    output: bool = False


@dataclass(frozen=True)
class Program:
    """Lines in order; a name is defined once and used only below. Outputs are Booleans and are not used by others."""

    lines: tuple[Line, ...]

    def __post_init__(self) -> None:
        kinds: dict[str, bool] = {}
        seen: set[tuple[bool, str]] = set()
        for line in self.lines:
            boolean = is_boolean(line.expression, kinds)
            if (line.output, line.name) in seen:
                raise UsageError(f"{_target(line)} is defined twice; every name has one line")
            if line.output and not boolean:
                raise UsageError(
                    f"{_target(line)} says whether a symbol may come next, so it is a Boolean, not a number"
                )
            seen.add((line.output, line.name))
            if not line.output:
                kinds[line.name] = boolean

    @property
    def outputs(self) -> tuple[str, ...]:
        """The symbols that have a `next[...]` line."""
        return tuple(line.name for line in self.lines if line.output)


def _target(line: Line) -> str:
    return f"next[{line.name!r}]" if line.output else line.name


def children(expression: Expression) -> tuple[Expression, ...]:
    """The expressions an expression is made of directly."""
    match expression:
        case Not(part):
            return (part,)
        case And(parts) | Or(parts):
            return parts
        case Compare(_, left, right) | Sum(left, right) | Difference(left, right):
            return (left, right)
        case Count(what):
            return (what,)
        case Multiple(_, term):
            return (term,)
        case Choice(condition, yes, no):
            return (condition, yes, no)
    return ()


def walk(expression: Expression) -> Iterator[Expression]:
    """An expression and all it is made of; names are not followed."""
    pending: list[Expression] = [expression]
    while pending:
        here = pending.pop()
        yield here
        pending.extend(children(here))


def is_boolean(expression: Expression, kinds: Mapping[str, bool]) -> bool:
    """Whether an expression is a Boolean (else a number), when `kinds` says it of the names above; checks all parts."""
    if isinstance(expression, Name):
        if expression.name not in kinds:
            raise UsageError(f"{expression.name!r} is used before a line defines it")
        return kinds[expression.name]
    parts = children(expression)
    for part, boolean in zip(parts, _wanted(expression) if parts else (), strict=True):
        if is_boolean(part, kinds) != boolean:
            raise UsageError(f"{type(expression).__name__} takes a {'Boolean' if boolean else 'number'}, not {part}")
    return isinstance(expression, Letter | Truth | Phase | Not | And | Or | Compare)


def _wanted(expression: Expression) -> tuple[bool, ...]:
    """Which of an expression's parts are Booleans."""
    if isinstance(expression, And | Or):
        if len(expression.parts) < 2:
            raise UsageError("and, or combine at least two Booleans")
        return (True,) * len(expression.parts)
    if isinstance(expression, Choice):
        return (True, False, False)
    return (isinstance(expression, Not | Count),) * len(children(expression))
