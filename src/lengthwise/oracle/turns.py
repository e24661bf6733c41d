"""Words that take the states of an automaton around a circle, where the number of rounds decides an answer.

Models whose memory settles when a word is repeated cannot follow such a circle (docs/explanation/recurrent.md).
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lengthwise.messages import explain, sentence
from lengthwise.oracle.crasp.automata import Word, shortest_word, spell, spelled
from lengthwise.oracle.crasp.promise import AnswerClash, Promise, first_clash, written
from lengthwise.oracle.crasp.quick import MOST_ELEMENTS, Monoid, transition_monoid
from lengthwise.tasks.languages.dfa import Dfa

MOST_STATES = 300
_SHOWN = 8  # states of a circle
explain(
    {
        "turns.circle": "Reading {word} takes the automaton from state {around}",
        "turns.lead": " (after {lead})",
        "turns.clash": "; reading it {times} changes the answer from {answer} to {other}",
        "turns.once": "once more",
        "turns.times": "{steps} more times",
        "turns.suffix": " if {suffix} follows",
    }
)


@dataclass(frozen=True)
class Turn:
    """`lead` goes from the start into a circle of states that `word` takes around, and `steps` more repetitions of the
    word lead to another answer after the same suffix."""

    lead: Word
    word: Word
    circle: tuple[int, ...]
    steps: int
    clash: AnswerClash

    def explain(self) -> str:
        shown = self.circle if len(self.circle) <= _SHOWN else (*self.circle[: _SHOWN - 2], "…", self.circle[-1])
        around = " to ".join(map(str, (*shown, self.circle[0])))
        found = sentence("turns.circle", {"word": spelled(self.word), "around": around})
        if self.lead:
            found += sentence("turns.lead", {"lead": spelled(self.lead)})
        answers = {"answer": _shown(self.clash.answer), "other": _shown(self.clash.other)}
        found += sentence("turns.clash", {"times": self.times, **answers})
        return found + (sentence("turns.suffix", {"suffix": spelled(self.clash.suffix)}) if self.clash.suffix else "")

    @property
    def times(self) -> str:
        return sentence("turns.once") if self.steps == 1 else sentence("turns.times", {"steps": self.steps})

    def plain(self) -> dict[str, object]:
        """What convinces a sceptic: run the automaton on lead, any number of words, and the suffix."""
        words = {"lead": self.lead, "word": self.word, "suffix": self.clash.suffix}
        return {**{name: list(word) for name, word in words.items()}, "circle": list(self.circle), "steps": self.steps}


def _shown(answer: object) -> str:
    return answer if isinstance(answer, str) else written(answer)


@functools.lru_cache(maxsize=64)
def actions(promise: Promise, most: int = MOST_ELEMENTS) -> Monoid | None:
    """How words act on the states of words that are asked; all that is not asked is one further state. None where
    words act in more than `most` ways, or on too many states."""
    return transition_monoid(asked_part(promise), most) if len(promise.kept) <= MOST_STATES else None


def asked_part(promise: Promise) -> Dfa:
    """The states of words that are asked, in rising order, and behind them one state for all other words."""
    kept = sorted(promise.kept)
    number = {state: place for place, state in enumerate(kept)}
    rows = [tuple(number.get(to, len(kept)) for to in promise.dfa.transitions[state]) for state in kept]
    rows.append((len(kept),) * len(promise.dfa.alphabet))
    return Dfa(promise.dfa.alphabet, tuple(rows), number[promise.dfa.start], frozenset())


@functools.lru_cache(maxsize=64)
def apart(promise: Promise) -> NDArray[np.bool_]:
    """Which states of words that are asked need different answers after some suffix, by their places among those."""
    kept = sorted(promise.kept)
    answers = [promise.answers[state] for state in kept]
    found = np.zeros((len(kept) + 1, len(kept) + 1), dtype=bool)  # the last is the state of all other words
    for column in zip(*answers, strict=True):
        codes = {answer: code for code, answer in enumerate(dict.fromkeys(column))}
        code = np.array([-1 if answer is None else codes[answer] for answer in column])
        asked = code >= 0
        found[:-1, :-1] |= (code[:, None] != code) & asked[:, None] & asked
    letters = np.asarray(asked_part(promise).transitions).T
    while True:
        before = found.sum()
        for row in letters:
            found |= found[row][:, row]
        if found.sum() == before:
            return found[:-1, :-1]


def turn(promise: Promise, monoid: Monoid, steps: int, longest: int | None = None) -> Turn | None:
    """A shortest word, of at most `longest` letters, whose repetitions have to be counted modulo something that does
    not divide `steps`."""
    differ = apart(promise)
    for element, circle in monoid.circles():
        word = monoid.word(element)
        if longest is not None and len(word) > longest:
            return None  # elements come in the order of their words' lengths
        for place, state in enumerate(circle):
            other = circle[(place + steps) % len(circle)]
            if differ[state, other]:
                return _turn(promise, spell(promise.dfa, word), (*circle[place:], *circle[:place]), steps)
    return None


def _turn(promise: Promise, word: Word, circle: tuple[int, ...], steps: int) -> Turn:
    kept = sorted(promise.kept)
    part = asked_part(promise)
    lead = shortest_word(part.alphabet, part.transitions, part.start, circle[0])
    clash = first_clash(promise, [(kept[circle[0]], kept[circle[steps % len(circle)]])])
    assert lead is not None and clash is not None
    return Turn(lead, word, tuple(kept[state] for state in circle), steps, clash)


def circle_lengths(monoid: Monoid) -> set[int]:
    """The lengths of all circles of several states."""
    return {len(circle) for _, circle in monoid.circles()}
