"""Copying distinct symbols."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from lengthwise.errors import UsageError
from lengthwise.seeds import Draws
from lengthwise.tasks import tasks
from lengthwise.tasks.batch import Samples
from lengthwise.tasks.chance import Chance
from lengthwise.tasks.facts import huang
from lengthwise.tasks.task import Task


@tasks.register("copy_unique")
@dataclass(frozen=True)
class CopyUnique(Task):
    """Write a string of distinct symbols again.

    `7 2 9 4` → `7 2 9 4`. As no symbol occurs twice, the symbol written last tells which one comes next. The alphabet
    does not grow with the size, so that a longer string holds no unseen symbol; it bounds the size. The published
    results are for 150 symbols and sizes up to 150.
    """

    alphabet: int = 64
    facts = huang(
        circuit_class="AC0",
        offset=(100, 99.9, 98.7),
        none=(100, 18.0, 0),
        regularised=(100, 99.8, 99.3),
        crasp_offset=True,
        crasp_none=False,
        chance=0,
    )

    def __post_init__(self) -> None:
        if self.alphabet < 1:
            raise UsageError(f"the alphabet has at least one symbol, not {self.alphabet}")

    @property
    def symbols(self) -> tuple[str, ...]:
        return tuple(str(number) for number in range(self.alphabet))

    def has(self, size: int) -> bool:
        return 1 <= size <= self.alphabet

    def sample(self, size: int, draws: Draws) -> Samples:
        prompts = draws.subset(self.alphabet, size)
        return Samples(prompts, prompts)

    def solve(self, prompt: Sequence[str]) -> Sequence[str]:
        if len(set(prompt)) < len(prompt):
            raise UsageError(f"the symbols of a prompt are distinct, and {' '.join(prompt)!r} repeats one")
        if not set(prompt) <= set(self.symbols):
            raise UsageError(f"a prompt holds numbers from 0 to {self.alphabet - 1}, not {' '.join(prompt)!r}")
        return tuple(prompt)

    def chance(self, size: int) -> Chance:
        """All strings of distinct symbols are equally likely."""
        return Chance(1 / math.perm(self.alphabet, size), 1 / self.alphabet)
