"""Counts of moves that depend on the state alone: the exact linear algebra behind the decision.

A *kind* of move is a letter with the block it leaves and the block it enters. Give every kind a weight. The sum of the
weights along a walk is a function V of the state reached, a *potential*, exactly when V(target) - V(source) is the
weight of the kind for every move. So V is a potential exactly when moves of one kind all have the same difference:
one equation in at most four values of V for each move beyond the first of its kind. The weights never enter the system.

Solved over the rationals by elimination of sparse integer rows; nothing is rounded. With n states and e moves the cost
is at most e n^2 operations on integers; most systems are far cheaper, as rows stay sparse.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from lengthwise.oracle.crasp.components import Component, Edge

Kind = tuple[str, int, int]  # letter, block left, block entered
Row = dict[int, int]  # column → coefficient; no zeros


def kinds(component: Component, blocks: Sequence[int]) -> dict[Kind, list[Edge]]:
    """The moves of every kind; `blocks` are those of `component.states`, in their order."""
    block = dict(zip(component.states, blocks, strict=True))
    found: dict[Kind, list[Edge]] = {}
    for edge in component.edges:
        found.setdefault((edge.letter, block[edge.source], block[edge.target]), []).append(edge)
    return found


def potentials(component: Component, blocks: Sequence[int]) -> list[list[int]]:
    """A basis of the potentials that are 0 at the first state, as integers without a common factor.

    Values are in the order of `component.states`. Two states differ in some potential exactly when they differ in one
    of these.
    """
    echelon, seen = _Echelon(len(component.states)), set()
    for row, _ in _equations(component, blocks):
        key = frozenset(row.items())
        if key not in seen:
            seen.add(key)
            echelon.add(row)
            if len(echelon.rows) == echelon.width - 1:  # only constants are left
                return []
    return echelon.null_space()


@dataclass(frozen=True)
class Forced:
    """Why every potential has one value at two states.

    `scale` x (V(state) - V(other)) is the sum of factor x (V(target) - V(source)) over `moves`, where the factors of
    every kind of move add up to 0; as moves of one kind have one difference, the sum is 0.
    """

    state: int
    other: int
    scale: int
    moves: tuple[tuple[Edge, int], ...]

    def plain(self) -> dict[str, Any]:
        moves = [[*edge, factor] for edge, factor in self.moves]
        return {"state": self.state, "other": self.other, "scale": self.scale, "moves": moves}


def forced(component: Component, blocks: Sequence[int]) -> tuple[Forced, ...]:
    """The proof, for every state that is not the first of its block, that no potential parts it from the first.

    To be called where that is so. The moves used are carried through the elimination as further columns: every row
    says that its states, plus its moves each taken as target - source, cancel.
    """
    count, index = len(component.states), {state: i for i, state in enumerate(component.states)}
    number = {edge: count + i for i, edge in enumerate(component.edges)}
    echelon = _Echelon(count)
    for row, (edge, first) in _equations(component, blocks):
        echelon.add({**row, number[edge]: -1, number[first]: 1})
    heads: dict[int, int] = {}
    proofs = []
    for state, block in zip(component.states, blocks, strict=True):
        head = heads.setdefault(block, state)
        if head == state:
            continue
        row, scale = echelon.reduced({index[state]: 1, index[head]: -1})
        if any(column < count for column in row):
            raise ValueError(f"some potential parts the states {state} and {head}")
        sign = 1 if scale > 0 else -1
        moves = tuple((component.edges[column - count], sign * factor) for column, factor in sorted(row.items()))
        proofs.append(Forced(state, head, sign * scale, moves))
    return tuple(proofs)


def _equations(component: Component, blocks: Sequence[int]) -> Iterator[tuple[Row, tuple[Edge, Edge]]]:
    """For every move beyond the first of its kind: its difference minus that of the first is 0."""
    index = {state: i for i, state in enumerate(component.states)}
    for edges in kinds(component, blocks).values():
        first = edges[0]
        for edge in edges[1:]:
            row: Row = {}
            for state, factor in ((edge.target, 1), (edge.source, -1), (first.target, -1), (first.source, 1)):
                row[index[state]] = row.get(index[state], 0) + factor
            yield {column: factor for column, factor in row.items() if factor}, (edge, first)


class _Echelon:
    """Rows in echelon form: each begins, among the first `width` columns, where no other does."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.rows: dict[int, Row] = {}

    def add(self, row: Row) -> None:
        row, _ = self.reduced(row, first=True)
        lead = min(row, default=self.width)
        if lead < self.width:
            self.rows[lead] = row

    def reduced(self, row: Row, first: bool = False) -> tuple[Row, int]:
        """A multiple of the row minus rows of the echelon, and the multiple; `first` stops at a lead of its own."""
        row, scale = dict(row), 1
        while (lead := self._next(row, first)) is not None:
            other = self.rows[lead]
            divisor = math.gcd(row[lead], other[lead])
            mine, its = other[lead] // divisor, row[lead] // divisor
            if mine != 1:
                row = {column: factor * mine for column, factor in row.items()}
                scale *= mine
            for column, factor in other.items():
                value = row.get(column, 0) - its * factor
                if value:
                    row[column] = value
                else:
                    row.pop(column, None)
            if mine != 1 and (common := math.gcd(scale, *row.values())) > 1:
                row = {column: factor // common for column, factor in row.items()}
                scale //= common
        return row, scale

    def _next(self, row: Mapping[int, int], first: bool) -> int | None:
        if first:
            lead = min(row, default=self.width)
            return lead if lead in self.rows else None
        return min((column for column in row if column in self.rows), default=None)

    def null_space(self) -> list[list[int]]:
        """A basis of what all rows vanish on and that is 0 at column 0, given that constants are among it."""
        free = [column for column in range(self.width) if column not in self.rows]
        # Each column as a combination of the free ones; a row's other columns lie to the right of its lead.
        combined: dict[int, dict[int, Fraction]] = {column: {column: Fraction(1)} for column in free}
        for lead in sorted(self.rows, reverse=True):
            row, total = self.rows[lead], {}
            for column, factor in row.items():
                if column != lead:
                    ratio = Fraction(-factor, row[lead])
                    for origin, share in combined[column].items():
                        total[origin] = total.get(origin, 0) + ratio * share
            combined[lead] = {origin: share for origin, share in total.items() if share}
        vectors = ([combined[c].get(origin, Fraction(0)) for c in range(self.width)] for origin in free)
        basis = []
        for vector in vectors:
            shifted = [value - vector[0] for value in vector]
            whole = math.lcm(*(value.denominator for value in shifted))
            numbers = [int(value * whole) for value in shifted]
            if common := math.gcd(*numbers):
                last = next(number for number in reversed(numbers) if number)
                basis.append([number // (common if last > 0 else -common) for number in numbers])
        return basis
