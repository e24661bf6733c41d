"""Sorting distinct symbols."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lengthwise.seeds import Draws
from lengthwise.tasks import tasks
from lengthwise.tasks.algorithmic.distinct import DistinctSymbols
from lengthwise.tasks.batch import Samples
from lengthwise.tasks.chance import Chance
from lengthwise.tasks.counting import log_choose
from lengthwise.tasks.facts import huang


@tasks.register("sort")
@dataclass(frozen=True)
class Sort(DistinctSymbols):
    """Write distinct numbers in increasing order.

    `7 2 9 4` → `2 4 7 9`. The alphabet bounds the size.
    """

    preset = {"depth": 1, "heads": 2, "rate": 3e-3}
    facts = huang(
        circuit_class="TC0, not AC0",
        offset=(100, 100, 99.4),
        none=(100, 99.8, 80.6),
        regularised=(100, 100, 99.6),
        crasp=(True, True),
        chance=0,
    )

    def sample(self, size: int, draws: Draws) -> Samples:
        prompts = draws.subset(self.alphabet, size)
        return Samples(prompts, np.sort(prompts, axis=1))

    def solve(self, prompt: Sequence[str]) -> Sequence[str]:
        return sorted(self.read(prompt), key=int)

    def chance(self, size: int) -> Chance:
        """All subsets are as likely. The i-th smallest, counted from 0, is v with probability
        C(v, i) C(alphabet - 1 - v, size - 1 - i) / C(alphabet, size)."""
        rank, value = np.arange(size)[:, None], np.arange(self.alphabet)
        ways = log_choose(value, rank) + log_choose(self.alphabet - 1 - value, size - 1 - rank)
        best = np.exp(ways.max(axis=1) - log_choose(self.alphabet, size))
        return Chance(1 / math.comb(self.alphabet, size), min(1.0, float(best.mean())))
