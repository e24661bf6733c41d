"""Chains of reasoning steps as arrays: the true one of an instance, and the one that a model walks, be it a one-step
model applied to its own output or a decoder that writes until it ends.

A state is an array of indices into the letters of its formulation, so that states are compared and laid out for a model
without spelling them. Nobody tells a walker how many steps are right. A one-step model stops at a state that it maps to
itself, a decoder where it writes `<eos>`; the guard only ends chains that would run forever.
"""

from __future__ import annotations

import abc
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch

from lengthwise.errors import UsageError
from lengthwise.models.placed import home
from lengthwise.models.transformer import Transformer
from lengthwise.seeds import Ints, Seeds
from lengthwise.subjects.run import continue_greedily, rows_at_once
from lengthwise.tasks.batch import BOS, EOS, NOTHING, PAD, SEP, SPECIALS
from lengthwise.tasks.formulations.formulation import Formulation, State, column, symbol
from lengthwise.tasks.formulations.layouts import END, EQUALS, Columns

Ending = Literal["stopped", "endless", "invalid"]


@dataclass(frozen=True)
class Walk:
    """The states of a chain from its start, and how it ended.

    "stopped": the last state is final by what the model said of it. "endless": it came back to an earlier state, or
    passed the guard. "invalid": what the model said of the last state makes no next one.
    """

    states: tuple[Ints, ...]
    ending: Ending

    @property
    def steps(self) -> int:
        return len(self.states) - 1


class StepSymbols:
    """A formulation read and written in indices: its symbols, and the `=` and `<eos>` of appended layouts."""

    def __init__(self, task: Formulation) -> None:
        self.task = task
        self.texts = (*task.symbols, *(text for text in (EQUALS, END) if text not in task.symbols))
        self.index = {text: number for number, text in enumerate(self.texts)}
        self._columns = [column(text) for text in self.texts]
        self._numbers = {each: number for number, each in enumerate(self._columns)}
        self._known: dict[bytes, Ints | None] = {}

    def written(self, state: State) -> Ints:
        try:
            return np.array([self._numbers[each] for each in state], dtype=np.int64)
        except KeyError as error:
            raise UsageError(f"the column {symbol(error.args[0])} is not one of the symbols of the task") from None

    def read(self, state: Ints) -> State:
        return tuple(map(self._columns.__getitem__, state.tolist()))

    def chain(self, size: int, row: Ints) -> tuple[Ints, ...]:
        """The true states of an instance, from its start to the finished one."""
        task = self.task
        if isinstance(task, Columns):
            times = np.arange(task.steps(size) + 1)[:, None]
            return tuple(task.frames(np.repeat(row[None], len(times), axis=0), times))
        return tuple(self.written(state) for state in task.chain(task.start(size, row)))

    def step(self, state: Ints) -> Ints | None:
        """The true next state, which for a finished one is itself; None where the task knows no such state.

        A model can bring about a state that no chain holds, and a formulation may fail on it in any way.
        """
        key = state.tobytes()
        if key not in self._known:
            try:
                self._known[key] = self.written(self.task.step(self.read(state)) or self.read(state))
            except Exception:
                self._known[key] = None
        return self._known[key]

    def walk(self, start: Ints, guard: int) -> Walk:
        """The chain of the exact solver from any state, perhaps one that no true chain holds."""
        states = [start]
        for _ in range(guard):
            after = self.step(states[-1])
            if after is None:
                return Walk(tuple(states), "invalid")
            if np.array_equal(after, states[-1]):
                return Walk(tuple(states), "stopped")
            states.append(after)
        return Walk(tuple(states), "endless")

    def labels(self, state: Ints) -> list[int | None]:
        """What is asked at each position of a true state; None where nothing is."""
        return [None if label is None else self.index[label] for label in self.task.labels(self.read(state))]

    def answer(self, walk: Walk) -> tuple[str, ...] | None:
        """What the last state of a chain says; None where the chain did not stop, or the state says nothing."""
        if walk.ending != "stopped":
            return None
        try:
            return self.task.answer(self.read(walk.states[-1]))
        except Exception:
            return None


def equal(one: Ints | None, other: Ints | None) -> bool:
    return one is not None and other is not None and np.array_equal(one, other)


def differing(one: Ints, other: Ints) -> int:
    """In how many columns two states differ; where one is longer, its further columns count."""
    shared = min(len(one), len(other))
    return int((one[:shared] != other[:shared]).sum()) + abs(len(one) - len(other))


def first_error(walk: Walk, truth: Sequence[Ints]) -> int | None:
    """How many steps of a walk from the true start are right before the first that is not; None if all are.

    Stopping, which maps the finished state to itself, is the last step.
    """
    for time, (mine, true) in enumerate(itertools.zip_longest(walk.states, truth)):
        if not equal(mine, true):
            return time - 1
    return None if walk.ending == "stopped" else walk.steps


# --- walkers --------------------------------------------------------------------------------------------------------


class Walker(abc.ABC):
    """A model on a formulation, without gradients. Positions depend on the length of a state alone, so that the same
    state has the same next one at every time."""

    width = 0  # how many columns a chain starts with: states that have shrunk are filled up with <pad>, as in training

    def __init__(self, model: Transformer, letters: StepSymbols, seed: int) -> None:
        self.model, self.letters = model.eval(), letters
        self._seeds = Seeds(seed)

    @abc.abstractmethod
    def walk(self, starts: Sequence[Ints], guard: int) -> list[Walk]:
        """The chains from these states, each of at most `guard` steps."""

    @abc.abstractmethod
    def taught(self, truths: Sequence[Sequence[Ints]], walks: Sequence[Walk]) -> tuple[int, int]:
        """How many steps true chains have, the last being to stop, and how many are right from the true state before.

        `walks` are the model's own chains from the same starts: as long as they are true they need not be run again.
        """

    def positions(self, tokens: int, items: int) -> torch.Tensor:
        seeds = Seeds(self._seeds.key("chain positions", tokens))
        return self.model.architecture.position.indices(tokens, items, self.model.shape, seeds, False)

    def _best(self, tokens: Ints) -> Ints:
        """The best-scored token at each place of tokens [items, length]."""
        there, (items, length) = home(self.model), tokens.shape
        at = self.positions(length, items).to(there)
        return self.model(torch.from_numpy(tokens).to(there), at=at).argmax(dim=-1).cpu().numpy()

    def blocks(self, states: Sequence[Ints]) -> Iterator[tuple[list[int], Ints]]:
        """States of one length together, as many as fit into memory: their places and [items, length]."""
        lengths: dict[int, list[int]] = {}
        for place, state in enumerate(states):
            lengths.setdefault(len(state), []).append(place)
        for length, places in lengths.items():
            chunk = rows_at_once(self.model, max(length, self.width) + 1)
            for first in range(0, len(places), chunk):
                some = places[first : first + chunk]
                yield some, np.stack([states[place] for place in some])


class StepWalker(Walker):
    """A model that gives one label per position: the labels make the next state."""

    def walk(self, starts: Sequence[Ints], guard: int) -> list[Walk]:
        """O(guard) applications; a chain that comes back to an earlier state is known to be endless."""
        chains: list[list[Ints]] = [[start] for start in starts]
        endings: list[Ending] = ["endless"] * len(starts)
        seen = [{start.tobytes()} for start in starts]
        going = list(range(len(starts)))
        for _ in range(guard):
            after = self.apply([chains[item][-1] for item in going])
            still = []
            for item, state in zip(going, after, strict=True):
                if state is None or equal(state, chains[item][-1]):
                    endings[item] = "invalid" if state is None else "stopped"
                    continue
                chains[item].append(state)
                if state.tobytes() not in seen[item]:
                    seen[item].add(state.tobytes())
                    still.append(item)
            going = still
            if not going:
                break
        return [Walk(tuple(chain), ending) for chain, ending in zip(chains, endings, strict=True)]

    def taught(self, truths: Sequence[Sequence[Ints]], walks: Sequence[Walk]) -> tuple[int, int]:
        right, asked, wanted = 0, [], []
        for truth, walk in zip(truths, walks, strict=True):
            wrong = first_error(walk, truth)
            right += len(truth) if wrong is None else wrong
            if wrong is not None:  # the step that went wrong was from a true state, and is counted as that
                asked += truth[wrong + 1 :]
                wanted += [*truth[wrong + 2 :], truth[-1]] if wrong + 1 < len(truth) else []
        given = self.apply(asked)
        right += sum(equal(mine, true) for mine, true in zip(given, wanted, strict=True))
        return sum(len(truth) for truth in truths), right

    @torch.no_grad()
    def apply(self, states: Sequence[Ints]) -> list[Ints | None]:
        """One step from each state: one forward pass for all of a length."""
        after: list[Ints | None] = [None] * len(states)
        for places, block in self.blocks(states):
            items, length = block.shape
            fill = np.full((items, max(0, self.width - length)), PAD)
            inputs = np.concatenate([np.full((items, 1), BOS), block + len(SPECIALS), fill], axis=1)
            labels = self._best(inputs)[:, 1 : length + 1] - len(SPECIALS)
            following = self.letters.task.advance(block, np.where(labels < 0, NOTHING, labels))
            for place, state in zip(places, following, strict=True):
                after[place] = state
        return after


class Writer(Walker):
    """A decoder on an appended layout: each token it writes is a step, and writing `<eos>` is the last."""

    def __init__(self, model: Transformer, letters: StepSymbols, seed: int) -> None:
        super().__init__(model, letters, seed)
        self._token = np.arange(len(letters.texts)) + len(SPECIALS)  # letter → token
        self._token[[letters.index[EQUALS], letters.index[END]]] = SEP, EOS

    def walk(self, starts: Sequence[Ints], guard: int) -> list[Walk]:
        """Starts that have the prompt's length in common go together, however much of the answer they hold. Each is
        continued greedily up to a special token, or until the guard or the end of the positions is reached."""
        ends = [int(np.argmax(start == self.letters.index[EQUALS])) + 1 for start in starts]
        walks: dict[int, Walk] = {}
        for places, _ in self.blocks([start[:end] for start, end in zip(starts, ends, strict=True)]):
            known = [[BOS, *self._token[starts[place]].tolist()] for place in places]
            given = max(map(len, known))
            longest = given + guard
            if not self.model.architecture.position.beyond_training:
                longest = max(min(longest, self.model.shape.rows), given + 1)
            at, limits = self.positions(longest, len(known)), np.full(len(known), longest)
            for place, before, row in zip(places, known, continue_greedily(self.model, known, limits, at), strict=True):
                walks[place] = self._walk(starts[place], row[len(before) :])
        return [walks[place] for place in range(len(starts))]

    def _walk(self, start: Ints, tokens: list[int]) -> Walk:
        """The chain of what was written: a token that is neither a symbol nor `<eos>` ends it as invalid."""
        ending = "stopped" if tokens[-1] == EOS else "invalid" if tokens[-1] < len(SPECIALS) else "endless"
        letters = [token - len(SPECIALS) for token in (tokens if ending == "endless" else tokens[:-1])]
        letters += [self.letters.index[END]] if ending == "stopped" else []
        whole = np.concatenate([start, np.array(letters, dtype=np.int64)])
        return Walk(tuple(whole[: len(start) + step] for step in range(len(letters) + 1)), ending)

    @torch.no_grad()
    def taught(self, truths: Sequence[Sequence[Ints]], walks: Sequence[Walk]) -> tuple[int, int]:  # noqa: ARG002
        """One forward pass over the whole true chain, which a decoder reads as it writes."""
        right = total = 0
        starts = [len(truth[0]) for truth in truths]
        for places, block in self.blocks([truth[-1] for truth in truths]):
            tokens = np.concatenate([np.full((len(block), 1), BOS), self._token[block]], axis=1)
            best = self._best(tokens[:, :-1])
            for row, place in enumerate(places):
                hits = best[row, starts[place] :] == tokens[row, starts[place] + 1 :]
                right, total = right + int(hits.sum()), total + len(hits)
        return total, right
