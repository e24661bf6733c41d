"""The numbers by which the states of a component are told apart: balanced terms, in exact arithmetic."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from lengthwise.tasks.languages.dfa import Dfa

_BOS = "<bos>"
_MOST = 300_000  # operations of one elimination, about half a second; a larger component is given up


class Situation(NamedTuple):
    """A state, the position modulo the period, and the last symbols read (`<bos>` among them at the beginning)."""

    state: int
    phase: int
    recent: tuple[str, ...]


Edge = tuple[Situation, str, Situation]


@dataclass(frozen=True)
class Round:
    """Whole numbers V for the situations of a component, and by how much the letters move V: (edges, amount) pairs, the
    edges of a pair being told from all others by what was known before the round. Amounts are not 0."""

    values: dict[Situation, int]
    moves: tuple[tuple[tuple[Edge, ...], int], ...]


@dataclass(frozen=True)
class Space:
    """All situations that words lead to. Without `dead`, only those from which a word can still be accepted."""

    dfa: Dfa
    period: int = 1
    window: int = 0
    dead: bool = True

    @functools.cached_property
    def start(self) -> Situation:
        return Situation(self.dfa.start, 0, (_BOS,)[: self.window])

    @functools.cached_property
    def table(self) -> dict[Situation, list[tuple[str, Situation]]]:
        table: dict[Situation, list[tuple[str, Situation]]] = {}
        pending = [self.start]
        while pending:
            here = pending.pop()
            if here not in table:
                table[here] = self._onward(here)
                pending.extend(target for _, target in table[here])
        return table

    def _onward(self, here: Situation) -> list[tuple[str, Situation]]:
        onward = []
        for letter, state in zip(self.dfa.alphabet, self.dfa.transitions[here.state], strict=True):
            recent = (*here.recent, letter)[-self.window :] if self.window else ()
            if self.dead or state in self.dfa.live:
                onward.append((letter, Situation(state, (here.phase + 1) % self.period, recent)))
        return onward

    def moves(self, here: Situation) -> list[tuple[str, Situation]]:
        return self.table[here]

    @functools.cached_property
    def _sources(self) -> dict[Situation, list[tuple[Situation, str]]]:
        sources: dict[Situation, list[tuple[Situation, str]]] = {situation: [] for situation in self.table}
        for source, onward in self.table.items():
            for letter, target in onward:
                sources[target].append((source, letter))
        return sources

    def sources(self, target: Situation) -> list[tuple[Situation, str]]:
        return self._sources[target]

    @functools.cached_property
    def components(self) -> tuple[tuple[Situation, ...], ...]:
        """The strongly connected components, each after those that lead to it."""
        reach = {situation: self._reached(situation) for situation in self.table}
        groups: dict[frozenset[Situation], list[Situation]] = {}
        for situation in self.table:
            groups.setdefault(frozenset(q for q in reach[situation] if situation in reach[q]), []).append(situation)
        # Of two components, one that leads to the other reaches strictly more.
        return tuple(sorted(map(tuple, groups.values()), key=lambda group: -len(reach[group[0]])))

    def _reached(self, start: Situation) -> set[Situation]:
        seen, pending = {start}, [start]
        while pending:
            fresh = {target for _, target in self.table[pending.pop()]} - seen
            seen |= fresh
            pending.extend(fresh)
        return seen


def rounds(space: Space, component: Sequence[Situation]) -> list[Round] | None:
    """The rounds after which every situation of a component is known; None if some are never told apart, or if the
    elimination would take too long."""
    inside = set(component)
    edges = [(q, letter, to) for q in component for letter, to in space.moves(q) if to in inside]
    block = {q: (q.phase, q.recent) for q in component}
    found: list[Round] = []
    while len(set(block.values())) < len(component):
        kinds: dict[tuple, list[Edge]] = {}
        for source, letter, target in edges:
            kinds.setdefault((letter, block[source], block[target]), []).append((source, letter, target))
        costs = len(kinds) ** 2 * len(edges)
        step = _round(component, list(kinds.values()), block) if costs <= _MOST else None
        if step is None:
            return None
        found.append(step)
        block = {q: (*block[q], step.values[q]) for q in component}
    return found


def _round(component: Sequence[Situation], kinds: list[list[Edge]], block: dict) -> Round | None:
    """Numbers that tell apart all that any balanced numbers can; None if they tell nothing that is not known."""
    kind_of = {edge: kind for kind, edges in enumerate(kinds) for edge in edges}
    paths = _paths(component, kind_of, len(kinds))
    # Along an edge V moves by the amount of its kind; edges that close a cycle make equations for the amounts.
    rows = []
    for (source, _, target), kind in kind_of.items():
        row = [a - b for a, b in zip(paths[source], paths[target], strict=True)]
        row[kind] += 1
        rows.append(row)
    basis = _null_space(rows, len(kinds))
    spectrum = {q: tuple(_dot(vector, paths[q]) for vector in basis) for q in component}
    classes = len({(block[q], spectrum[q]) for q in component})
    if classes == len({block[q] for q in component}):
        return None
    # One combination of the basis tells as much apart as all of it: almost every one does, so small ones are tried.
    for reach in itertools.count(1):
        for factors in itertools.product(range(reach + 1), repeat=len(basis)):
            values = {q: int(_dot(factors, spectrum[q])) for q in component}
            if max(factors) == reach and len({(block[q], values[q]) for q in component}) == classes:
                amounts = [
                    int(sum(f * v[kind] for f, v in zip(factors, basis, strict=True))) for kind in range(len(kinds))
                ]
                moves = tuple((tuple(kinds[kind]), amount) for kind, amount in enumerate(amounts) if amount)
                return Round(values, moves)
    raise AssertionError("unreachable: finitely many combinations are bad")


def _paths(component: Sequence[Situation], kind_of: dict[Edge, int], kinds: int) -> dict[Situation, list[int]]:
    """How often each kind of edge is taken on a path from the first situation to each."""
    paths = {component[0]: [0] * kinds}
    pending = [component[0]]
    onward: dict[Situation, list[tuple[Situation, int]]] = {}
    for (source, _, target), kind in kind_of.items():
        onward.setdefault(source, []).append((target, kind))
    while pending:
        here = pending.pop()
        for target, kind in onward.get(here, []):
            if target not in paths:
                paths[target] = [*paths[here]]
                paths[target][kind] += 1
                pending.append(target)
    return paths


def _null_space(rows: list[list[int]], width: int) -> list[list[int]]:
    """A basis, in whole numbers, of the vectors that every row is orthogonal to."""
    reduced: list[list[Fraction]] = []
    pivots: list[int] = []
    for row in rows:
        rest = [Fraction(value) for value in row]
        for pivot, other in zip(pivots, reduced, strict=True):
            if rest[pivot]:
                rest = [a - rest[pivot] * b for a, b in zip(rest, other, strict=True)]
        lead = next((column for column, value in enumerate(rest) if value), None)
        if lead is None:
            continue
        rest = [value / rest[lead] for value in rest]
        reduced = [[a - other[lead] * b for a, b in zip(other, rest, strict=True)] for other in reduced]
        reduced.append(rest)
        pivots.append(lead)
    basis = []
    for free in (column for column in range(width) if column not in pivots):
        vector = [Fraction(0)] * width
        vector[free] = Fraction(1)
        for pivot, row in zip(pivots, reduced, strict=True):
            vector[pivot] = -row[free]
        scale = math.lcm(*(value.denominator for value in vector))
        basis.append([int(value * scale) for value in vector])
    return basis


def _dot(left: Sequence[int], right: Sequence[int]) -> int:
    return sum(a * b for a, b in zip(left, right, strict=True))
