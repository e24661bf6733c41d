"""Automata as graphs: strongly connected components, products with phases and windows, shortest words."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from lengthwise.messages import explain, sentence
from lengthwise.tasks.languages.dfa import Dfa

explain({"crasp.empty_word": "the empty word"})
LARGEST = 20_000  # states of a product
State = tuple[int, int, tuple[int, ...]]
Word = tuple[str, ...]
Node = TypeVar("Node", bound=Hashable)
Letter = TypeVar("Letter")


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
    edges: dict[int, list[Edge]] = {}
    for state, (home, row) in enumerate(zip(homes, transitions, strict=True)):
        members.setdefault(home, []).append(state)
        inside = [Edge(state, a, to) for a, to in zip(alphabet, row, strict=True) if homes[to] == home]
        edges.setdefault(home, []).extend(inside)
    return tuple(Component(tuple(states), tuple(edges[home])) for home, states in members.items())


def component_numbers(transitions: Sequence[Sequence[int]]) -> list[int]:
    """The number of the component of every state: Tarjan's algorithm without recursion. A component has a higher number
    than those it leads to. Our own code, because importing scipy's graph routines takes longer than most decisions."""
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


@dataclass(frozen=True)
class AutomatonProduct:
    """`states[i]` is (state of the automaton, letters read modulo the period, the last letters as numbers). With period
    1 and no window it is the automaton itself, in its own numbering if that is breadth-first, as in a minimised one."""

    alphabet: tuple[str, ...]
    states: tuple[State, ...]
    transitions: tuple[tuple[int, ...], ...]

    def label(self, state: int) -> tuple[int, tuple[int, ...]]:
        """What is known without counting: the phase and the window."""
        return self.states[state][1:]

    def name(self, state: int) -> str:
        """The state as a person would write it: `2`, or `2 (phase 1, after ab)`."""
        number, phase, window = self.states[state]
        marks = [f"phase {phase}"] if any(other[1] for other in self.states) else []
        marks += [f"after {' '.join(self.alphabet[letter] for letter in window)}"] if window else []
        return f"{number} ({', '.join(marks)})" if marks else str(number)


def product(dfa: Dfa, period: int, window: int, most: int = LARGEST) -> AutomatonProduct | None:
    """Up to states x period x letters^window states; None where there are more than `most`."""

    def step(node: State, letter: int) -> State:
        state, phase, letters = node
        return dfa.transitions[state][letter], (phase + 1) % period, (*letters, letter)[-window:] if window else ()

    start: State = (dfa.start, 0, ())
    states, rows = explored(start, range(len(dfa.alphabet)), step, most)
    return AutomatonProduct(dfa.alphabet, states, rows) if len(states) <= most else None


def explored(
    start: Node, letters: Iterable[Letter], step: Callable[[Node, Letter], Node], most: float = math.inf
) -> tuple[tuple[Node, ...], tuple[tuple[int, ...], ...]]:
    """The states that `step` reaches from the start, breadth-first, and where each letter leads from them, by their
    numbers. Once there are more than `most` the search stops."""
    number, rows = {start: 0}, []
    for node in (queue := [start]):
        for target in (targets := [step(node, letter) for letter in letters]):
            if target not in number:
                number[target] = len(number)
                queue.append(target)
        rows.append(tuple(number[target] for target in targets))
        if len(number) > most:
            break
    return tuple(number), tuple(rows)


def shortest_word(
    alphabet: Sequence[str],
    transitions: Sequence[Sequence[int]],
    source: int,
    target: int,
    inside: Collection[int] | None = None,
) -> Word | None:
    """A shortest word from one state to another, which may be empty; `inside` are the states it may visit."""
    came: dict[int, tuple[int, str]] = {source: (source, "")}
    for state in (queue := [source]):
        for letter, onward in zip(alphabet, transitions[state], strict=True):
            if onward not in came and (inside is None or onward in inside):
                came[onward] = (state, letter)
                queue.append(onward)
    if target not in came:
        return None
    word = []
    while target != source:
        target, letter = came[target]
        word.append(letter)
    return tuple(reversed(word))


def spell(dfa: Dfa, letters: Iterable[int]) -> Word:
    """The letters that have these numbers."""
    return tuple(dfa.alphabet[letter] for letter in letters)


def spelled(word: Sequence[str]) -> str:
    """A word between backquotes; letters are separated by spaces where one of them has several characters."""
    if not word:
        return sentence("crasp.empty_word")
    return f"`{(' ' if any(len(letter) > 1 for letter in word) else '').join(word)}`"


def walk(alphabet: Sequence[str], transitions: Sequence[Sequence[int]], state: int, word: Sequence[str]) -> int:
    """Where a word leads from a state."""
    for letter in word:
        state = transitions[state][alphabet.index(letter)]
    return state
