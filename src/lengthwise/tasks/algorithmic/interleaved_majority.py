"""The majority of each of several interleaved sequences of bits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.seeds import Draws
from lengthwise.tasks import tasks
from lengthwise.tasks.algorithmic.binary_majority import majority_bit, untied_bits
from lengthwise.tasks.batch import Samples
from lengthwise.tasks.chance import Chance
from lengthwise.tasks.facts import huang
from lengthwise.tasks.task import Axis, Task


@tasks.register("interleaved_majority")
@dataclass(frozen=True)
class InterleavedMajority(Task):
    """Say which bit is the more frequent in each of `period` interleaved sequences, in order.

    `0 1 1  0 1 0  1 1 1` → `0 1 1` for period 3: the sequences are `0 0 1`, `1 1 1` and `1 0 1`. Each is drawn as in
    binary majority. The size counts all the bits and is a multiple of the period.
    """

    period: int = 3
    axes = (Axis("length", "symbols in the prompt", smallest=3),)
    facts = huang(
        circuit_class="TC0, not AC0",
        offset=(100, 96.8, 84.7),
        none=(96.2, 68.8, 39.5),
        regularised=(100, 97.3, 86.2),
        crasp=(True, False),
        chance=0,
    )

    def __post_init__(self) -> None:
        if self.period < 1:
            raise UsageError(f"the period is a positive number, not {self.period}")
        object.__setattr__(self, "axes", (Axis("length", "symbols in the prompt", smallest=self.period),))

    @property
    def symbols(self) -> tuple[str, ...]:
        return ("0", "1")

    def has(self, size: int) -> bool:
        return size >= self.period and size % self.period == 0

    def sample(self, size: int, draws: Draws) -> Samples:
        parts = [untied_bits(size // self.period, draws) for _ in range(self.period)]
        prompts = np.stack([bits for bits, _ in parts], axis=2).reshape(len(draws), size)
        return Samples(prompts, np.concatenate([majority for _, majority in parts], axis=1))

    def solve(self, prompt: Sequence[str]) -> Sequence[str]:
        if not self.has(len(prompt)):
            raise UsageError(f"a prompt has a multiple of {self.period} bits, not {len(prompt)}")
        return [majority_bit(prompt[start :: self.period]) for start in range(self.period)]

    def chance(self, size: int) -> Chance:  # noqa: ARG002
        """The sequences are independent and each answer has probability one half."""
        return Chance(0.5**self.period, 0.5)
