"""The strongly connected parts of an automaton, with the moves inside each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple


class Edge(NamedTuple):
    """A move of the automaton: reading `letter` in `source` leads to `target`."""

    source: int
    letter: str
    target: int


@dataclass(frozen=True)
class Component:
    """States that reach each other, in rising order, and every move that stays among them."""

    states: tuple[int, ...]
    edges: tuple[Edge, ...]


def components(alphabet: Sequence[str], transitions: Sequence[Sequence[int]]) -> tuple[Component, ...]:
    """The strongly connected components, ordered by their smallest state. O(states x letters)."""
    homes = component_numbers(transitions)
    members: dict[int, list[int]] = {}
    for state, home in enumerate(homes):
        members.setdefault(home, []).append(state)
    found = []
    for home, states in members.items():
        inside = [
            Edge(state, letter, target)
            for state in states
            for letter, target in zip(alphabet, transitions[state], strict=True)
            if homes[target] == home
        ]
        found.append(Component(tuple(states), tuple(inside)))
    return tuple(found)


def component_numbers(transitions: Sequence[Sequence[int]]) -> list[int]:
    """The number of the component of every state: Tarjan's algorithm without recursion. A component has a higher number
    than those it leads to.

    Own code, as the import of scipy's graph routines takes longer than most decisions.
    """
    count = len(transitions)
    entered, lowest, home = [-1] * count, [0] * count, [-1] * count
    path: list[int] = []
    clock = numbers = 0
    for root in range(count):
        if entered[root] >= 0:
            continue
        work = [(root, iter(transitions[root]))]
        entered[root] = lowest[root] = clock
        clock += 1
        path.append(root)
        while work:
            state, targets = work[-1]
            onward = next((target for target in targets if home[target] < 0), None)
            if onward is None:
                work.pop()
                if work:
                    parent = work[-1][0]
                    lowest[parent] = min(lowest[parent], lowest[state])
                if lowest[state] == entered[state]:
                    while home[state] < 0:
                        home[path.pop()] = numbers
                    numbers += 1
            elif entered[onward] >= 0:
                lowest[state] = min(lowest[state], entered[onward])
            else:
                entered[onward] = lowest[onward] = clock
                clock += 1
                path.append(onward)
                work.append((onward, iter(transitions[onward])))
    return home
