"""Multiplying two binary numbers."""

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


@tasks.register("binary_multiplication")
@dataclass(frozen=True)
class BinaryMultiplication(Task):
    """Multiply two binary numbers written lowest bit first.

    `0 0 1 * 0 1 1 0 1` → `0 0 0 1 1 0 1` (4 * 22 = 88). The two numbers are drawn as in `binary_addition`. The product
    has at most length - 1 bits and does not end in zeros. Prompts of one or two symbols, to which the original gives a
    fixed answer, do not exist. Context-sensitive.
    """

    axes = (Axis("length", "symbols in the prompt", smallest=3),)
    facts = Facts(circuit_class="TC0, not AC0", references=(DELETANG,))

    @property
    def symbols(self) -> tuple[str, ...]:
        return (*numerals(2), "*")

    def sample(self, size: int, draws: Draws) -> Samples:
        """O(items x size²): the product by columns; a column sums to less than `size`, so the result is exact."""
        first, second, prompts = operands(draws, size)
        sums = np.zeros((len(draws), 2 * size), dtype=np.int64)
        for place in range(size - 2):
            sums[:, place : place + size - 2] += first[:, place : place + 1] * second
        return Samples(prompts, written(sums[:, : size - 1]))

    def solve(self, prompt: Sequence[str]) -> Sequence[str]:
        first, second = parsed(prompt, "*")
        return spelled(first * second)
