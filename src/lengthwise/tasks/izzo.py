"""The real-valued tasks of Izzo, Nichani and Lee 2025: the answer is a vector of numbers, not a text.

Their targets and their settings are published; their samplers and test tolerances are not, so both are ours here. With
`dirichlet` above 0 the prompts are those of their theorem on average errors (izzo2026, theorem 4.2): the probabilities
of the symbols are drawn from Dirichlet(alpha, ..., alpha) for each item, and given them all symbols are independent.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.limits import MOST_SETTING
from lengthwise.records import Reference
from lengthwise.seeds import Draws, Floats, Ints
from lengthwise.tasks import tasks
from lengthwise.tasks.alphabets import BitTask
from lengthwise.tasks.batch import Samples
from lengthwise.tasks.chance import ROUNDING, Chance
from lengthwise.tasks.facts import Facts
from lengthwise.tasks.retrieval import KGRAM, KgramTask, ended_by_earlier, follower_counts, seen_before
from lengthwise.tasks.task import Axis, Task

# All three are learned in range with this: no prompt up to 16 symbols is off by more than 0.05
# (docs/how-to/train-length.md).
PRESET = {"depth": 1, "width": 32, "gain": 3.0, "steps": 1500, "rate": 2e-3}


def dirichlet_symbols(size: int, symbols: int, alpha: float, draws: Draws) -> Ints:
    """Symbols [items, size], independent given probabilities that each item draws from Dirichlet(alpha, ..., alpha).

    A Gamma(alpha) number is the quantile of a uniform one; divided by their sum, such numbers are Dirichlet.
    """
    from scipy.special import gammaincinv

    weights = gammaincinv(alpha, draws.uniform(symbols)) + 1e-300  # all are 0 where alpha is tiny: then equal
    cumulative = weights.cumsum(axis=1) / weights.sum(axis=1, keepdims=True)
    uniform = draws.uniform(size)
    return (uniform[:, :, None] >= cumulative[:, None, :-1]).sum(axis=2)


def check_dirichlet(alpha: float) -> None:
    if not 0 <= alpha < math.inf:
        raise UsageError(f"dirichlet must be 0 for the usual prompts, or an alpha above 0, not {alpha:g}")


class _OneNumber(BitTask):
    """Bits whose answer is one number."""

    readout = "numbers"
    tolerance = 0.1
    preset = PRESET

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
    whole wave is asked for at every size (so it is with `dirichlet=1`). An answer within 0.1 counts as right, a
    twentieth of the range.
    """

    omega: float = 1.0
    dirichlet: float = 0.0
    facts = Facts(references=(Reference("izzo2026", "experiments, SimpleTask"),))

    def __post_init__(self) -> None:
        check_dirichlet(self.dirichlet)
        if not abs(self.omega) <= MOST_SETTING:
            raise UsageError(f"omega must lie between -{MOST_SETTING:,} and {MOST_SETTING:,}, not {self.omega:g}")

    def sample(self, size: int, draws: Draws) -> Samples:
        if self.dirichlet:
            prompts = dirichlet_symbols(size, 2, self.dirichlet, draws)
            ones = prompts.sum(axis=1, keepdims=True)
        else:
            ones = draws.integers(0, size + 1, 1)
            prompts = (draws.permutation(size) < ones).astype(np.int64)
        return Samples(prompts, np.sin(self.omega * (size - 2 * ones) / size))

    def solve(self, prompt: Sequence[str]) -> Sequence[float]:
        self.check_bits(prompt or ("",))
        zeros, ones = prompt.count("0"), prompt.count("1")
        return (math.sin(self.omega * (zeros - ones) / (zeros + ones)),)

    def chance(self, size: int) -> Chance:
        """All counts of ones are as likely."""
        if self.dirichlet not in (0, 1):
            return super().chance(size)
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
    dirichlet: float = 0.0
    preset = {**PRESET, "gain": 1.0, "rate": 5e-3}
    facts = Facts(references=(Reference("izzo2026", "experiments, ModPTask"),))

    def __post_init__(self) -> None:
        if not 0 <= self.residue < self.period:
            raise UsageError(
                f"a residue must lie between 0 and the period less one, not {self.residue} of {self.period}"
            )
        check_dirichlet(self.dirichlet)
        # the smallest prompt holds one place of the class
        object.__setattr__(self, "axes", (Axis("length", "symbols in the prompt", smallest=self.residue + 1),))

    def sample(self, size: int, draws: Draws) -> Samples:
        prompts = dirichlet_symbols(size, 2, self.dirichlet, draws) if self.dirichlet else self._by_class(size, draws)
        return Samples(prompts, prompts[:, self.residue :: self.period].mean(axis=1, keepdims=True))

    def _by_class(self, size: int, draws: Draws) -> Ints:
        prompts = np.zeros((len(draws), size), dtype=np.int64)
        for start in range(min(self.period, size)):
            places = prompts[:, start :: self.period].shape[1]
            ones = draws.integers(0, places + 1, 1)
            prompts[:, start :: self.period] = draws.permutation(places) < ones
        return prompts

    def solve(self, prompt: Sequence[str]) -> Sequence[float]:
        self.check_bits(prompt)
        chosen = [symbol for place, symbol in enumerate(prompt) if place % self.period == self.residue]
        if not chosen:
            raise UsageError(f"a prompt of {len(prompt)} bits has no place {self.residue} modulo {self.period}")
        return (chosen.count("1") / len(chosen),)

    def chance(self, size: int) -> Chance:
        """All counts of ones in the class are as likely."""
        if self.dirichlet not in (0, 1):
            return super().chance(size)
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

    dirichlet: float = 0.0
    readout = "numbers"
    tolerance = 0.1
    preset = {**PRESET, "depth": 2, "gain": 1.0, "rate": 3e-3}
    facts = Facts(references=(KGRAM,))
    chance = Task.chance  # the answers are shares, not letters

    def __post_init__(self) -> None:
        super().__post_init__()
        check_dirichlet(self.dirichlet)

    @property
    def outputs(self) -> int:
        return self.letters

    def sample(self, size: int, draws: Draws) -> Samples:
        if self.dirichlet:
            free = dirichlet_symbols(size - self.k, self.letters, self.dirichlet, draws)
            prompts = ended_by_earlier(free, self.k, draws)
        else:
            prompts = seen_before(size, self.k, self.letters, draws)
        counts = follower_counts(prompts, self.k, self.letters)
        return Samples(prompts, counts / counts.sum(axis=1, keepdims=True))

    def solve(self, prompt: Sequence[str]) -> Sequence[float]:
        counts = self.followers(prompt)
        return [counts[letter] / counts.total() for letter in self.symbols]
