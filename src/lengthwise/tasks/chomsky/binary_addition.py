"""Adding two binary numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lengthwise.seeds import Draws
from lengthwise.tasks import tasks
from lengthwise.tasks.batch import Samples
from lengthwise.tasks.chomsky.binary import operands, parsed, spelled, written
from lengthwise.tasks.chomsky.shared import DELETANG, numerals
from lengthwise.tasks.facts import Facts
from lengthwise.tasks.task import Axis, Task


@tasks.register("binary_addition")
@dataclass(frozen=True)
class BinaryAddition(Task):
    """Add two binary numbers written lowest bit first.

    `0 1 0 0 1 + 0 1 1` → `0 0 0 1 1` (18 + 6 = 24). The first number has 1 to length - 2 bits, each count as likely,
    and the second has the rest; each is uniform among the positive numbers of that many bits, so it may end in zeros.
    The answer does not. Prompts of one or two symbols, which the original fills with a single number, do not exist.
    Context-sensitive.
    """

    axes = (Axis("length", "symbols in the prompt", smallest=3),)
    facts = Facts(circuit_class="AC0", references=(DELETANG,))

    @property
    def symbols(self) -> tuple[str, ...]:
        return (*numerals(2), "+")

    def sample(self, size: int, draws: Draws) -> Samples:
        first, second, prompts = operands(draws, size)
        return Samples(prompts, written(np.pad(first + second, ((0, 0), (0, 1)))))

    def solve(self, prompt: Sequence[str]) -> Sequence[str]:
        first, second = parsed(prompt, "+")
        return spelled(first + second)
