"""The three layouts of a formulation: states that keep their length, that shrink, and that grow."""

from __future__ import annotations

import abc
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.seeds import Draws, Ints
from lengthwise.tasks.batch import EOS, NOTHING, SPECIALS, Samples
from lengthwise.tasks.formulations.formulation import Column, Formulation, Labels, Sources, State, column, symbol

EQUALS = "="
END = SPECIALS[EOS]
KEEP, DROP = "keep", "drop"

# One layer in which a column sees itself and its two neighbours: enough where windows of 3 determine every step. Where
# what stands in them tells left from right, it does without a position encoding.
THREE_COLUMNS = {"causal": False, "depth": 1, "width": 32, "heads": 2, "attention": "window:size=2"}

# Some heads see a column and its neighbours, the others find a marked column by its content, without positions. One
# layer is enough in principle; with one, some seeds did not learn the sum of two digits and a carry.
MARKED_COLUMNS = {
    "causal": False,
    "depth": 2,
    "width": 64,
    "heads": 8,
    "attention": "window_match:size=2,match=4",
}


class Change(NamedTuple):
    """What a step writes into a column, and the positions it was computed from."""

    column: Column
    sources: tuple[int, ...]


class Columns(Formulation):
    """A formulation whose states keep their length; the label of a position is its next column.

    A subclass says what a step changes, on symbols (`changes`), and independently of it what the state of an instance
    is at any time, on arrays (`frames`); the first serves the solver and the second the sampler.
    """

    readout = "tags"
    preset: ClassVar[Mapping[str, Any]] = {"causal": False}  # a step looks to both sides

    @abc.abstractmethod
    def steps(self, size: int) -> int:
        """How many steps an instance of this size takes."""

    @abc.abstractmethod
    def frames(self, rows: Ints, times: Ints) -> Ints:
        """The states of instances [items, numbers] after `times` [items, 1] steps, as indices into `symbols`."""

    @abc.abstractmethod
    def changes(self, state: State) -> Mapping[int, Change]:
        """The columns the next step writes, by position; none when the state is finished."""

    def start(self, size: int, row: Sequence[int] | Ints) -> State:  # noqa: ARG002
        frame = self.frames(np.array([row], dtype=np.int64), np.zeros((1, 1), dtype=np.int64))[0]
        return tuple(column(text) for text in self.spelled(frame))

    def step(self, state: State) -> State | None:
        changes = self.changes(state)
        if not changes:
            return None
        return tuple(changes[place].column if place in changes else same for place, same in enumerate(state))

    def labels(self, state: State) -> Labels:
        return tuple(symbol(column) for column in self.step(state) or state)

    def apply(self, state: State, labels: Labels) -> State:
        if len(labels) != len(state) or None in labels:
            raise UsageError(f"a state of {len(state)} columns takes as many labels, not {len(labels)}")
        return tuple(column(label) for label in labels if label is not None)

    def advance(self, states: Ints, labels: Ints) -> list[Ints | None]:
        if type(self).apply is not Columns.apply:
            return super().advance(states, labels)
        return [None if lost else row for row, lost in zip(labels, (labels == NOTHING).any(axis=1), strict=True)]

    def sources(self, state: State) -> Sources:
        changes = self.changes(state)
        return tuple(changes[place].sources if place in changes else (place,) for place in range(len(state)))

    def answer(self, state: State) -> tuple[str, ...]:
        """The first line behind `=`."""
        tokens = tuple(column[0] for column in state)
        return tokens[tokens.index(EQUALS) + 1 :]

    def sample(self, size: int, draws: Draws) -> Samples:
        """A random instance at a time drawn uniformly from its chain, its end included.

        The finished state is asked for itself: that is how a model that is run to the end knows where to stop.
        """
        rows, last = self.some(size, draws), self.steps(size)
        times = draws.integers(0, last + 1, 1)
        return Samples(self.frames(rows, times), self.frames(rows, np.minimum(times + 1, last)))

    def solve(self, prompt: Sequence[str]) -> Sequence[str]:
        try:
            return tuple(label for label in self.labels(self.read(prompt)) if label is not None)
        except (ValueError, IndexError) as error:
            raise UsageError(f"{' '.join(prompt)!r} is not a state of this formulation") from error


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


class Appending(Formulation):
    """A formulation of one line for a decoder: the state is what was written so far, the label the next token.

    As a task the tokens before `=` are the prompt and those after it the answer; the `=` of the state is the `<sep>` of
    the layout, and the last step appends `<eos>`, which a decoder has to find too. Only the last position is asked for
    something, and as the step is taken there it counts as a source.
    """

    @abc.abstractmethod
    def lay(self, rows: Ints) -> Samples:
        """Instances (rows of numbers) as prompts and whole answers."""

    @abc.abstractmethod
    def following(self, given: Sequence[str], written: Sequence[str]) -> tuple[str, tuple[int, ...]] | None:
        """The token after those `written` so far, and the positions in `given` it depends on; None when all is written.

        Beyond these it may depend on the last token written and on how many were written.
        """

    def sample(self, size: int, draws: Draws) -> Samples:
        return self.lay(self.some(size, draws))

    def start(self, size: int, row: Sequence[int] | Ints) -> State:  # noqa: ARG002
        prompt = self.lay(np.array([row], dtype=np.int64)).prompts[0]
        return tuple((token,) for token in (*self.spelled(prompt), EQUALS))

    def step(self, state: State) -> State | None:
        found = self._following(state)
        return None if found is None else (*state, (found[0],))

    def labels(self, state: State) -> Labels:
        found = self._following(state)
        return (*(None for _ in state[1:]), None if found is None else found[0])

    def apply(self, state: State, labels: Labels) -> State:
        return state if labels[-1] is None else (*state, (labels[-1],))

    def sources(self, state: State) -> Sources:
        found, last = self._following(state), len(state) - 1
        carried = tuple((place,) for place in range(len(state)))
        return carried if found is None else (*carried, tuple(sorted({*found[1], last})))

    def answer(self, state: State) -> tuple[str, ...]:
        return tuple(token for (token,) in state[state.index((EQUALS,)) + 1 :] if token != END)

    def solve(self, prompt: Sequence[str]) -> Sequence[str]:
        *_, final = self.chain((*self.read(prompt), (EQUALS,)))
        return self.answer(final)

    def _following(self, state: State) -> tuple[str, tuple[int, ...]] | None:
        tokens = [token for (token,) in state]
        if EQUALS not in tokens:
            raise UsageError(f"a state holds {EQUALS!r}, and {' '.join(tokens)!r} does not")
        if tokens[-1] == END:
            return None
        equals = tokens.index(EQUALS)
        return self.following(tokens[:equals], tokens[equals + 1 :]) or (END, (equals,))
