"""Reversing a string."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lengthwise.seeds import Draws
from lengthwise.tasks import tasks
from lengthwise.tasks.batch import Samples
from lengthwise.tasks.chance import Chance
from lengthwise.tasks.chomsky.shared import DELETANG, StringTask, read
from lengthwise.tasks.facts import Facts


@tasks.register("reverse_string")
@dataclass(frozen=True)
class ReverseString(StringTask):
    """Write a string of numbers below `alphabet` backwards.

    `0 1 1 0 1 0` → `0 1 0 1 1 0`. The symbols are uniform. Deterministic context-free.
    """

    facts = Facts(circuit_class="AC0", references=(DELETANG,))

    def sample(self, size: int, draws: Draws) -> Samples:
        prompts = draws.integers(0, self.alphabet, size)
        return Samples(prompts, prompts[:, ::-1])

    def solve(self, prompt: Sequence[str]) -> Sequence[str]:
        backwards: list[str] = []
        for number in read(prompt, self.alphabet):
            backwards.insert(0, str(number))
        return backwards

    def chance(self, size: int) -> Chance:
        return Chance(float(self.alphabet) ** -size, 1 / self.alphabet)
