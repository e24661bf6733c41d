"""States that shrink: a step replaces one or more reducible parts (redexes) by their result."""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.seeds import Draws, Ints
from lengthwise.tasks.batch import NOTHING, Samples
from lengthwise.tasks.formulations.formulation import Formulation, Labels, Sources, State

KEEP, DROP = "keep", "drop"


class Redex(NamedTuple):
    """The tokens [first, last] become the one token `result`; the label that says so stands at `place`."""

    first: int
    last: int
    place: int
    result: str


class Rewriting(Formulation):
    """A formulation of one line whose states shrink; a label keeps a token, drops it, or is what stands there next."""

    readout = "tags"
    preset = {"causal": False}  # a step looks to both sides

    @property
    @abc.abstractmethod
    def tokens(self) -> tuple[str, ...]:
        """Every token a state can hold."""

    @abc.abstractmethod
    def length(self, size: int) -> int:
        """How many tokens an instance of this size starts with."""

    @abc.abstractmethod
    def redexes(self, tokens: Sequence[str]) -> list[Redex]:
        """What the next step replaces, from left to right and without overlap; nothing when the state is finished."""

    @property
    def symbols(self) -> tuple[str, ...]:
        return (*self.tokens, KEEP, DROP)

    def step(self, state: State) -> State | None:
        redexes = self.redexes(_tokens(state))
        if not redexes:
            return None
        parts, done = [], 0
        for redex in redexes:
            parts += [*state[done : redex.first], (redex.result,)]
            done = redex.last + 1
        return (*parts, *state[done:])

    def labels(self, state: State) -> Labels:
        labels = [KEEP] * len(state)
        for redex in self.redexes(_tokens(state)):
            labels[redex.first : redex.last + 1] = [DROP] * (redex.last + 1 - redex.first)
            labels[redex.place] = redex.result
        return tuple(labels)

    def apply(self, state: State, labels: Labels) -> State:
        if len(labels) != len(state) or None in labels:
            raise UsageError(f"a state of {len(state)} tokens takes as many labels, not {len(labels)}")
        pairs = zip(state, labels, strict=True)
        return tuple(same if label == KEEP else (str(label),) for same, label in pairs if label != DROP)

    def advance(self, states: Ints, labels: Ints) -> list[Ints | None]:
        if type(self).apply is not Rewriting.apply:
            return super().advance(states, labels)
        keep, drop = (self.symbols.index(label) for label in (KEEP, DROP))
        stays = labels != drop
        after = np.where(labels == keep, states, labels)
        lost = (labels == NOTHING).any(axis=1) | ~stays.any(axis=1)
        return [None if gone else row[here] for row, here, gone in zip(after, stays, lost, strict=True)]

    def sources(self, state: State) -> Sources:
        begins = {redex.first: redex for redex in self.redexes(_tokens(state))}
        sources, place = [], 0
        while place < len(state):
            last = begins[place].last if place in begins else place
            sources.append(tuple(range(place, last + 1)))
            place = last + 1
        return tuple(sources)

    def answer(self, state: State) -> tuple[str, ...]:
        return _tokens(state)

    def sample(self, size: int, draws: Draws) -> Samples:
        """A random instance at a uniform time of its chain, its end included, which keeps every token.

        The chain is run in Python: O(steps x length) an item.
        """
        index = {symbol: number for number, symbol in enumerate(self.symbols)}
        starts, when = self.starts(size, draws), draws.uniform(1)[:, 0]
        prompts = np.full((len(starts), self.length(size)), NOTHING)
        answers = prompts.copy()
        for row, start in enumerate(starts):
            states = list(self.chain(start))
            state = states[int(when[row] * len(states))]
            prompts[row, : len(state)] = [index[token] for (token,) in state]
            answers[row, : len(state)] = [index[str(label)] for label in self.labels(state)]
        return Samples(prompts, answers)

    def solve(self, prompt: Sequence[str]) -> Sequence[str]:
        state = self.read(prompt)
        if set(prompt) & {KEEP, DROP} or len(list(self.chain(state))[-1]) != 1:
            raise UsageError(f"{' '.join(prompt)!r} does not reduce to one token")
        return tuple(str(label) for label in self.labels(state))


def _tokens(state: State) -> tuple[str, ...]:
    return tuple(token for (token,) in state)
