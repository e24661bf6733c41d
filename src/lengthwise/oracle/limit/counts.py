"""The vectors of counts among which a short stand-in of a long word is searched, and the words they stand for."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import numpy as np

from lengthwise.oracle.limit.numbers import Array
from lengthwise.oracle.limit.transformer import LimitTransformer
from lengthwise.seeds import Ints


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
        return np.array([self._whole(choice) for choice in itertools.product(*map(self._choices, range(self.period)))])

    def _choices(self, phase: int) -> list[tuple[int, ...]]:
        return list(compositions(int(self.spare[phase]), int(self.present[phase].sum())))

    def _whole(self, choice: tuple[tuple[int, ...], ...]) -> Ints:
        counts = self.present.copy()
        for phase, extra in enumerate(choice):
            counts[phase, self.present[phase] > 0] += np.array(extra, dtype=np.int64)
        return counts

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
    """All ways to write a total as an ordered sum of so many numbers of 0 or more."""
    if parts <= 1:
        if parts or not total:
            yield (total,) * parts
        return
    for first in range(total + 1):
        for rest in compositions(total - first, parts - 1):
            yield (first, *rest)
