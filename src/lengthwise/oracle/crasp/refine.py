"""Distinguishing the states of a component by counts, round after round, until nothing changes.

A *kind* of move is a letter with the block it leaves and the block it enters. Give every kind a weight. The sum of the
weights along a walk is a function V of the state reached, a *potential*, exactly when V(target) - V(source) is the
weight of the kind for every move. So V is a potential exactly when moves of one kind all have the same difference:
one equation in at most four values of V for each move beyond the first of its kind. The weights never enter the system.

Solved over the rationals by elimination of sparse integer rows; nothing is rounded. With n states and e moves a round
costs at most e n^2 operations on integers; most are far cheaper, as rows stay sparse.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from lengthwise.oracle.crasp.automata import Component, Edge

MOST_PROVED = 1_000  # states of a component whose proof is written out
Kind = tuple[str, int, int]  # letter, block left, block entered
Row = dict[int, int]  # column → coefficient; no zeros


def kinds(component: Component, blocks: Sequence[int]) -> dict[Kind, list[Edge]]:
    """The moves of every kind; `blocks` are those of `component.states`, in their order."""
    block = dict(zip(component.states, blocks, strict=True))
    found: dict[Kind, list[Edge]] = {}
    for edge in component.edges:
        found.setdefault((edge.letter, block[edge.source], block[edge.target]), []).append(edge)
    return found


def potentials(component: Component, blocks: Sequence[int]) -> list[dict[int, int]]:
    """A basis of the potentials that are 0 at the first state, as integers without a common factor: the values that are
    not 0, by the place of the state in `component.states`."""
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
    """Why every potential has one value at two states. `scale` x (V(state) - V(other)) is the sum of factor x
    (V(target) - V(source)) over `moves`, where the factors of every kind of move add up to 0; as moves of one kind have
    one difference, the sum is 0."""

    state: int
    other: int
    scale: int
    moves: tuple[tuple[Edge, int], ...]


def forced(part: Refinement) -> tuple[Forced, ...]:
    """The proof, for every state that is not the first of its block, that no potential distinguishes it from the first.
    The moves used are carried through the elimination as further columns: every row says that its states, plus its
    moves each taken as target - source, cancel."""
    component = part.component
    index = {state: i for i, state in enumerate(component.states)}
    number = {edge: -1 - i for i, edge in enumerate(component.edges)}
    echelon = _Echelon(len(component.states))
    for row, (edge, first) in _equations(component, part.blocks):
        echelon.add({**row, number[edge]: -1, number[first]: 1})
    proofs = []
    for head, state in part.alike():
        row, scale = echelon.reduced({index[state]: 1, index[head]: -1})
        if any(column >= 0 for column in row):
            raise ValueError(f"some potential distinguishes the states {state} and {head}")
        sign = 1 if scale > 0 else -1
        moves = tuple(
            (component.edges[-1 - column], sign * factor) for column, factor in sorted(row.items(), reverse=True)
        )
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
    """Rows of which no two end in one column; columns below 0 are carried along and never eliminated. The coefficients
    of every equation add up to 0, so constants solve all of them and no row ends in column 0."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.rows: dict[int, Row] = {}

    def add(self, row: Row) -> None:
        row, _ = self.reduced(row, last_only=True)
        last = max(row, default=-1)
        if last >= 0:
            self.rows[last] = row

    def reduced(self, row: Row, last_only: bool = False) -> tuple[Row, int]:
        """A multiple of the row minus rows of the echelon, and the multiple; `last_only` stops at an end of its own."""
        row, scale = dict(row), 1
        while True:
            last = max((column for column in row if last_only or column in self.rows), default=-1)
            if last not in self.rows:
                return row, scale
            other = self.rows[last]
            divisor = math.gcd(row[last], other[last])
            mine, its = other[last] // divisor, row[last] // divisor
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

    def null_space(self) -> list[dict[int, int]]:
        """What all rows vanish on and is 0 at column 0, one vector for every other column in which no row ends."""
        combined: dict[int, dict[int, Fraction]] = {}  # each column by the free ones, which are those without a row
        for column in range(self.width):
            total: dict[int, Fraction] = {}
            row = self.rows.get(column, {})
            for before, factor in row.items():
                if before != column:
                    ratio = Fraction(-factor, row[column])
                    for free, share in combined[before].items():
                        total[free] = total.get(free, Fraction(0)) + ratio * share
            combined[column] = {free: share for free, share in total.items() if share} if row else {column: Fraction(1)}
        vectors: dict[int, dict[int, Fraction]] = {}
        for column, parts in combined.items():
            for free, share in parts.items():
                vectors.setdefault(free, {})[column] = share
        del vectors[0]  # with the others it makes up the constants
        return [_whole(vector) for vector in vectors.values()]


def _whole(vector: dict[int, Fraction]) -> dict[int, int]:
    """The vector in whole numbers without a common factor."""
    scale = math.lcm(*(value.denominator for value in vector.values()))
    numbers = {column: int(value * scale) for column, value in vector.items()}
    common = math.gcd(*numbers.values())
    return {column: number // common for column, number in numbers.items()}


@dataclass(frozen=True)
class CountTerm:
    """A weighted count of moves that is a function of the state: the weights that are not 0, and the value at each
    state of the component. Walking from one state to another changes the count by the difference of their values."""

    weights: tuple[tuple[Kind, int], ...]
    values: tuple[int, ...]


@dataclass(frozen=True)
class Round:
    """One round: the blocks that name the kinds of moves, the terms that split them, and the blocks that result."""

    before: tuple[int, ...]
    terms: tuple[CountTerm, ...]
    after: tuple[int, ...]


@dataclass(frozen=True)
class Refinement:
    """What counting sees in a component. `blocks` are the last ones; states that share one cannot be distinguished."""

    component: Component
    first: tuple[int, ...]
    rounds: tuple[Round, ...]
    blocks: tuple[int, ...]

    @property
    def passes(self) -> bool:
        """Whether every state has a block of its own."""
        return len(set(self.blocks)) == len(self.blocks)

    def alike(self) -> list[tuple[int, int]]:
        """Every state that is not the first of its block, after the first."""
        first: dict[int, int] = {}
        pairs = zip(self.blocks, self.component.states, strict=True)
        return [(head, state) for block, state in pairs if (head := first.setdefault(block, state)) != state]

    def all_alike(self) -> Iterator[tuple[int, int]]:
        """All pairs of states that share a block."""
        members: dict[int, list[int]] = {}
        for state, block in zip(self.component.states, self.blocks, strict=True):
            members.setdefault(block, []).append(state)
        for group in members.values():
            yield from itertools.combinations(group, 2)


def refine(component: Component, labels: Sequence[Hashable] | None = None) -> Refinement:
    """Refine from the blocks of states with equal labels (what is known without counting; nothing, unless given) to
    the fixed point. At most as many rounds as states; each costs one exact elimination."""
    first = numbered(labels or [0] * len(component.states))
    blocks, rounds = first, []
    while len(set(blocks)) < len(blocks):
        terms, after = _separate(component, blocks)
        if after == blocks:
            break
        rounds.append(Round(blocks, terms, after))
        blocks = after
    return Refinement(component, first, tuple(rounds), blocks)


def numbered(labels: Sequence[Hashable]) -> tuple[int, ...]:
    """Equal labels get equal numbers, in the order of their first appearance."""
    number: dict[Hashable, int] = {}
    return tuple(number.setdefault(label, len(number)) for label in labels)


def _separate(component: Component, blocks: tuple[int, ...]) -> tuple[tuple[CountTerm, ...], tuple[int, ...]]:
    """Terms that split every pair of states some term can split, those that split most first; and the new blocks."""

    def splitting_most(values: dict[int, int]) -> tuple[int, int]:
        return -len(set(values.values())) - (len(values) < len(blocks)), max(map(abs, values.values()))

    chosen, current = [], list(blocks)
    sizes = Counter(current)
    for values in sorted(potentials(component, blocks), key=splitting_most):
        if _split(current, sizes, values):
            chosen.append(_term(component, blocks, values))
    return tuple(chosen), numbered(current)


def _split(current: list[int], sizes: Counter[int], values: dict[int, int]) -> bool:
    """Split the blocks in place by values, 0 where none is given; whether that changed anything."""
    groups: dict[tuple[int, int], list[int]] = {}
    for place, value in values.items():
        groups.setdefault((current[place], value), []).append(place)
    changed = False
    for (block, _), places in groups.items():
        if len(places) < sizes[block]:
            fresh = len(sizes)
            sizes[block] -= len(places)
            sizes[fresh] = len(places)
            for place in places:
                current[place] = fresh
            changed = True
    return changed


def _term(component: Component, blocks: tuple[int, ...], values: dict[int, int]) -> CountTerm:
    value = {state: values.get(place, 0) for place, state in enumerate(component.states)}
    weights = {
        kind: value[edges[0].target] - value[edges[0].source] for kind, edges in kinds(component, blocks).items()
    }
    return CountTerm(tuple((kind, weight) for kind, weight in sorted(weights.items()) if weight), tuple(value.values()))
