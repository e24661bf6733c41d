"""Writing a string twice."""

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


@tasks.register("duplicate_string")
@dataclass(frozen=True)
class DuplicateString(StringTask):
    """Write a string of numbers below `alphabet` twice, without a separator.

    `1 0 1` → `1 0 1 1 0 1`. The symbols are uniform and repeat, so a place cannot be found again by its neighbours
    alone. Context-sensitive.
    """

    facts = Facts(
        circuit_class="AC0",
        crasp={"learned+offset": False, "none": False},
        references=(DELETANG,),
    )

    def sample(self, size: int, draws: Draws) -> Samples:
        prompts = draws.integers(0, self.alphabet, size)
        return Samples(prompts, np.concatenate([prompts, prompts], axis=1))

    def solve(self, prompt: Sequence[str]) -> Sequence[str]:
        return [str(number) for number in 2 * read(prompt, self.alphabet)]

    def chance(self, size: int) -> Chance:
        return Chance(float(self.alphabet) ** -size, 1 / self.alphabet)
