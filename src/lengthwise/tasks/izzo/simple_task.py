"""A wave of the difference in frequency of two symbols."""

from __future__ import annotations

import math
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
from lengthwise.tasks.task import Task


@tasks.register("simple_task")
@dataclass(frozen=True)
class SimpleTask(Task):
    """Give sin(omega (c0 - c1) / (c0 + c1)), where c0 and c1 count the zeros and the ones.

    `0 0 1 0` → `sin(0.5) = 0.479` for omega 1. Computing it takes a constant of the order of omega, which makes omega
    the difficulty. No sampler is published: here the number of ones is uniform from none to all of them, so that the
    whole wave is asked for at every size. An answer within 0.1 counts as right, a twentieth of the range.
    """

    omega: float = 1.0
    readout = "numbers"
    tolerance = 0.1
    facts = Facts(references=(Reference("izzo2026", "experiments, SimpleTask"),))

    @property
    def symbols(self) -> tuple[str, ...]:
        return ("0", "1")

    @property
    def outputs(self) -> int:
        return 1

    def sample(self, size: int, draws: Draws) -> Samples:
        ones = draws.integers(0, size + 1, 1)
        prompts = (draws.permutation(size) < ones).astype(np.int64)
        return Samples(prompts, np.sin(self.omega * (size - 2 * ones) / size))

    def solve(self, prompt: Sequence[str]) -> Sequence[float]:
        zeros, ones = prompt.count("0"), prompt.count("1")
        if not prompt or zeros + ones != len(prompt):
            raise UsageError(
                f"a prompt of bits holds at least one of 0 and 1 and nothing else, not {' '.join(prompt)!r}"
            )
        return (math.sin(self.omega * (zeros - ones) / (zeros + ones)),)

    def chance(self, size: int) -> Chance:
        """All counts of ones are as likely."""
        ones = np.arange(size + 1)
        return best_number(np.sin(self.omega * (size - 2 * ones) / size), self.tolerance)
