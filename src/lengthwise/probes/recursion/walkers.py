"""Models that walk: a one-step model applied to its own output, and a decoder that writes until it ends.

Nobody tells a walker how many steps are right. A one-step model stops at a state that it maps to itself, a decoder
where it writes `<eos>`; the guard only ends chains that go on for ever.
"""

from __future__ import annotations

import abc
from collections.abc import Iterator, Sequence

import numpy as np
import torch

from lengthwise.models.transformer import Cache, Transformer
from lengthwise.probes.recursion.chains import Ending, StepSymbols, Walk, equal, first_error
from lengthwise.seeds import Ints, Seeds
from lengthwise.tasks.batch import BOS, EOS, NOTHING, PAD, SEP, SPECIALS
from lengthwise.tasks.formulations.layouts import END, EQUALS

_CELLS = 2_000_000  # attention logits a chunk of states may have in one layer: small enough for the cache


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

    def blocks(self, states: Sequence[Ints]) -> Iterator[tuple[list[int], Ints]]:
        """States of one length together, as many as fit into memory: their places and [items, length]."""
        lengths: dict[int, list[int]] = {}
        for place, state in enumerate(states):
            lengths.setdefault(len(state), []).append(place)
        for length, places in lengths.items():
            chunk = max(1, _CELLS // ((max(length, self.width) + 1) ** 2 * self.model.architecture.heads))
            for first in range(0, len(places), chunk):
                some = places[first : first + chunk]
                yield some, np.stack([states[place] for place in some])


class StepWalker(Walker):
    """A model that gives one label a position: the labels make the next state."""

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
            logits = self.model(torch.from_numpy(inputs), at=self.positions(inputs.shape[1], items))
            labels = logits[:, 1 : length + 1].argmax(dim=-1).numpy() - len(SPECIALS)
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
        """Starts that have the prompt's length in common go together, however much of the answer they hold."""
        ends = [int(np.argmax(start == self.letters.index[EQUALS])) + 1 for start in starts]
        walks: dict[int, Walk] = {}
        for places, block in self.blocks([start[:end] for start, end in zip(starts, ends, strict=True)]):
            given = [starts[place][block.shape[1] :] for place in places]
            for place, tokens in zip(places, self._written(block, given, guard), strict=True):
                walks[place] = self._walk(starts[place], tokens)
        return [walks[place] for place in range(len(starts))]

    @torch.no_grad()
    def _written(self, block: Ints, given: Sequence[Ints], guard: int) -> list[Ints]:
        """What is written greedily after the tokens that are given, with a cache, until all have ended, or the guard or
        the end of the positions is reached."""
        items, length = block.shape
        ahead = np.array([len(row) for row in given])
        longest = length + 1 + int(ahead.max()) + guard
        if not self.model.architecture.position.beyond_training:
            longest = max(min(longest, self.model.shape.rows), length + 2 + int(ahead.max()))
        forced = np.full((items, longest - length), NOTHING)
        for row, tokens in enumerate(given):
            forced[row, : len(tokens)] = self._token[tokens]
        tokens = torch.from_numpy(np.concatenate([np.full((items, 1), BOS), self._token[block]], axis=1))
        at, cache, written = self.positions(longest, items), Cache(), np.empty((items, 0), dtype=np.int64)
        ended = np.zeros(items, dtype=bool)
        for step in range(longest - length - 1):
            best = self.model(tokens, at=at[:, : length + 1 + step], cache=cache)[:, -1].argmax(dim=-1).numpy()
            best = np.where(forced[:, step] == NOTHING, best, forced[:, step])
            written = np.concatenate([written, best[:, None]], axis=1)
            ended |= (best == EOS) & (step >= ahead)
            if ended.all():
                break
            tokens = torch.from_numpy(best[:, None])
        return [row[count:] for row, count in zip(written, ahead, strict=True)]

    def _walk(self, start: Ints, tokens: Ints) -> Walk:
        """The chain of what was written: a token that is neither a symbol nor `<eos>` ends it as invalid."""
        kinds = np.where(tokens >= len(SPECIALS), 0, np.where(tokens == EOS, 1, 2))
        ends = np.flatnonzero(kinds)
        count = int(ends[0]) if len(ends) else len(tokens)
        letters, ending = tokens[:count] - len(SPECIALS), "endless"
        if len(ends):
            ending = "stopped" if kinds[count] == 1 else "invalid"
            letters = np.append(letters, self.letters.index[END]) if ending == "stopped" else letters
        whole = np.concatenate([start, letters])
        return Walk(tuple(whole[: len(start) + step] for step in range(len(letters) + 1)), ending)

    @torch.no_grad()
    def taught(self, truths: Sequence[Sequence[Ints]], walks: Sequence[Walk]) -> tuple[int, int]:  # noqa: ARG002
        """One forward pass over the whole true chain, which a decoder reads as it writes."""
        right = total = 0
        starts = [len(truth[0]) for truth in truths]
        for places, block in self.blocks([truth[-1] for truth in truths]):
            items, length = block.shape
            tokens = np.concatenate([np.full((items, 1), BOS), self._token[block]], axis=1)
            best = self.model(torch.from_numpy(tokens[:, :-1]), at=self.positions(length, items)).argmax(dim=-1).numpy()
            for row, place in enumerate(places):
                hits = best[row, starts[place] :] == tokens[row, starts[place] + 1 :]
                right, total = right + int(hits.sum()), total + len(hits)
        return total, right
