"""The more frequent of two symbols."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.seeds import Draws, Ints
from lengthwise.tasks import tasks
from lengthwise.tasks.batch import Samples
from lengthwise.tasks.chance import Chance
from lengthwise.tasks.facts import huang
from lengthwise.tasks.task import Task


@tasks.register("binary_majority")
@dataclass(frozen=True)
class BinaryMajority(Task):
    """Say which of two bits is the more frequent.

    `0 1 1 0 1` → `1`. The number of zeros is uniform over the counts that are no tie, so that clear and narrow
    majorities are equally frequent at every size.
    """

    preset = {"depth": 1, "width": 32, "heads": 1, "rate": 3e-3, "steps": 1000}
    facts = huang(
        circuit_class="TC0, not AC0",
        offset=(100, 100, 100),
        none=(100, 100, 100),
        regularised=(100, 100, 99.9),
        crasp=(True, True),
        chance=49.8,
    )

    @property
    def symbols(self) -> tuple[str, ...]:
        return ("0", "1")

    def sample(self, size: int, draws: Draws) -> Samples:
        return Samples(*untied_bits(size, draws))

    def solve(self, prompt: Sequence[str]) -> Sequence[str]:
        return (majority_bit(prompt),)

    def chance(self, size: int) -> Chance:  # noqa: ARG002
        """Swapping the two bits maps the items onto themselves, so both answers have probability one half."""
        return Chance(0.5, 0.5)


def untied_bits(length: int, draws: Draws) -> tuple[Ints, Ints]:
    """Bits [items, length] with a number of zeros uniform over those that are no tie, and their majority [items, 1]."""
    zeros = draws.integers(0, length + length % 2, 1)
    if length % 2 == 0:
        zeros += zeros >= length // 2  # skip the tie
    bits = (draws.permutation(length) >= zeros).astype(np.int64)
    return bits, (2 * zeros < length).astype(np.int64)


def majority_bit(bits: Sequence[str]) -> str:
    """The more frequent of "0" and "1"."""
    zeros, ones = bits.count("0"), bits.count("1")
    if zeros + ones != len(bits):
        raise UsageError(f"a prompt of bits holds only 0 and 1, not {' '.join(bits)!r}")
    if zeros == ones:
        raise UsageError(f"there are as many zeros as ones in {' '.join(bits)!r}, so there is no majority")
    return "0" if zeros > ones else "1"
