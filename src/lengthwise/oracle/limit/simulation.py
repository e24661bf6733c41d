"""A short word on which a one-layer limit transformer answers almost as on a long one, found by searching counts.

Beyond the last locality + 1 symbols, the answer depends on how often each symbol occurs at each phase. The short word z
keeps the end of x, the phase of its last position, and which symbols occur at which phase at all: if one vanished, or
came in, another level of logits could become the largest. What remains is to choose the counts. Rounding the histogram
of the whole word would not do: where attention prefers rare symbols, the ratios *among those* count.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.oracle.limit.transformer import Array, LimitTransformer
from lengthwise.progress import Progress, silent
from lengthwise.seeds import Ints

LISTED = 4000  # up to this many vectors of counts are all tried; beyond that, steps downhill from two starts
STEPS = 200


@dataclass(frozen=True)
class StandIn:
    """x, the short word z, both answers and the largest difference of an entry; `listed`: all counts were tried, so
    that no word of this length which keeps the same is better."""

    word: tuple[str, ...]
    short: tuple[str, ...]
    answer: tuple[float, ...]
    short_answer: tuple[float, ...]
    listed: bool = False

    @property
    def difference(self) -> float:
        return max(abs(one - other) for one, other in zip(self.answer, self.short_answer, strict=True))


def shortest_simulation(
    model: LimitTransformer,
    word: Sequence[str],
    error: float,
    longest: int | None = None,
    progress: Progress = silent,
) -> StandIn:
    """The first length, going up, at which the search finds a stand-in within the error. Up to `longest` symbols are
    tried, and the nearest stand-in is given where none is within the error; without it, x itself is the last."""
    if not error >= 0:
        raise UsageError(f"an error must be 0 or more, not {error}")
    search = StandInSearch(model, word)
    most = len(word) if longest is None else min(longest, len(word))
    nearest: StandIn | None = None
    for length in range((len(word) - 1) % model.period + 1, most + 1, model.period):
        found = search.best(length)
        if found is not None and found.difference <= error:
            return found
        if found is not None and (nearest is None or found.difference < nearest.difference):
            nearest = found
        progress(f"words of {length} symbols", length, most)
    if nearest is None or most == len(word):  # the search by steps need not find x itself
        return search.stand_in(search.x, listed=False)
    return nearest


class StandInSearch:
    """The search for stand-ins of one word, whose answer is computed once."""

    def __init__(self, model: LimitTransformer, word: Sequence[str]) -> None:
        if len(model.layers) != 1:
            raise UsageError("counts decide the answer of one layer only")
        self.x = model.read(word)[0]
        self.model = model.in_floats()
        self.wanted = self.model.answers(self.x[None])[0]

    def best(self, length: int) -> StandIn | None:
        """The best stand-in of this length that is found; None when no such word keeps end, phase and presence."""
        if not 1 <= length <= len(self.x) or (len(self.x) - length) % self.model.period:
            return None
        frame = Frame(self.model, self.x, length)
        if not frame.possible:
            return None
        counts, listed = _search(self.model, frame, self.wanted)
        return self.stand_in(frame.words(counts[None])[0], listed)

    def stand_in(self, z: Ints, listed: bool) -> StandIn:
        answer, short = (tuple(map(float, one)) for one in (self.wanted, self.model.answers(z[None])[0]))
        return StandIn(self.model.spelled(self.x), self.model.spelled(z), answer, short, listed)


class Frame:
    """What z must keep: the end of x, and a count of at least one for what occurs before it, phase by phase."""

    def __init__(self, model: LimitTransformer, x: Ints, length: int) -> None:
        self.period, self.symbols = model.period, len(model.symbols)
        self.end = x[-(model.locality + 1) :]
        before = np.arange(len(x) - len(self.end)) % self.period
        self.seen = np.zeros((self.period, self.symbols), dtype=np.int64)
        np.add.at(self.seen, (before, x[: len(before)]), 1)
        self.places = np.arange(max(length - len(self.end), 0)) % self.period
        self.totals = np.bincount(self.places, minlength=self.period)
        self.present = (self.seen > 0).astype(np.int64)
        self.spare = self.totals - self.present.sum(axis=1)
        self.possible = length >= len(self.end) and bool(np.all(self.spare >= 0))

    def size(self) -> int:
        """How many vectors of counts there are."""
        kinds = self.present.sum(axis=1)
        return math.prod(math.comb(s + k - 1, k - 1) for s, k in zip(self.spare, kinds, strict=True) if k)

    def all_counts(self) -> Ints:
        kinds = [np.flatnonzero(row) for row in self.present]
        spare = zip(self.spare.tolist(), kinds, strict=True)
        found = []
        for choice in itertools.product(*(compositions(count, len(kind)) for count, kind in spare)):
            counts = self.present.copy()
            for phase, extra in enumerate(choice):
                counts[phase, kinds[phase]] += np.array(extra, dtype=np.int64)
            found.append(counts)
        return np.array(found)

    def rounded(self, shares: Array) -> Ints:
        """Counts near these shares [period, symbols] of each phase: one each, the rest by largest remainders."""
        counts = self.present.copy()
        for phase in range(self.period):
            ideal = shares[phase] * self.totals[phase]
            for _ in range(self.spare[phase]):
                counts[phase, np.argmax(np.where(self.present[phase] > 0, ideal - counts[phase], -np.inf))] += 1
        return counts

    def words(self, counts: Ints) -> Ints:
        """A word for each vector of counts: symbols in order at each phase, then the end."""
        words = np.empty((len(counts), len(self.places) + len(self.end)), dtype=np.int64)
        words[:, len(self.places) :] = self.end
        for phase in range(self.period):
            columns = np.flatnonzero(self.places == phase)
            upto = counts[:, phase].cumsum(axis=1)
            words[:, columns] = (np.arange(len(columns))[None, :, None] >= upto[:, None, :]).sum(axis=2)
        return words

    def neighbours(self, counts: Ints) -> Ints:
        """One, or half, of a symbol's spare count given to another at the same phase."""
        found = []
        for phase, one, other in itertools.product(range(self.period), range(self.symbols), range(self.symbols)):
            spare = counts[phase, one] - self.present[phase, one]
            if one != other and spare > 0 and self.present[phase, other]:
                for moved in {1, (spare + 1) // 2}:
                    changed = counts.copy()
                    changed[phase, one] -= moved
                    changed[phase, other] += moved
                    found.append(changed)
        return np.array(found).reshape(-1, self.period, self.symbols)


def compositions(total: int, parts: int) -> Iterator[tuple[int, ...]]:
    """All ways to write a total as an ordered sum of this many numbers of 0 or more."""
    if parts <= 1:
        if parts or not total:
            yield (total,) * parts
        return
    for first in range(total + 1):
        for rest in compositions(total - first, parts - 1):
            yield (first, *rest)


def _search(model: LimitTransformer, frame: Frame, wanted: Array) -> tuple[Ints, bool]:
    if frame.size() <= LISTED:
        counts = frame.all_counts()
        return counts[int(np.argmin(_errors(model, frame, counts, wanted)))], True
    best, least = frame.present, np.inf
    for start in _starts(model, frame):
        counts, error = start, _errors(model, frame, start[None], wanted)[0]
        for _ in range(STEPS):
            near = frame.neighbours(counts)
            errors = _errors(model, frame, near, wanted) if len(near) else np.array([np.inf])
            if errors.min() >= error:
                break
            counts, error = near[int(np.argmin(errors))], errors.min()
        if error < least:
            best, least = counts, error
    return best, False


def _starts(model: LimitTransformer, frame: Frame) -> Iterator[Ints]:
    """The shares of x; and its shares among what the last place attends to most, all else as rare as can be."""
    per_phase = frame.seen / np.maximum(frame.seen.sum(axis=1, keepdims=True), 1)
    yield frame.rounded(per_phase)
    last = frame.end[-1]
    query = model.embeddings[last] + model.positions[(len(frame.places) + len(frame.end) - 1) % model.period]
    keys = model.embeddings[None] + model.positions[:, None]
    for head in model.layers[0].heads:
        logits = np.where(frame.present > 0, keys @ (head.match @ query), -np.inf)
        favoured = frame.seen * (logits >= logits.max() - 1e-9)
        yield frame.rounded(favoured / np.maximum(favoured.sum(axis=1, keepdims=True), 1))


def _errors(model: LimitTransformer, frame: Frame, counts: Ints, wanted: Array) -> Array:
    return np.abs(model.answers(frame.words(counts)) - wanted).max(axis=1)
