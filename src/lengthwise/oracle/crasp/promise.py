"""What is really asked of an automaton: a promise that some words never come.

A task that tags every prefix of a word asks about prefixes of words alone, and stands on their last letter. Nothing has
to be known about what begins no word, and states that are never asked a question with different answers need not be
distinguished: in (a|ba)* the last letter settles every tag. A task that asks whether a word belongs draws lengths that
have both answers and no others.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from lengthwise.oracle.crasp.automata import Word, explored
from lengthwise.tasks.languages.dfa import Dfa

Tag = tuple[tuple[str, ...], bool]  # the letters that may follow, and whether the word may end
MOST_PAIRS = 2_000_000  # of states that are followed in search of a clash


@dataclass(frozen=True)
class Promise:
    """An automaton, the states through which words that are asked pass, and the answers that are asked for.
    `answers[state][i]` is what must be said on letter i, read in that state, and the last of them what must be said at
    an end mark there; None where nothing is asked. A word that leaves `kept` is never asked, nor is what it begins."""

    dfa: Dfa
    kept: frozenset[int]
    answers: tuple[tuple[Hashable, ...], ...]

    @property
    def whole(self) -> bool:
        """Whether every word is asked at its end."""
        return len(self.kept) == len(self.answers) and all(row[-1] is not None for row in self.answers)

    def moves(self, *states: int) -> Iterator[tuple[int, tuple[int, ...]]]:
        """The letters, by their numbers, that may be read in all of these states, and where they lead."""
        for letter, targets in enumerate(zip(*(self.dfa.transitions[state] for state in states), strict=True)):
            if self.kept.issuperset(targets):
                yield letter, targets

    def answer(self, state: int, suffix: Sequence[str], at_end: bool) -> Hashable:
        """What must be said on the last letter of a suffix, or at an end mark behind it; None if that is not asked."""
        for place, name in enumerate(suffix):
            letter = self.dfa.alphabet.index(name)
            if place == len(suffix) - 1 and not at_end:
                return self.answers[state][letter]
            state = self.dfa.transitions[state][letter]
            if state not in self.kept:
                return None
        return self.answers[state][-1] if at_end else None


def everything(dfa: Dfa) -> Promise:
    """Every word is asked whether it belongs, at an end mark behind it."""
    dfa = dfa.minimised()
    states = range(len(dfa.transitions))
    return Promise(dfa, frozenset(states), tuple((*(None,) * len(dfa.alphabet), q in dfa.accepting) for q in states))


def prefixes(dfa: Dfa) -> Promise:
    """Every prefix of a word is tagged with what may come next, and its last letter is seen."""
    dfa = dfa.minimised()
    answers = [[tag_of(dfa, to) if to in dfa.live else None for to in row] for row in dfa.transitions]
    return Promise(dfa, dfa.live, tuple((*row, None) for row in answers))


def mixed_lengths(dfa: Dfa) -> Promise:
    """Words of the lengths that have words inside and outside the language are asked; all words, if there is none."""
    dfa = dfa.minimised()
    layers, onward = _layers(dfa)
    mixed = [bool(layer & dfa.accepting) and bool(layer - dfa.accepting) for layer in layers]
    if len(set(mixed[1:])) == 1:
        return everything(dfa)

    def step(node: tuple[int, int], letter: int) -> tuple[int, int]:
        return dfa.transitions[node[0]][letter], onward[node[1]]

    states, rows = explored((dfa.start, 0), range(len(dfa.alphabet)), step)
    nothing = (None,) * len(dfa.alphabet)
    answers = [(*nothing, state in dfa.accepting if mixed[layer] and layer else None) for state, layer in states]
    asked = frozenset(state for state, row in enumerate(answers) if row[-1] is not None)
    product = Dfa(dfa.alphabet, rows, 0, asked)
    return Promise(product, product.live, tuple(answers))


def _layers(dfa: Dfa) -> tuple[list[frozenset[int]], list[int]]:
    """The sets of states that words of length 0, 1, 2, ... lead to, until one returns, and the number of the set behind
    each. That of length 0 never returns, as the empty word is not asked."""
    layers, first = [frozenset([dfa.start])], {}
    while (layer := frozenset(to for state in layers[-1] for to in dfa.transitions[state])) not in first:
        first[layer] = len(layers)
        layers.append(layer)
    return layers, [*range(1, len(layers)), first[layer]]


def tag_of(dfa: Dfa, state: int) -> Tag:
    """What may come next in a state."""
    row = zip(dfa.alphabet, dfa.transitions[state], strict=True)
    return tuple(letter for letter, onward in row if onward in dfa.live), state in dfa.accepting


def written(answer: Hashable) -> str:
    """A tag as `{a,b,$}`, or whether a word belongs."""
    if isinstance(answer, tuple):
        letters, ends = answer
        return "{" + ",".join((*letters, *(("$",) if ends else ()))) + "}"
    return "yes" if answer else "no"


@dataclass(frozen=True)
class AnswerClash:
    """Two states, and a suffix after which different answers are asked for: on its last letter, or at an end mark."""

    left: int
    right: int
    suffix: Word
    at_end: bool
    answer: Hashable
    other: Hashable


def first_clash(promise: Promise, pairs: Iterable[tuple[int, int]], most: int = MOST_PAIRS) -> AnswerClash | None:
    """A shortest suffix that is asked after both states of some pair, with different answers. None where there is none,
    or none among the first `most` pairs of states that the suffixes lead to."""
    came: dict[tuple[int, ...], tuple[tuple[int, ...], int] | None] = dict.fromkeys(itertools.islice(pairs, most))
    alphabet = promise.dfa.alphabet
    for pair in (queue := list(came)):
        for place, (one, other) in enumerate(zip(*(promise.answers[state] for state in pair), strict=True)):
            if one is not None and other is not None and one != other:
                letters = [] if place == len(alphabet) else [place]
                while (before := came[pair]) is not None:
                    pair, letter = before
                    letters.append(letter)
                suffix = tuple(alphabet[letter] for letter in reversed(letters))
                return AnswerClash(pair[0], pair[1], suffix, place == len(alphabet), one, other)
        for letter, targets in promise.moves(*pair):
            if targets not in came and targets[0] != targets[1] and len(came) < most:
                came[targets] = (pair, letter)
                queue.append(targets)
    return None
