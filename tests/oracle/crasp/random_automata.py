"""Automata for attacks: random ones with structure, and ones that are in C-RASP[periodic, local] by construction."""

from __future__ import annotations

import itertools
import random

from lengthwise.tasks.languages.dfa import Dfa


def random_automaton(source: random.Random, states: int, letters: int) -> Dfa:
    """Moves prefer to stay, to go to a neighbour or to fall into a sink, as uniform ones are all alike."""
    sink = source.random() < 0.6
    rows = []
    for state in range(states):
        row = []
        for _ in range(letters):
            chance = source.random()
            if sink and chance < 0.3:
                row.append(states - 1)
            elif chance < 0.45:
                row.append(state)
            elif chance < 0.75:
                row.append((state + source.choice([1, -1])) % states)
            else:
                row.append(source.randrange(states))
        rows.append(tuple(row))
    if sink:
        rows[-1] = (states - 1,) * letters
    accepting = frozenset(state for state in range(states) if source.random() < 0.4)
    return Dfa(tuple("abcdefgh"[:letters]), tuple(rows), 0, accepting)


def relabelled(source: random.Random, inner: Dfa, letters: int, period: int, window: int) -> Dfa:
    """The words whose letters, each replaced by a random function of its place modulo a period and of the letters in a
    window that ends with it, are accepted by `inner`. In C-RASP[periodic, local] whenever `inner` is in C-RASP[]."""
    images: dict[tuple[int, tuple[int, ...]], list[int]] = {}
    number, rows, queue = {(inner.start, 0, ()): 0}, [], [(inner.start, 0, ())]
    for state, phase, seen in queue:
        row = []
        if (phase, seen) not in images:  # a renaming more often than not, as others lose what makes it hard
            count = len(inner.alphabet)
            rename = source.random() < 0.75 and letters <= count
            choices = source.sample(range(count), letters) if rename else source.choices(range(count), k=letters)
            images[phase, seen] = choices
        for letter, image in enumerate(images[phase, seen]):
            view = (*seen, letter)
            onward = (inner.transitions[state][image], (phase + 1) % period, view[-window:] if window else ())
            if onward not in number:
                number[onward] = len(number)
                queue.append(onward)
            row.append(number[onward])
        rows.append(tuple(row))
    accepting = frozenset(index for (state, *_), index in number.items() if state in inner.accepting)
    return Dfa(tuple("abcdefgh"[:letters]), tuple(rows), 0, accepting)


def intersection(left: Dfa, right: Dfa) -> Dfa:
    """The words that both accept."""
    pairs = list(itertools.product(range(len(left.transitions)), range(len(right.transitions))))
    number = {pair: index for index, pair in enumerate(pairs)}
    rows = tuple(
        tuple(number[target] for target in zip(left.transitions[p], right.transitions[q], strict=True))
        for p, q in pairs
    )
    accepting = frozenset(number[p, q] for p, q in pairs if p in left.accepting and q in right.accepting)
    return Dfa(left.alphabet, rows, number[left.start, right.start], accepting)


def words(alphabet: tuple[str, ...], longest: int):
    """All words up to a length."""
    for length in range(longest + 1):
        yield from itertools.product(alphabet, repeat=length)
