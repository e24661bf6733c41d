"""Deterministic finite automata: running, minimising, complementing, and drawing the words of a length uniformly."""

from __future__ import annotations

import functools
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.reading import MOST_TEXT, read_json_file
from lengthwise.seeds import Floats, Ints


@dataclass(frozen=True)
class Dfa:
    """A complete automaton: `transitions[state][i]` is where letter `alphabet[i]` leads from a state.

    States are 0, 1, ... Two minimised automata over one alphabet are equal objects exactly when their languages are.
    """

    alphabet: tuple[str, ...]
    transitions: tuple[tuple[int, ...], ...]
    start: int
    accepting: frozenset[int]

    def __post_init__(self) -> None:
        if not self.alphabet:
            raise UsageError("an automaton needs an alphabet of at least one letter")
        if len(set(self.alphabet)) < len(self.alphabet) or not all(self.alphabet):
            raise UsageError(f"the letters of an automaton are distinct and not empty, unlike {list(self.alphabet)}")
        for state, row in enumerate(self.transitions):
            if len(row) < len(self.alphabet):
                raise UsageError(f"state {state} has no transition for {self.alphabet[len(row)]!r}")
            if len(row) > len(self.alphabet):
                raise UsageError(f"state {state} has {len(row)} transitions for {len(self.alphabet)} letters")
            for target in row:
                self._known(target, f"a transition of state {state} leads to")
        self._known(self.start, "the start is")
        for state in self.accepting:
            self._known(state, "among the accepting states is")

    def _known(self, state: int, what: str) -> None:
        if not 0 <= state < len(self.transitions):
            raise UsageError(f"{what} {state}, and the automaton has the states 0 to {len(self.transitions) - 1}")

    @classmethod
    def from_json(cls, path: str | Path) -> Dfa:
        """Read `{"alphabet": [..], "start": .., "accepting": [..], "transitions": {state: {letter: state}}}`."""
        return _from_data(read_json_file(path, MOST_TEXT), str(path))

    def run(self, word: Sequence[str]) -> tuple[int, ...]:
        """The states after every prefix of a word, the empty one first."""
        state, states = self.start, [self.start]
        for letter in word:
            if letter not in self._index:
                raise UsageError(f"{letter!r} is not a letter of the alphabet {' '.join(self.alphabet)}")
            state = self.transitions[state][self._index[letter]]
            states.append(state)
        return tuple(states)

    def accepts(self, word: Sequence[str]) -> bool:
        return self.run(word)[-1] in self.accepting

    @functools.cached_property
    def reachable(self) -> tuple[int, ...]:
        """The states that some word leads to, in breadth-first order with the letters in the alphabet's order."""
        order = {self.start: None}
        for state in (queue := [self.start]):
            fresh = [target for target in dict.fromkeys(self.transitions[state]) if target not in order]
            order.update(dict.fromkeys(fresh))
            queue.extend(fresh)
        return tuple(order)

    @functools.cached_property
    def live(self) -> frozenset[int]:
        """The states from which some word is accepted."""
        sources: list[set[int]] = [set() for _ in self.transitions]
        for state, row in enumerate(self.transitions):
            for target in row:
                sources[target].add(state)
        live, queue = set(self.accepting), list(self.accepting)
        while queue:
            fresh = sources[queue.pop()] - live
            live |= fresh
            queue.extend(fresh)
        return frozenset(live)

    def is_empty(self) -> bool:
        """Whether no word is accepted."""
        return self.start not in self.live

    def complement(self) -> Dfa:
        """The automaton of the words over the same alphabet that this one rejects."""
        return replace(self, accepting=frozenset(range(len(self.transitions))) - self.accepting)

    def minimised(self) -> Dfa:
        """The smallest automaton of the same language, its states numbered in breadth-first order from 0."""
        trimmed = self._renumbered({state: number for number, state in enumerate(self.reachable)})
        block = _coarsest(trimmed.transitions, trimmed.accepting)
        # The first state of a block, in breadth-first order, gives the block its number.
        numbers = {old: new for new, old in enumerate(dict.fromkeys(block))}
        return trimmed._renumbered({state: numbers[block[state]] for state in range(len(block))})

    def _renumbered(self, number: dict[int, int]) -> Dfa:
        """Only the states that have a number; several states may share one when they behave alike."""
        rows = {number[q]: tuple(number[target] for target in self.transitions[q]) for q in number}
        accepting = frozenset(number[q] for q in self.accepting if q in number)
        return Dfa(self.alphabet, tuple(rows[n] for n in range(len(rows))), number[self.start], accepting)

    def reached(self, length: int) -> frozenset[int]:
        """The states that words of exactly this length lead to."""
        layers, first = self._layers
        while len(layers) <= length:
            layer = frozenset(target for state in layers[-1] for target in self.transitions[state])
            if layer in first:  # from here on the layers repeat, so a huge length costs no more
                return layers[first[layer] + (length - first[layer]) % (len(layers) - first[layer])]
            first[layer] = len(layers)
            layers.append(layer)
        return layers[length]

    def has_word(self, length: int) -> bool:
        """Whether some word of exactly this length is accepted."""
        return not self.accepting.isdisjoint(self.reached(length))

    @functools.cached_property
    def _index(self) -> dict[str, int]:
        return {letter: index for index, letter in enumerate(self.alphabet)}

    @functools.cached_property
    def _layers(self) -> tuple[list[frozenset[int]], dict[frozenset[int], int]]:
        start = frozenset([self.start])
        return [start], {start: 0}


def _coarsest(transitions: Sequence[Sequence[int]], accepting: frozenset[int]) -> list[int]:
    """Hopcroft's partition: the block of every state, two states sharing one when no word tells them apart.

    O(letters x states x log states).
    """
    states, letters = len(transitions), len(transitions[0])
    sources: list[list[list[int]]] = [[[] for _ in range(states)] for _ in range(letters)]
    for state, row in enumerate(transitions):
        for letter, target in enumerate(row):
            sources[letter][target].append(state)
    blocks = [set(part) for part in (accepting, set(range(states)) - accepting) if part]
    block = [0 if state in blocks[0] else 1 for state in range(states)]
    pending = {(0, letter) for letter in range(letters)} if len(blocks) == 2 else set()
    while pending:
        splitter, letter = pending.pop()
        hit: dict[int, set[int]] = {}
        for state in blocks[splitter]:
            for source in sources[letter][state]:
                hit.setdefault(block[source], set()).add(source)
        for old, inside in hit.items():
            if len(inside) == len(blocks[old]):
                continue
            blocks[old] -= inside
            new = len(blocks)
            # The smaller half gets the new number, so that a state changes block only log(states) times.
            if len(inside) > len(blocks[old]):
                inside, blocks[old] = blocks[old], inside
            blocks.append(inside)
            for state in inside:
                block[state] = new
            # A pending old block still has to be split by as a whole; else its smaller half, now new, is enough.
            pending.update((new, other) for other in range(letters))
    return block


def _from_data(data: Any, path: str) -> Dfa:
    """The automaton that a JSON object describes; states may be named by text or by numbers."""
    if not isinstance(data, dict):
        raise UsageError(f"{path!r} does not contain a JSON object with alphabet, start, accepting and transitions")
    kinds = {
        "alphabet": (list, "a list of letters"),
        "start": ((str, int), "the name of a state"),
        "accepting": (list, "a list of states"),
        "transitions": (dict, "an object {state: {letter: state}}"),
    }
    for key, (kind, meaning) in kinds.items():
        if key not in data:
            raise UsageError(f"{path!r} has no {key!r}, which is {meaning}")
        if not isinstance(data[key], kind):
            raise UsageError(f"{path!r}: {key!r} must be {meaning}, not {data[key]!r}")
    table = data["transitions"]
    number = {name: index for index, name in enumerate(table)}

    def state(name: Any, what: str) -> int:
        if str(name) not in number:
            raise UsageError(f"{path!r}: {what} the state {str(name)!r}, which has no transitions")
        return number[str(name)]

    letters = tuple(str(letter) for letter in data["alphabet"])
    rows = []
    for name, row in table.items():
        if not isinstance(row, dict):
            raise UsageError(f"{path!r}: the transitions of {name!r} are an object of the form {{letter: state}}")
        for letter in row:
            if letter not in letters:
                raise UsageError(f"{path!r}: the state {name!r} has a transition for {letter!r}, which is not a letter")
        missing = [letter for letter in letters if letter not in row]
        if missing:
            raise UsageError(f"{path!r}: the state {name!r} has no transition for {missing[0]!r}")
        rows.append(tuple(state(row[letter], f"{name!r} leads by {letter!r} to") for letter in letters))
    accepting = frozenset(state(name, "accepting names") for name in data["accepting"])
    return Dfa(letters, tuple(rows), state(data["start"], "start names"), accepting)


class Walks:
    """Uniform accepted words: a letter is taken with probability (completions after it) / (completions before it).

    The numbers of completions grow like letters**length, so their logarithms are kept, each state for itself: a state
    whose words are rarer by any factor still has exact proportions. The tables grow with the longest length asked for,
    O(length x states x letters) numbers.
    """

    def __init__(self, transitions: Sequence[Sequence[int]], accepting: Collection[int]) -> None:
        self._letters = len(transitions[0])
        self._next = np.asarray(transitions, dtype=np.int64)
        done = np.full(len(transitions), -np.inf)
        done[list(accepting)] = 0.0
        self._logs = done  # log of the number of accepted words of the longest length in the tables, by state
        self._cuts: list[Floats] = [np.zeros((len(transitions), self._letters - 1))]

    def words(self, starts: Ints, uniforms: Floats) -> tuple[Ints, Ints]:
        """Letters [items, length] and the states around them [items, length + 1], one row per row of `uniforms`.

        A start must have an accepted word of this length; the automaton knows (`Dfa.has_word`).
        """
        items, length = uniforms.shape
        while len(self._cuts) <= length:
            self._grow()
        letters = np.empty((length, items), dtype=np.int64)
        states = np.empty((length + 1, items), dtype=np.int64)
        states[0] = state = starts
        flat, columns = self._next.ravel(), np.ascontiguousarray(uniforms.T)[:, :, None]
        for place in range(length):
            cuts = self._cuts[length - place].take(state, axis=0)
            letter = letters[place] = (cuts <= columns[place]).sum(axis=1)
            state = states[place + 1] = flat.take(state * self._letters + letter)
        return letters.T, states.T

    def visits(self, start: int, length: int, groups: Ints) -> tuple[float, Floats]:
        """How uniform words from a start spread over groups of states: the probability of never leaving the group of
        the start, and the mean share of prefixes in each group. O(length x states x letters)."""
        while len(self._cuts) <= length:
            self._grow()
        here = np.zeros(len(self._next))
        here[start] = 1.0
        staying, inside, total = here, groups == groups[start], here.copy()
        targets = self._next.ravel()
        for left in range(length, 0, -1):
            ends = np.pad(self._cuts[left], ((0, 0), (1, 1)), constant_values=((0, 0), (0.0, 1.0)))
            taken = np.diff(ends, axis=1)
            here = np.bincount(targets, (here[:, None] * taken).ravel(), minlength=len(here))
            staying = inside * np.bincount(targets, (staying[:, None] * taken).ravel(), minlength=len(here))
            total += here
        met = groups >= 0  # states of no group are those that no word meets
        return min(1.0, float(staying.sum())), np.bincount(groups[met], total[met]) / (length + 1)

    def _grow(self) -> None:
        """One letter more: `cuts[q, i]` is the probability that the letter from state q is one of the first i + 1."""
        onward = self._logs[self._next]
        top = onward.max(axis=1)
        some = top > -np.inf
        sums = np.exp(onward - np.where(some, top, 0.0)[:, None]).cumsum(axis=1)
        total = np.where(some, sums[:, -1], 1.0)
        # A letter without completions adds exactly 0 to the sums, so its interval is empty and it is never taken.
        self._cuts.append(sums[:, :-1] / total[:, None])
        self._logs = np.where(some, top + np.log(total), -np.inf)
