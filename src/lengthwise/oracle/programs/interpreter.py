"""What a program computes: every definition as an array over positions, many texts at once.

The cost is O(texts x positions x operations); a local count over k positions costs k operations.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lengthwise.errors import UsageError
from lengthwise.oracle.programs import syntax
from lengthwise.oracle.programs.syntax import Expression, Program
from lengthwise.seeds import Ints

Values = NDArray[np.bool_ | np.int64]
_NAMES = {"<=": "le", "<": "lt", "==": "eq", "!=": "ne", ">=": "ge", ">": "gt"}
_RELATIONS = {relation: getattr(operator, name) for relation, name in _NAMES.items()}


@dataclass(frozen=True)
class Meaning:
    """The value of every definition (`named`) and output (`following`, by symbol), each [texts, positions]."""

    named: Mapping[str, Values]
    following: Mapping[str, NDArray[np.bool_]]


def run_tokens(program: Program, tokens: Ints, vocabulary: Sequence[str], first_position: int = 0) -> Meaning:
    """A program on texts of one length, [texts, positions], as indices into the vocabulary. An index outside the
    vocabulary is a filler that no letter test sees; nothing looks to the right, so fillers at the right end change
    nothing before them. `first_position` is the position of the first token, 0 unless the whole text is moved."""
    if tokens.ndim != 2:
        raise UsageError(f"tokens are given as [texts, positions], not with {tokens.ndim} dimensions")
    machine = _Evaluation(tokens, {symbol: index for index, symbol in enumerate(vocabulary)}, first_position)
    following: dict[str, NDArray[np.bool_]] = {}
    for line in program.lines:
        value = np.broadcast_to(machine.value(line.expression), tokens.shape)
        if line.output:
            following[line.name] = value.astype(bool, copy=False)
        else:
            machine.named[line.name] = value
    return Meaning(machine.named, following)


class _Evaluation:
    """The texts and the values of the names so far."""

    def __init__(self, tokens: Ints, index: Mapping[str, int], first_position: int) -> None:
        self.tokens, self.index = tokens, index
        self.positions = np.arange(first_position, first_position + tokens.shape[1])
        self.named: dict[str, Values] = {}
        self.letters: dict[str, NDArray[np.bool_]] = {}

    def value(self, expression: Expression) -> Values:
        match expression:
            case syntax.Name(name):
                return self.named[name]
            case syntax.Letter(symbol):
                return self._letter(symbol)
            case syntax.Compare(relation, left, right):
                return _RELATIONS[relation](self.value(left), self.value(right))
            case syntax.And(parts):
                return functools.reduce(np.logical_and, map(self.value, parts))
            case syntax.Or(parts):
                return functools.reduce(np.logical_or, map(self.value, parts))
            case syntax.Not(part):
                return ~self.value(part)
            case syntax.Phase(modulus, residue):
                return (self.positions % modulus == residue)[None, :]
            case syntax.Truth(value):
                return np.full((1, 1), value)
            case syntax.Count(what, back):
                return self._count(np.broadcast_to(self.value(what), self.tokens.shape), back)
            case syntax.Constant(value):
                return np.full((1, 1), value, dtype=np.int64)
            case syntax.Sum(left, right):
                return self.value(left) + self.value(right)
            case syntax.Difference(left, right):
                return self.value(left) - self.value(right)
            case syntax.Multiple(factor, term):
                return factor * self.value(term)
            case syntax.Conditional(condition, yes, no):
                return np.where(self.value(condition), self.value(yes), self.value(no))

    def _letter(self, symbol: str) -> NDArray[np.bool_]:
        """Where a symbol stands; kept, as large programs ask for the same few symbols many times."""
        if symbol not in self.letters:
            known = symbol in self.index
            self.letters[symbol] = self.tokens == self.index[symbol] if known else np.zeros((1, 1), dtype=bool)
        return self.letters[symbol]

    def _count(self, what: Values, back: tuple[int, ...] | None) -> Ints:
        if back is None:
            return what.cumsum(axis=1, dtype=np.int64)
        length = what.shape[1]
        counts = np.zeros(what.shape, dtype=np.int64)
        for steps in back:
            if steps < length:
                counts[:, steps:] += what[:, : length - steps]
        return counts
