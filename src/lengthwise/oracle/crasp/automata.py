"""Automata as graphs: strongly connected components, products with phases and windows, shortest words."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from lengthwise.messages import explain, sentence
from lengthwise.tasks.languages.dfa import Dfa

explain({"crasp.empty_word": "the empty word"})
LARGEST = 20_000  # states of a product
State = tuple[int, int, tuple[int, ...]]
Word = tuple[str, ...]


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

    Our own code, because importing scipy's graph routines takes longer than most decisions.
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


@dataclass(frozen=True)
class AutomatonProduct:
    """`states[i]` is (state of the automaton, letters read modulo the period, the last letters as numbers).

    Only what the start reaches is here. With period 1 and no window it is the automaton itself, in its own numbering
    when that is breadth-first, as in a minimised one.
    """

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
    """Breadth-first from the start; None where there are more than `most` states.

    At most states x period x letters^window of them.
    """
    start: State = (dfa.start, 0, ())
    number: dict[State, int] = {start: 0}
    rows = []
    queue: list[State] = [start]
    for state, phase, letters in queue:
        row = []
        for letter, target in enumerate(dfa.transitions[state]):
            onward: State = (target, (phase + 1) % period, (*letters, letter)[-window:] if window else ())
            if onward not in number:
                number[onward] = len(number)
                queue.append(onward)
            row.append(number[onward])
        rows.append(tuple(row))
        if len(number) > most:
            return None
    return AutomatonProduct(dfa.alphabet, tuple(number), tuple(rows))


def shortest_word(
    alphabet: Sequence[str],
    transitions: Sequence[Sequence[int]],
    source: int,
    target: int,
    inside: Collection[int] | None = None,
) -> Word | None:
    """A shortest word from one state to another, which may be empty; `inside` are the states it may visit."""
    came: dict[int, tuple[int, str]] = {}
    seen = {source}
    for state in (queue := [source]):
        if state == target:
            break
        for letter, onward in zip(alphabet, transitions[state], strict=True):
            if onward not in seen and (inside is None or onward in inside):
                seen.add(onward)
                came[onward] = (state, letter)
                queue.append(onward)
    if target not in seen:
        return None
    word = []
    while target != source:
        target, letter = came[target]
        word.append(letter)
    return tuple(reversed(word))


def telling_suffix(dfa: Dfa, left: int, right: int) -> Word | None:
    """A shortest word accepted from exactly one of two states; None where there is none."""
    came: dict[tuple[int, int], tuple[tuple[int, int], str]] = {}
    seen = {(left, right)}
    for pair in (queue := [(left, right)]):
        if (pair[0] in dfa.accepting) != (pair[1] in dfa.accepting):
            word = []
            while pair != (left, right):
                pair, letter = came[pair]
                word.append(letter)
            return tuple(reversed(word))
        for letter, *onward in zip(dfa.alphabet, dfa.transitions[pair[0]], dfa.transitions[pair[1]], strict=True):
            target = (onward[0], onward[1])
            if target not in seen:
                seen.add(target)
                came[target] = (pair, letter)
                queue.append(target)
    return None


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
