"""Numbers in binary, a batch at a time: drawn, joined to a prompt, and brought back to bits after arithmetic.

Bits run from the lowest up (little-endian) unless said otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.seeds import Draws, Ints
from lengthwise.tasks.batch import NOTHING
from lengthwise.tasks.chomsky.shared import read

OPERATOR = 2  # the index of the symbol between two numbers, after the bits 0 and 1


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


def operands(draws: Draws, size: int) -> tuple[Ints, Ints, Ints]:
    """Two positive numbers, [items, size - 2] each, and the prompt of `size` symbols with an operator between them.

    The first number has 1 to size - 2 bits, each count as likely, and the second has the rest. The highest bits may
    be 0.
    """
    lengths = draws.integers(1, size - 1, 1)[:, 0]
    first = positive(draws, lengths, size - 2)
    second = positive(draws, size - 1 - lengths, size - 2)
    after = np.arange(size) - lengths[:, None]  # 0 at the operator
    left = np.pad(first, ((0, 0), (0, 2)))
    right = np.take_along_axis(second, np.clip(after - 1, 0, size - 3), axis=1)
    return first, second, np.where(after < 0, left, np.where(after == 0, OPERATOR, right))


def written(sums: Ints) -> Ints:
    """Column sums → bits after carrying, with NOTHING above the highest 1; for positive numbers that fit the width."""
    bits, carry = np.empty_like(sums), np.zeros(len(sums), dtype=np.int64)
    for place in range(sums.shape[1]):
        total = sums[:, place] + carry
        bits[:, place], carry = total & 1, total >> 1
    length = bits.shape[1] - bits[:, ::-1].argmax(axis=1)
    return np.where(np.arange(bits.shape[1]) < length[:, None], bits, NOTHING)


def parsed(prompt: Sequence[str], operator: str) -> tuple[int, int]:
    """The two numbers of a prompt."""
    if list(prompt).count(operator) != 1:
        raise UsageError(f"the prompt is not two binary numbers with one {operator} between them")
    place = list(prompt).index(operator)
    return number(read(prompt[:place], 2)), number(read(prompt[place + 1 :], 2))


def number(bits: Sequence[int]) -> int:
    return sum(bit << place for place, bit in enumerate(bits))


def spelled(value: int) -> list[str]:
    """The bits of a number from the lowest up, without zeros above the highest 1."""
    return list(f"{value:b}"[::-1])
