"""Square roots of binary numbers, rounded down."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lengthwise.seeds import Draws, Ints
from lengthwise.tasks import tasks
from lengthwise.tasks.batch import Samples
from lengthwise.tasks.chance import Chance
from lengthwise.tasks.chomsky.binary import number, positive
from lengthwise.tasks.chomsky.shared import DELETANG, numerals, read
from lengthwise.tasks.facts import Facts
from lengthwise.tasks.task import Task


@tasks.register("compute_sqrt")
@dataclass(frozen=True)
class ComputeSqrt(Task):
    """Write the square root, rounded down, of a binary number written highest bit first.

    `1 0 0 1 0 1` → `1 1 0` (37 → 6); `1 1 1` → `1 0` (7 → 2). The number is uniform among the positive ones of `length`
    bits, so it may begin with zeros; the answer has half as many bits, rounded up, and may begin with zeros too. An
    example of the original writes 6 as `101`; its code does not. Context-sensitive.
    """

    facts = Facts(circuit_class="TC0", references=(DELETANG,))

    @property
    def symbols(self) -> tuple[str, ...]:
        return numerals(2)

    def sample(self, size: int, draws: Draws) -> Samples:
        """The roots are taken one number at a time, as Python integers, which are exact at every size."""
        prompts = positive(draws, np.full(len(draws), size), size)[:, ::-1]
        return Samples(prompts, _roots(prompts))

    def chance(self, size: int) -> Chance:
        """The root r has 2r + 1 squares, fewer where the numbers end before them: the last root or the one before."""
        last = math.isqrt(2**size - 1)
        most = max(2**size - last**2, 2 * last - 1)
        return super().chance(size).knowing(most / (2**size - 1))

    def solve(self, prompt: Sequence[str]) -> Sequence[str]:
        square, root = number(read(prompt, 2)[::-1]), 0
        width = (len(prompt) + 1) // 2
        for place in reversed(range(width)):
            if (root + (1 << place)) ** 2 <= square:
                root += 1 << place
        return list(f"{root:0{width}b}")


def _roots(bits: Ints) -> Ints:
    """Numbers as bits from the highest down, [items, size] → their roots, [items, ceil(size / 2)]."""
    size = bits.shape[1]
    width = (size + 1) // 2
    packed = np.packbits(np.pad(bits, ((0, 0), (-size % 8, 0))).astype(np.uint8), axis=1)
    octets = width // 8 + 1
    roots = b"".join(math.isqrt(int.from_bytes(row.tobytes(), "big")).to_bytes(octets, "big") for row in packed)
    return np.unpackbits(np.frombuffer(roots, dtype=np.uint8).reshape(len(bits), octets), axis=1)[:, -width:].astype(
        np.int64
    )
