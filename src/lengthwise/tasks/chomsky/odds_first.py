"""Odd places before even places."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lengthwise.seeds import Draws
from lengthwise.tasks import tasks
from lengthwise.tasks.batch import Samples
from lengthwise.tasks.chance import Chance
from lengthwise.tasks.chomsky.shared import DELETANG, StringTask, read
from lengthwise.tasks.facts import Facts


@tasks.register("odds_first")
@dataclass(frozen=True)
class OddsFirst(StringTask):
    """Write the symbols at the places 1, 3, 5, … of a string, then those at 2, 4, 6, …

    `0 0 1 1 0 1 0 1` → `0 1 0 0 0 1 1 1`; `1 1 0` → `1 0 1`. Places are counted from one, as the description and the
    examples of the original have it; its code counts from zero and so begins with the second symbol (it would answer
    `1 1 0` with `1 1 0`). The symbols are uniform numbers below `alphabet`. Context-sensitive.
    """

    facts = Facts(circuit_class="AC0", references=(DELETANG,))

    def sample(self, size: int, draws: Draws) -> Samples:
        prompts = draws.integers(0, self.alphabet, size)
        return Samples(prompts, np.concatenate([prompts[:, ::2], prompts[:, 1::2]], axis=1))

    def solve(self, prompt: Sequence[str]) -> Sequence[str]:
        numbered = list(enumerate(read(prompt, self.alphabet), start=1))
        odd = [str(number) for place, number in numbered if place % 2 == 1]
        even = [str(number) for place, number in numbered if place % 2 == 0]
        return odd + even

    def chance(self, size: int) -> Chance:
        return Chance(float(self.alphabet) ** -size, 1 / self.alphabet)
