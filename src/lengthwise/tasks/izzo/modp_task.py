"""The frequency of ones at the places of one residue class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.records import Reference
from lengthwise.seeds import Draws
from lengthwise.tasks import tasks
from lengthwise.tasks.batch import Samples
from lengthwise.tasks.chance import Chance
from lengthwise.tasks.facts import Facts
from lengthwise.tasks.izzo.guess import best_number
from lengthwise.tasks.task import Axis, Task


@tasks.register("modp_task")
@dataclass(frozen=True)
class ModPTask(Task):
    """Give the share of ones among the places t with t = residue modulo period, counted from 0.

    `1 0 0 0 1 0 1 1 0` → `2/3 = 0.667` for period 3 and residue 0: the bits at 0, 3 and 6 are `1 0 1`. No sampler is
    published: here the number of ones is uniform in every residue class on its own, so that the share in the whole
    prompt, or in another class, does not give the answer away. An answer within 0.1 counts as right.
    """

    period: int = 5
    residue: int = 0
    readout = "numbers"
    tolerance = 0.1
    facts = Facts(references=(Reference("izzo2026", "experiments, ModPTask"),))

    def __post_init__(self) -> None:
        if not 0 <= self.residue < self.period:
            raise UsageError(f"a residue lies between 0 and the period less one, not {self.residue} of {self.period}")
        # the smallest prompt holds one place of the class
        object.__setattr__(self, "axes", (Axis("length", "symbols in the prompt", smallest=self.residue + 1),))

    @property
    def symbols(self) -> tuple[str, ...]:
        return ("0", "1")

    @property
    def outputs(self) -> int:
        return 1

    def sample(self, size: int, draws: Draws) -> Samples:
        prompts = np.zeros((len(draws), size), dtype=np.int64)
        for start in range(min(self.period, size)):
            places = prompts[:, start :: self.period].shape[1]
            ones = draws.integers(0, places + 1, 1)
            prompts[:, start :: self.period] = draws.permutation(places) < ones
        return Samples(prompts, prompts[:, self.residue :: self.period].mean(axis=1, keepdims=True))

    def solve(self, prompt: Sequence[str]) -> Sequence[float]:
        if not set(prompt) <= {"0", "1"}:
            raise UsageError(f"a prompt of bits holds only 0 and 1, not {' '.join(prompt)!r}")
        chosen = [symbol for place, symbol in enumerate(prompt) if place % self.period == self.residue]
        if not chosen:
            raise UsageError(f"a prompt of {len(prompt)} bits has no place {self.residue} modulo {self.period}")
        return (chosen.count("1") / len(chosen),)

    def chance(self, size: int) -> Chance:
        """All counts of ones in the class are as likely."""
        places = len(range(self.residue, size, self.period))
        return best_number(np.arange(places + 1) / places, self.tolerance)
