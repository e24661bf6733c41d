"""Runs words by the counts of a decision alone, as the proof in docs/explanation/crasp.md says."""

from __future__ import annotations

from typing import NamedTuple

from lengthwise.oracle.crasp.decide import Decision
from lengthwise.oracle.crasp.refine import Refinement, Round


class Place(NamedTuple):
    """What is kept while a word is read: the component, the values of its terms by round, and what positions show."""

    part: int
    counts: tuple[tuple[int, ...], ...]
    blocks: tuple[int, ...]
    phase: int
    window: tuple[int, ...]


class Counting:
    """Inside a component only counts are kept; it is left by a move that its state and the letter determine."""

    def __init__(self, decision: Decision) -> None:
        self.decision, self.machine = decision, decision.product
        self.home = {q: n for n, part in enumerate(decision.refinements) for q in part.component.states}

    def start(self) -> Place:
        return self._entered(0, 0, ())

    def state(self, place: Place) -> int:
        """The state of the product that the counts show."""
        part = self.decision.refinements[place.part]
        return part.component.states[part.blocks.index(place.blocks[-1])]

    def read(self, place: Place, letter: str) -> Place:
        number = self.machine.alphabet.index(letter)
        target = self.machine.transitions[self.state(place)][number]
        phase = (place.phase + 1) % self.decision.period
        window = (*place.window, number)[-self.decision.locality :] if self.decision.locality else ()
        if self.home[target] != place.part:
            return self._entered(target, phase, window)
        part = self.decision.refinements[place.part]
        counts, onward = [], [self._first(part, phase, window)]
        for level, round in enumerate(part.rounds):
            kind = (letter, place.blocks[level], onward[level])
            changes = (dict(term.weights).get(kind, 0) for term in round.terms)
            counts.append(tuple(old + new for old, new in zip(place.counts[level], changes, strict=True)))
            onward.append(_next_block(round, onward[-1], counts[-1]))
        return Place(place.part, tuple(counts), tuple(onward), phase, window)

    def _entered(self, state: int, phase: int, window: tuple[int, ...]) -> Place:
        part = self.decision.refinements[self.home[state]]
        place = part.component.states.index(state)
        counts = tuple(tuple(term.values[place] for term in round.terms) for round in part.rounds)
        blocks = [self._first(part, phase, window)]
        for round, values in zip(part.rounds, counts, strict=True):
            blocks.append(_next_block(round, blocks[-1], values))
        return Place(self.home[state], counts, tuple(blocks), phase, window)

    def _first(self, part: Refinement, phase: int, window: tuple[int, ...]) -> int:
        labels = [self.machine.states[state][1:] for state in part.component.states]
        return part.first[labels.index((phase, window))]


def _next_block(round: Round, before: int, values: tuple[int, ...]) -> int:
    columns = zip(round.before, round.after, *(term.values for term in round.terms), strict=True)
    return next(after for b, after, *v in columns if (b, tuple(v)) == (before, values))


def state_by_counts(decision: Decision, word: tuple[str, ...]) -> int:
    """The state of the automaton after a word, found by counting."""
    counting = Counting(decision)
    place = counting.start()
    for letter in word:
        place = counting.read(place, letter)
    return decision.product.states[counting.state(place)][0]
