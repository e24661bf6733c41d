"""Sorting symbols that repeat."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lengthwise.seeds import Draws
from lengthwise.tasks import tasks
from lengthwise.tasks.batch import Samples
from lengthwise.tasks.chance import Chance
from lengthwise.tasks.chomsky.shared import DELETANG, StringTask, read
from lengthwise.tasks.counting import log_choose
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

    def chance(self, size: int) -> Chance:
        """The likeliest counts are as equal as can be. The i-th smallest symbol is at most v where at least i of the
        symbols are, a binomial event."""
        each, more = divmod(size, self.alphabet)
        equal = math.factorial(each) ** (self.alphabet - more) * math.factorial(each + 1) ** more
        ways = math.factorial(size) // equal
        low, count = np.arange(1, self.alphabet) / self.alphabet, np.arange(size + 1)[:, None]
        exactly = np.exp(log_choose(size, count) + count * np.log(low) + (size - count) * np.log1p(-low))
        at_most = np.pad(exactly[:0:-1].cumsum(axis=0), ((0, 0), (1, 1)), constant_values=((0, 0), (0.0, 1.0)))
        token = float(np.diff(at_most, axis=1).max(axis=1).mean())
        return Chance(ways / self.alphabet**size, min(1.0, token))
