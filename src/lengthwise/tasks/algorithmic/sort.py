"""Sorting distinct symbols."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.seeds import Draws
from lengthwise.tasks import tasks
from lengthwise.tasks.batch import Samples
from lengthwise.tasks.facts import huang
from lengthwise.tasks.task import Task


@tasks.register("sort")
@dataclass(frozen=True)
class Sort(Task):
    """Write distinct numbers in increasing order.

    `7 2 9 4` → `2 4 7 9`. The alphabet does not grow with the size, so that a longer list holds no unseen symbol; it
    bounds the size. The published results are for 150 symbols and sizes up to 150.
    """

    alphabet: int = 64
    preset = {"depth": 1, "heads": 2, "rate": 3e-3}
    facts = huang(
        circuit_class="TC0, not AC0",
        offset=(100, 100, 99.4),
        none=(100, 99.8, 80.6),
        regularised=(100, 100, 99.6),
        crasp_offset=True,
        crasp_none=True,
        chance=0,
    )

    @property
    def symbols(self) -> tuple[str, ...]:
        return tuple(str(number) for number in range(self.alphabet))

    def has(self, size: int) -> bool:
        return 1 <= size <= self.alphabet

    def sample(self, size: int, draws: Draws) -> Samples:
        prompts = draws.subset(self.alphabet, size)
        return Samples(prompts, np.sort(prompts, axis=1))

    def solve(self, prompt: Sequence[str]) -> Sequence[str]:
        if not all(symbol.isdecimal() for symbol in prompt):
            raise UsageError(f"sort reads whole numbers, not {' '.join(prompt)!r}")
        return sorted(prompt, key=int)
