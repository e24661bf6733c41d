"""Numbers in binary: their sum, their product and their square root.

Bits run from the lowest up (little-endian) unless said otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.seeds import Draws, Ints
from lengthwise.tasks import tasks
from lengthwise.tasks.algorithmic import carried
from lengthwise.tasks.alphabets import BitTask
from lengthwise.tasks.batch import NOTHING, Samples, ids_by_significance
from lengthwise.tasks.chance import Chance
from lengthwise.tasks.chomsky.strings import DELETANG, read
from lengthwise.tasks.facts import Facts
from lengthwise.tasks.task import Axis, Task


class _TwoNumbers(Task):
    """Two positive numbers with an operator between them."""

    operator: ClassVar[str]
    axes = (Axis("length", "symbols in the prompt", smallest=3),)

    @property
    def symbols(self) -> tuple[str, ...]:
        return ("0", "1", self.operator)

    def operands(self, draws: Draws, size: int) -> tuple[Ints, Ints, Ints]:
        """The numbers, [items, size - 2] each, and the prompt of `size` symbols. The first has 1 to size - 2 bits, each
        count as likely, and the second has the rest. The highest bits may be 0."""
        lengths = draws.integers(1, size - 1, 1)[:, 0]
        first = positive(draws, lengths, size - 2)
        second = positive(draws, size - 1 - lengths, size - 2)
        after = np.arange(size) - lengths[:, None]  # 0 at the operator
        left = np.pad(first, ((0, 0), (0, 2)))
        right = np.take_along_axis(second, np.clip(after - 1, 0, size - 3), axis=1)
        return first, second, np.where(after < 0, left, np.where(after == 0, self.symbols.index(self.operator), right))

    def read(self, prompt: Sequence[str]) -> tuple[int, int]:
        """The two numbers of a prompt."""
        if list(prompt).count(self.operator) != 1:
            raise UsageError(f"the prompt is not two binary numbers with one {self.operator} between them")
        place = list(prompt).index(self.operator)
        return _number(read(prompt[:place], 2)), _number(read(prompt[place + 1 :], 2))


@tasks.register("binary_addition")
@dataclass(frozen=True)
class BinaryAddition(_TwoNumbers):
    """Add two binary numbers written lowest bit first.

    `0 1 0 0 1 + 0 1 1` → `0 0 0 1 1` (18 + 6 = 24). The first number has 1 to length - 2 bits, each count as likely,
    and the second has the rest; each is uniform among the positive numbers of that many bits, so it may end in zeros.
    The answer does not. Prompts of one or two symbols, which the original fills with a single number, do not exist.
    Context-sensitive.
    """

    operator = "+"
    facts = Facts(circuit_class="AC0", references=(DELETANG,))

    def sample(self, size: int, draws: Draws) -> Samples:
        first, second, prompts = self.operands(draws, size)
        return Samples(prompts, _written(np.pad(first + second, ((0, 0), (0, 1)))))

    def solve(self, prompt: Sequence[str]) -> Sequence[str]:
        first, second = self.read(prompt)
        return list(f"{first + second:b}"[::-1])

    def ids(self, prompts: Ints, answer: int) -> Ints:
        return ids_by_significance(prompts, self.symbols.index(self.operator), answer, longest="sum")


@tasks.register("binary_multiplication")
@dataclass(frozen=True)
class BinaryMultiplication(_TwoNumbers):
    """Multiply two binary numbers written lowest bit first.

    `0 0 1 * 0 1 1 0 1` → `0 0 0 1 1 0 1` (4 * 22 = 88). The two numbers are drawn as in `binary_addition`. The product
    has at most length - 1 bits and does not end in zeros. Prompts of one or two symbols, to which the original gives a
    fixed answer, do not exist. Context-sensitive.
    """

    operator = "*"
    facts = Facts(circuit_class="TC0, not AC0", references=(DELETANG,))

    def sample(self, size: int, draws: Draws) -> Samples:
        """O(items x size²): the product by columns; a column sums to less than `size`, so the result is exact."""
        first, second, prompts = self.operands(draws, size)
        sums = np.zeros((len(draws), 2 * size), dtype=np.int64)
        for place in range(size - 2):
            sums[:, place : place + size - 2] += first[:, place : place + 1] * second
        return Samples(prompts, _written(sums[:, : size - 1]))

    def solve(self, prompt: Sequence[str]) -> Sequence[str]:
        first, second = self.read(prompt)
        return list(f"{first * second:b}"[::-1])

    def ids(self, prompts: Ints, answer: int) -> Ints:
        return ids_by_significance(prompts, self.symbols.index(self.operator), answer, longest="product")


@tasks.register("compute_sqrt")
@dataclass(frozen=True)
class ComputeSqrt(BitTask):
    """Write the square root, rounded down, of a binary number written highest bit first.

    `1 0 0 1 0 1` → `1 1 0` (37 → 6); `1 1 1` → `1 0` (7 → 2). The number is uniform among the positive ones of `length`
    bits, so it may begin with zeros; the answer has half as many bits, rounded up, and may begin with zeros too. An
    example of the original writes 6 as `101`; its code does not. Context-sensitive.
    """

    facts = Facts(circuit_class="TC0", references=(DELETANG,))

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
        square, root = _number(read(prompt, 2)[::-1]), 0
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
    unpacked = np.unpackbits(np.frombuffer(roots, dtype=np.uint8).reshape(len(bits), octets), axis=1)
    return unpacked[:, -width:].astype(np.int64)


def positive(draws: Draws, lengths: Ints, width: int) -> Ints:
    """A uniform number in [1, 2**length) for every row, as bits [items, width] that are 0 from `length` on.

    The highest 1 has `gap` zeros above it with probability 2**-(gap + 1) / (1 - 2**-length); the bits below it are
    free. The gap is found by inverting its distribution, so that no row has to be drawn again; gaps above 53, which
    have a probability below 2**-53, do not come up.
    """
    share = draws.uniform(1)[:, 0] * (1 - 2.0**-lengths)
    gap = np.minimum(np.floor(-np.log2(1 - share)).astype(np.int64), lengths - 1)
    top, places = (lengths - 1 - gap)[:, None], np.arange(width)
    return np.where(places < top, draws.integers(0, 2, width), places == top)


def _written(sums: Ints) -> Ints:
    """Column sums → bits after carrying, with NOTHING above the highest 1; for positive numbers that fit the width."""
    bits = carried(sums)
    length = bits.shape[1] - bits[:, ::-1].argmax(axis=1)
    return np.where(np.arange(bits.shape[1]) < length[:, None], bits, NOTHING)


def _number(bits: Sequence[int]) -> int:
    return sum(bit << place for place, bit in enumerate(bits))
