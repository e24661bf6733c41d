"""The tree of a C-RASP[periodic, local] program, what it uses (period, locality, depth, size), and short ways to build
one.

A program reads a text and gives, at every position, a truth value or a whole number for each of its definitions. A
Boolean is a letter test, a constant, a periodic predicate, a combination of Booleans or a comparison of numbers; a
number is a count of earlier positions, a constant, a sum, a difference, a multiple or a choice. Positions start at 0,
where `<bos>` stands, and nothing looks to the right.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from lengthwise.errors import UsageError

Relation = Literal["<=", "<", "==", "!=", ">=", ">"]
EncodingClass = Literal["none", "absolute"]


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
            raise UsageError(f"a comparison must be one of {' '.join(get_args(Relation))}, not {self.relation!r}")


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
                f"the steps back of a local count must be distinct, increasing and not negative, not {self.back}"
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
class Conditional:
    """`yes` where the condition holds, `no` elsewhere."""

    condition: Boolean
    yes: Number
    no: Number


Boolean = Letter | Truth | Phase | Not | And | Or | Compare | Name
Number = Constant | Count | Sum | Difference | Multiple | Conditional | Name
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

    def nodes(self) -> Iterator[Expression]:
        """The expressions of all lines and all that they are made of."""
        return (node for line in self.lines for node in walk(line.expression))


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
        case Conditional(condition, yes, no):
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
    if isinstance(expression, Conditional):
        return (True, False, False)
    return (isinstance(expression, Not | Count),) * len(children(expression))


@dataclass(frozen=True)
class LookBack:
    """`each`: how far back each local count looks, in the order of the text. `total`: how far back local counts inside
    one another reach from a position, the maximum over all lines."""

    each: tuple[int, ...]
    total: int


def period(program: Program) -> int:
    """The least common multiple of the moduli of the periodic predicates; 1 if there are none."""
    return math.lcm(*(node.modulus for node in program.nodes() if isinstance(node, Phase)))


def locality(program: Program) -> LookBack:
    each = tuple(node.back[-1] for node in program.nodes() if isinstance(node, Count) and node.back is not None)
    return LookBack(each, _deepest(program, lambda count: count.back[-1] if count.back is not None else 0))


def depth(program: Program) -> int:
    """How deep counts, global or local, are nested, following names: one layer of attention each."""
    return _deepest(program, lambda _: 1)


def size(program: Program) -> int:
    """How many operations and constants the program has; what has a name is counted once."""
    return sum(not isinstance(node, Name) for node in program.nodes())


def needs(program: Program) -> EncodingClass:
    """The encoding a program needs: "none" if it has no periodic and no local operation, else "absolute". A predicate
    of modulus 1 is a constant, and a local count that looks 0 steps back is 1 or 0 here: neither needs a position."""
    return "none" if period(program) == 1 and not any(locality(program).each) else "absolute"


def _deepest(program: Program, weight: Callable[[Count], int]) -> int:
    """The largest sum of weights of counts on a path from a line down to a leaf, following names."""
    named: dict[str, int] = {}

    def below(expression: Expression) -> int:
        if isinstance(expression, Name):
            return named[expression.name]
        deepest = max((below(part) for part in children(expression)), default=0)
        return deepest + weight(expression) if isinstance(expression, Count) else deepest

    deepest = 0
    for line in program.lines:
        value = below(line.expression)
        deepest = max(deepest, value)
        if not line.output:
            named[line.name] = value
    return deepest


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
    summands = list(terms)
    return functools.reduce(Sum, summands) if summands else Constant(0)


def compare(left: Number, relation: Relation, right: Number | int) -> Boolean:
    return Compare(relation, left, Constant(right) if isinstance(right, int) else right)


def some(what: Boolean) -> Boolean:
    """Whether some position so far has it."""
    return compare(Count(what), ">=", 1)


def one_if(what: Boolean) -> Number:
    """1 where it holds, 0 elsewhere."""
    return Conditional(what, Constant(1), Constant(0))


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
