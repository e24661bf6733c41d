"""Every place of every state as a row of arrays: which window it has, and what becomes of it.

In the form "step" a state is one step's text and every column has a label, as in any layout; in the form "decoder" the
state is everything written so far, and what is asked of its last column is the whole next step. Windows are numbered
width by width: that of r + 2 columns from that of r and the two columns around it, so a width costs one sort.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from lengthwise.oracle.locality.thoughts.reading import Chain
from lengthwise.seeds import Ints
from lengthwise.tasks.formulations.between import Side, appends, is_guess, labels_between
from lengthwise.tasks.formulations.formulation import Column, State, StepMove
from lengthwise.tasks.formulations.layouts import END, KEEP

WIDTHS = (1, 3, 5, 7, 9, 11)
_GAP = max(WIDTHS) // 2  # columns of padding between two states
_SEPARATOR = ";"
Form = Literal["step", "decoder"]


@dataclass(frozen=True)
class ChainMove:
    """A step of a chain: `step` counts from 1, and one more than there are steps is the end."""

    chain: int
    step: int
    move: StepMove


@dataclass(frozen=True, eq=False)
class WindowPlaces:
    """`chain`, `step`, `column` and `label` of each place, and where it stands in `flat`, which holds the numbers of
    tokens with padding (0) around each state. `changes` says where a label is not to keep the column."""

    flat: Ints
    at: Ints
    chain: Ints
    step: Ints
    column: Ints
    label: Ints
    changes: NDArray[np.bool_]
    labels: tuple[str, ...]
    form: Form

    def windows(self) -> Iterator[tuple[int, Ints]]:
        """For each width the number of the window of every place; a decoder's window shows what came before only."""
        numbers = self.flat
        for width in WIDTHS:
            if width > 1:
                reach = width // 2
                sides = (reach, -reach) if self.form == "step" else (reach,)
                for shift in sides:
                    numbers = _numbered(numbers, np.roll(self.flat, shift))
            yield width, numbers[self.at]


def _numbered(one: Ints, other: Ints) -> Ints:
    """The number of each pair."""
    return np.unique(one * (int(other.max()) + 1) + other, return_inverse=True)[1].reshape(-1).astype(np.int64)


@dataclass
class _Filling:
    flat: list[int] = field(default_factory=lambda: [0] * _GAP)
    rows: list[tuple[int, int, int, int, int]] = field(default_factory=list)  # at, chain, step, column, label
    tokens: dict[str, int] = field(default_factory=dict)
    labels: dict[str, int] = field(default_factory=lambda: {KEEP: 0})

    def add(self, tokens: Sequence[str]) -> int:
        """Write tokens with padding behind; where the first of them stands."""
        first = len(self.flat)
        numbers = self.tokens
        self.flat += [numbers.setdefault(token, len(numbers) + 1) for token in tokens]
        self.flat += [0] * _GAP
        return first

    def label(self, text: str) -> int:
        return self.labels.setdefault(text, len(self.labels))

    def places(self, form: Form) -> WindowPlaces:
        at, chain, step, column, label = np.array(self.rows, dtype=np.int64).reshape(-1, 5).T
        flat = np.array(self.flat, dtype=np.int64)
        return WindowPlaces(flat, at, chain, step, column, label, label != 0, tuple(self.labels), form)


def moves_of(chains: Sequence[Chain]) -> Iterator[ChainMove]:
    """The steps of the chains in step form, their ends included, with labels that are still to be found."""
    columns: dict[str, Column] = {}

    def state_of(tokens: Sequence[str]) -> State:
        return tuple([columns.setdefault(token, (token,)) for token in tokens])

    for number, chain in enumerate(chains):
        states = [state_of(tokens) for tokens in chain.states]
        for step, (state, after) in enumerate(zip(states, [*states[1:], states[-1]], strict=True), 1):
            yield ChainMove(number, step, StepMove(state, after, (), ()))


def step_places(chains: Sequence[Chain]) -> list[WindowPlaces]:
    """The places in step form. Where comparing two states leaves open what was changed, both guesses are given."""
    found, guessed = [], any(is_guess(m.move.state, m.move.after) for m in moves_of(chains))
    sides: tuple[Side, ...] = ("left", "right") if guessed else ("left",)
    for side in sides:
        filling = _Filling()
        rows, label, appended = filling.rows, filling.label, False
        for move in moves_of(chains):
            state, after = move.move.state, move.move.after
            first = filling.add([token for (token,) in state])
            appended = appends(state, after) or (appended and state == after)
            if appended:  # only the last column is asked, in the end for that
                said = END if state == after else after[-1][0]
                rows.append((first + len(state) - 1, move.chain, move.step, len(state), label(said)))
                continue
            same = labels_between(state, after, side) if after != state else (KEEP,) * len(state)
            rows += [(first + at, move.chain, move.step, at + 1, label(str(text))) for at, text in enumerate(same)]
        found.append(filling.places("step"))
    return found


def decoder_places(chains: Sequence[Chain]) -> list[WindowPlaces]:
    """The places in decoder form: one per step, and one for the end."""
    filling = _Filling()
    for number, chain in enumerate(chains):
        text: list[str] = []
        ends = []
        for tokens in chain.states:
            text += [*tokens, _SEPARATOR]
            ends.append(len(text) - 1)
        first = filling.add(text)
        following = [" ".join(tokens) for tokens in chain.states[1:]] + [END]
        for step, (end, onward) in enumerate(zip(ends, following, strict=True), 1):
            filling.rows.append((first + end, number, step, end + 1, filling.label(onward)))
    return [filling.places("decoder")]
