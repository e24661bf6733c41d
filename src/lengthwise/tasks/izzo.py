"""The real-valued tasks of Izzo, Nichani and Lee 2025: the answer is a vector of numbers, not a text.

Their targets and their settings are published; their samplers and test tolerances are not, so both are ours here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.records import Reference
from lengthwise.seeds import Draws, Floats
from lengthwise.tasks import tasks
from lengthwise.tasks.alphabets import BitTask
from lengthwise.tasks.batch import Samples
from lengthwise.tasks.chance import ROUNDING, Chance
from lengthwise.tasks.facts import Facts
from lengthwise.tasks.retrieval import KGRAM, KgramTask, follower_counts, seen_before
from lengthwise.tasks.task import Axis, Task


class _OneNumber(BitTask):
    """Bits whose answer is one number."""

    readout = "numbers"
    tolerance = 0.1

    @property
    def outputs(self) -> int:
        return 1

    def best_guess(self, values: Floats) -> Chance:
        """The constant within the tolerance of as many as possible of these answers, which are as likely: the fullest
        window of twice the tolerance. Exact; O(n log n)."""
        ordered = np.sort(values)
        after = np.searchsorted(ordered, ordered + 2 * self.tolerance + ROUNDING, side="right")
        share = float((after - np.arange(len(ordered))).max() / len(ordered))
        return Chance(share, share)


@tasks.register("simple_task")
@dataclass(frozen=True)
class SimpleTask(_OneNumber):
    """Give sin(omega (c0 - c1) / (c0 + c1)), where c0 and c1 count the zeros and the ones.

    `0 0 1 0` → `sin(0.5) = 0.479` for omega 1. Computing it takes a constant of the order of omega, which makes omega
    the difficulty. No sampler is published: here the number of ones is uniform from none to all of them, so that the
    whole wave is asked for at every size. An answer within 0.1 counts as right, a twentieth of the range.
    """

    omega: float = 1.0
    facts = Facts(references=(Reference("izzo2026", "experiments, SimpleTask"),))

    def sample(self, size: int, draws: Draws) -> Samples:
        ones = draws.integers(0, size + 1, 1)
        prompts = (draws.permutation(size) < ones).astype(np.int64)
        return Samples(prompts, np.sin(self.omega * (size - 2 * ones) / size))

    def solve(self, prompt: Sequence[str]) -> Sequence[float]:
        self.check_bits(prompt or ("",))
        zeros, ones = prompt.count("0"), prompt.count("1")
        return (math.sin(self.omega * (zeros - ones) / (zeros + ones)),)

    def chance(self, size: int) -> Chance:
        """All counts of ones are as likely."""
        ones = np.arange(size + 1)
        return self.best_guess(np.sin(self.omega * (size - 2 * ones) / size))


@tasks.register("modp_task")
@dataclass(frozen=True)
class ModPTask(_OneNumber):
    """Give the share of ones among the places t with t = residue modulo period, counted from 0.

    `1 0 0 0 1 0 1 1 0` → `2/3 = 0.667` for period 3 and residue 0: the bits at 0, 3 and 6 are `1 0 1`. No sampler is
    published: here the number of ones is uniform in every residue class on its own, so that the share in the whole
    prompt, or in another class, does not give the answer away. An answer within 0.1 counts as right.
    """

    period: int = 5
    residue: int = 0
    facts = Facts(references=(Reference("izzo2026", "experiments, ModPTask"),))

    def __post_init__(self) -> None:
        if not 0 <= self.residue < self.period:
            raise UsageError(f"a residue lies between 0 and the period less one, not {self.residue} of {self.period}")
        # the smallest prompt holds one place of the class
        object.__setattr__(self, "axes", (Axis("length", "symbols in the prompt", smallest=self.residue + 1),))

    def sample(self, size: int, draws: Draws) -> Samples:
        prompts = np.zeros((len(draws), size), dtype=np.int64)
        for start in range(min(self.period, size)):
            places = prompts[:, start :: self.period].shape[1]
            ones = draws.integers(0, places + 1, 1)
            prompts[:, start :: self.period] = draws.permutation(places) < ones
        return Samples(prompts, prompts[:, self.residue :: self.period].mean(axis=1, keepdims=True))

    def solve(self, prompt: Sequence[str]) -> Sequence[float]:
        self.check_bits(prompt)
        chosen = [symbol for place, symbol in enumerate(prompt) if place % self.period == self.residue]
        if not chosen:
            raise UsageError(f"a prompt of {len(prompt)} bits has no place {self.residue} modulo {self.period}")
        return (chosen.count("1") / len(chosen),)

    def chance(self, size: int) -> Chance:
        """All counts of ones in the class are as likely."""
        places = len(range(self.residue, size, self.period))
        return self.best_guess(np.arange(places + 1) / places)


@tasks.register("kgram_law")
@dataclass(frozen=True)
class KgramLaw(KgramTask):
    """Give how often each letter followed the last k letters earlier in the prompt, as shares of 1.

    `a b c a b a a b c b a b` → `1/3 0 2/3` for k = 2: `a b` was followed by `c`, `a` and `c`. No sampler is published:
    here every prompt comes from a random chain of its own, so that the shares differ between prompts at any size, and
    ends with k letters that occurred before. The smallest size is k + 1. An answer counts as right if every share is
    within 0.1.
    """

    readout = "numbers"
    tolerance = 0.1
    facts = Facts(references=(KGRAM,))
    chance = Task.chance  # the answers are shares, not letters

    @property
    def outputs(self) -> int:
        return self.letters

    def sample(self, size: int, draws: Draws) -> Samples:
        prompts = seen_before(size, self.k, self.letters, draws)
        counts = follower_counts(prompts, self.k, self.letters)
        return Samples(prompts, counts / counts.sum(axis=1, keepdims=True))

    def solve(self, prompt: Sequence[str]) -> Sequence[float]:
        counts = self.followers(prompt)
        return [counts[letter] / counts.total() for letter in self.symbols]
