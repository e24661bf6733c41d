"""Walking on a circle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.seeds import Draws
from lengthwise.tasks import tasks
from lengthwise.tasks.batch import Samples
from lengthwise.tasks.chance import Chance
from lengthwise.tasks.chomsky.shared import DELETANG, at_least, numerals
from lengthwise.tasks.facts import Facts
from lengthwise.tasks.task import Task


@tasks.register("cycle_navigation")
@dataclass(frozen=True)
class CycleNavigation(Task):
    """Say where a walk on a circle of `modulus` places ends that starts at 0 and steps by -1, 0 or 1.

    `1 -1 0 -1 -1` → `3`; `1 1 1 -1` → `2`. The steps are uniform. Regular.
    """

    modulus: int = 5
    facts = Facts(circuit_class="ACC0, not AC0", references=(DELETANG,))

    def __post_init__(self) -> None:
        at_least(2, "modulus", self.modulus)

    @property
    def symbols(self) -> tuple[str, ...]:
        return ("-1", *numerals(self.modulus))

    def sample(self, size: int, draws: Draws) -> Samples:
        prompts = draws.integers(0, 3, size)  # the steps -1, 0 and 1 are the first three symbols
        places = (prompts - 1).sum(axis=1, keepdims=True) % self.modulus
        return Samples(prompts, places + 1)

    def solve(self, prompt: Sequence[str]) -> Sequence[str]:
        place = 0
        for step in prompt:
            if step not in ("-1", "0", "1"):
                raise UsageError(f"the prompt holds {step!r}; a step is -1, 0 or 1")
            place = (place + int(step)) % self.modulus
        return [str(place)]

    def chance(self, size: int) -> Chance:
        """The distribution of the walk, step by step."""
        at = np.zeros(self.modulus)
        at[0] = 1.0
        for _ in range(size):
            at = (np.roll(at, 1) + at + np.roll(at, -1)) / 3
        return Chance(float(at.max()), float(at.max()))
