"""Copying distinct symbols."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from lengthwise.seeds import Draws
from lengthwise.tasks import tasks
from lengthwise.tasks.algorithmic.distinct import DistinctSymbols
from lengthwise.tasks.batch import Samples
from lengthwise.tasks.chance import Chance
from lengthwise.tasks.facts import huang


@tasks.register("copy_unique")
@dataclass(frozen=True)
class CopyUnique(DistinctSymbols):
    """Write a string of distinct symbols again.

    `7 2 9 4` → `7 2 9 4`. As no symbol occurs twice, the symbol written last tells which one comes next. The alphabet
    bounds the size.
    """

    facts = huang(
        circuit_class="AC0",
        offset=(100, 99.9, 98.7),
        none=(100, 18.0, 0),
        regularised=(100, 99.8, 99.3),
        crasp=(True, False),
        chance=0,
    )

    def sample(self, size: int, draws: Draws) -> Samples:
        prompts = draws.subset(self.alphabet, size)
        return Samples(prompts, prompts)

    def solve(self, prompt: Sequence[str]) -> Sequence[str]:
        return self.read(prompt)

    def chance(self, size: int) -> Chance:
        """All strings of distinct symbols are equally likely."""
        return Chance(1 / math.perm(self.alphabet, size), 1 / self.alphabet)
