"""A causal function on infinitely many elements: its values are numbers, and no training set shows all of its inputs.

Every formulation here has finitely many symbols, so a step is a finite table that training can show whole. Theorem
3.1.2 of Xiao and Liu is about the other case: where X is infinite, for every training set there are functions that
agree with it and err on more than m inputs, whatever m is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.records import Reference
from lengthwise.seeds import Draws
from lengthwise.tasks import tasks
from lengthwise.tasks.alphabets import BitTask
from lengthwise.tasks.batch import Samples
from lengthwise.tasks.facts import Facts
from lengthwise.tasks.task import Axis, Task


@tasks.register("arctan_count")
@dataclass(frozen=True)
class ArctanCount(BitTask):
    """Give (2/pi) arctan(x / scale), where x is the number of ones less the number of zeros.

    `1 1 0 1` → `(2/pi) arctan(2/4) = 0.295`. The number x can be any whole number: prompts of up to N bits show only
    those up to N, and nothing there says what follows (the published example is an arctangent too; its settings are
    unknown). The number of ones is uniform from none to all. An answer within 0.1 counts as right.
    """

    scale: float = 4.0
    axes = (Axis("length", "bits in the prompt"),)
    readout = "numbers"
    tolerance = 0.1
    facts = Facts(references=(Reference("xiao2024", "the arctangent example, Theorem 3.1.2"),))
    chance = Task.chance

    def __post_init__(self) -> None:
        if not self.scale > 0:
            raise UsageError(f"the scale must be above 0, not {self.scale}")

    @property
    def outputs(self) -> int:
        return 1

    def sample(self, size: int, draws: Draws) -> Samples:
        ones = draws.integers(0, size + 1, 1)
        prompts = (draws.permutation(size) < ones).astype(np.int64)
        return Samples(prompts, 2 / math.pi * np.arctan((2 * ones - size) / self.scale))

    def solve(self, prompt: Sequence[str]) -> Sequence[float]:
        self.check_bits(prompt or ("",))
        ones = prompt.count("1")
        return (2 / math.pi * math.atan((2 * ones - len(prompt)) / self.scale),)
