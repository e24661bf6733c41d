"""What a program uses: its period, its locality, its depth and its size."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from lengthwise.oracle.programs.syntax import Count, Expression, Name, Phase, Program, children, walk

EncodingClass = Literal["none", "absolute"]


@dataclass(frozen=True)
class LookBack:
    """`each`: how far back each local count looks, in the order of the text. `total`: how far back the value at a
    position can be reached by local counts inside one another, the maximum over all lines."""

    each: tuple[int, ...]
    total: int


def period(program: Program) -> int:
    """The least common multiple of the moduli of the periodic predicates; 1 if there are none."""
    return math.lcm(
        *(node.modulus for line in program.lines for node in walk(line.expression) if isinstance(node, Phase))
    )


def locality(program: Program) -> LookBack:
    each = tuple(
        node.back[-1]
        for line in program.lines
        for node in walk(line.expression)
        if isinstance(node, Count) and node.back is not None
    )
    return LookBack(each, _deepest(program, lambda count: count.back[-1] if count.back is not None else 0))


def depth(program: Program) -> int:
    """How deep counts, global or local, are nested, following names: one layer of attention each."""
    return _deepest(program, lambda _: 1)


def size(program: Program) -> int:
    """How many operations and constants the program has; what has a name is counted once."""
    return sum(1 for line in program.lines for node in walk(line.expression) if not isinstance(node, Name))


def needs(program: Program) -> EncodingClass:
    """The encoding a program needs: "none" if it has no periodic and no local operation, else "absolute".

    A predicate of modulus 1 is a constant, and a local count that looks 0 steps back is 1 or 0 here: neither needs a
    position.
    """
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
