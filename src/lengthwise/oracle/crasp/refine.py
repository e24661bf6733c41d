"""Telling the states of a component apart by counts, round after round, until nothing changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

from lengthwise.oracle.crasp.components import Component
from lengthwise.oracle.crasp.potentials import Kind, kinds, potentials


@dataclass(frozen=True)
class Term:
    """A weighted count of moves that is a function of the state: the weights that are not 0, and the value at each
    state of the component. Walking from one state to another changes the count by the difference of their values."""

    weights: tuple[tuple[Kind, int], ...]
    values: tuple[int, ...]


@dataclass(frozen=True)
class Round:
    """One round: the blocks that name the kinds of moves, the terms that part states, and the blocks they leave."""

    before: tuple[int, ...]
    terms: tuple[Term, ...]
    after: tuple[int, ...]


@dataclass(frozen=True)
class Refinement:
    """What counting can tell in a component. `blocks` are the last ones; states that share one cannot be parted."""

    component: Component
    first: tuple[int, ...]
    rounds: tuple[Round, ...]
    blocks: tuple[int, ...]

    @property
    def passes(self) -> bool:
        """Whether every state has a block of its own."""
        return len(set(self.blocks)) == len(self.blocks)


def refine(component: Component, labels: Sequence[Hashable]) -> Refinement:
    """Refine from the blocks of states with equal labels (what is known without counting) to the fixed point.

    At most as many rounds as states; each costs one exact elimination.
    """
    first = numbered(labels)
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


def first_pair(part: Refinement) -> tuple[int, int]:
    """Two states of one block, of which the later one comes first; in a minimal automaton low numbers are near the
    start."""
    first: dict[int, int] = {}
    for state, block in zip(part.component.states, part.blocks, strict=True):
        if block in first:
            return first[block], state
        first[block] = state
    raise ValueError("every state of the component has a block of its own")


def same_block(part: Refinement) -> Iterator[tuple[int, int]]:
    """All pairs of states that share a block."""
    members: dict[int, list[int]] = {}
    for state, block in zip(part.component.states, part.blocks, strict=True):
        members.setdefault(block, []).append(state)
    for group in members.values():
        for place, state in enumerate(group):
            yield from ((state, other) for other in group[place + 1 :])


def _separate(component: Component, blocks: tuple[int, ...]) -> tuple[tuple[Term, ...], tuple[int, ...]]:
    """Terms that part every pair of states some term can part, those that part most first; and the new blocks."""

    def parting_most(values: dict[int, int]) -> tuple[int, int]:
        return -len(set(values.values())) - (len(values) < len(blocks)), max(map(abs, values.values()))

    chosen, current = [], list(blocks)
    sizes = Counter(current)
    for values in sorted(potentials(component, blocks), key=parting_most):
        if _split(current, sizes, values):
            chosen.append(_term(component, blocks, values))
    return tuple(chosen), numbered(current)


def _split(current: list[int], sizes: Counter[int], values: dict[int, int]) -> bool:
    """Part the blocks in place by values, of which those not given are 0; whether that changed anything. The cost is
    that of the values given."""
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


def _term(component: Component, blocks: tuple[int, ...], values: dict[int, int]) -> Term:
    value = {state: values.get(place, 0) for place, state in enumerate(component.states)}
    weights = {
        kind: value[edges[0].target] - value[edges[0].source] for kind, edges in kinds(component, blocks).items()
    }
    return Term(tuple((kind, weight) for kind, weight in sorted(weights.items()) if weight), tuple(value.values()))
