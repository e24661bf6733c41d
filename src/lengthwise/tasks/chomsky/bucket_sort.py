"""Sorting symbols that repeat."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lengthwise.seeds import Draws
from lengthwise.tasks import tasks
from lengthwise.tasks.batch import Samples
from lengthwise.tasks.chomsky.shared import DELETANG, StringTask, read
from lengthwise.tasks.facts import Facts


@tasks.register("bucket_sort")
@dataclass(frozen=True)
class BucketSort(StringTask):
    """Write a string of numbers below `alphabet` in increasing order, repeats included.

    `1 0 2 0 4 1 1 2` → `0 0 1 1 1 2 2 4`. The symbols are uniform. Context-sensitive. `sort` is the task with distinct
    numbers.
    """

    alphabet: int = 5
    facts = Facts(circuit_class="TC0, not AC0", references=(DELETANG,))

    def sample(self, size: int, draws: Draws) -> Samples:
        prompts = draws.integers(0, self.alphabet, size)
        return Samples(prompts, np.sort(prompts, axis=1))

    def solve(self, prompt: Sequence[str]) -> Sequence[str]:
        numbers = read(prompt, self.alphabet)
        return [symbol for number, symbol in enumerate(self.symbols) for _ in range(numbers.count(number))]
