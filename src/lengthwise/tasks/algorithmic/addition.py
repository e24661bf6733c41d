"""Adding two binary numbers, written with the highest bit first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.seeds import Draws, Ints
from lengthwise.tasks import tasks
from lengthwise.tasks.batch import NOTHING, Samples
from lengthwise.tasks.facts import huang
from lengthwise.tasks.task import Axis, Task

_PLUS, _EQUALS = 2, 3


@tasks.register("addition")
@dataclass(frozen=True)
class Addition(Task):
    """Add two binary numbers, written with the highest bit first.

    `1 1 0 + 1 1 =` → `1 0 0 1`. The size counts the whole prompt, with `+` and `=`. The length of the first operand is
    uniform and the second takes the rest; an operand starts with 1 unless it is a single bit. The sum has no leading
    zeros, so its length differs between items of one size.
    """

    axes = (Axis("length", "symbols in the prompt, with + and =", smallest=4),)
    facts = huang(
        circuit_class="AC0",
        offset=(99.7, 26.8, 0),
        none=(99.5, 27.7, 0),
        regularised=(99.8, 25.8, 0),
        crasp=(False, False),
        chance=0,
    )

    @property
    def symbols(self) -> tuple[str, ...]:
        return ("0", "1", "+", "=")

    def sample(self, size: int, draws: Draws) -> Samples:
        plus = draws.integers(1, size - 2, 1)  # where the + stands is how long the first operand is
        prompts = draws.integers(0, 2, size)
        places = np.arange(size)
        leading = ((places == 0) & (plus > 1)) | ((places == plus + 1) & (plus < size - 3))
        prompts[leading] = 1
        prompts[places == plus] = _PLUS
        prompts[:, -1] = _EQUALS
        first, second = _low_first(prompts, 0 * plus, plus), _low_first(prompts, plus + 1, 0 * plus + size - 1)
        return Samples(prompts, _high_first(_add(first, second)))

    def solve(self, prompt: Sequence[str]) -> Sequence[str]:
        text = "".join(prompt)
        first, plus, rest = text.partition("+")
        second, equals, end = rest.partition("=")
        if not (plus and equals) or end or not all(part and set(part) <= {"0", "1"} for part in (first, second)):
            raise UsageError(f"a prompt is written `bits + bits =`, not {' '.join(prompt)!r}")
        return tuple(f"{int(first, 2) + int(second, 2):b}")


def _low_first(prompts: Ints, start: Ints, stop: Ints) -> Ints:
    """The operand in [start, stop) of every row, lowest bit first, filled with zeros: [items, size - 2].

    An operand has at most size - 3 bits, as the other has one and the signs take two; the last column is for the carry.
    """
    places = stop - 1 - np.arange(prompts.shape[1] - 2)
    return np.where(places >= start, np.take_along_axis(prompts, np.maximum(places, 0), axis=1), 0)


def _add(first: Ints, second: Ints) -> Ints:
    """The sums, lowest bit first, with the carry handed from column to column: exact for any number of bits."""
    total = first + second
    carry = np.zeros(len(total), dtype=np.int64)
    for column in total.T:  # a view: what is written here is written to `total`
        column += carry
        carry = column >> 1
        column &= 1
    return total


def _high_first(bits: Ints) -> Ints:
    """Lowest bit first → highest bit first, without leading zeros (zero itself keeps one), filled with NOTHING."""
    width = bits.shape[1]
    lengths = np.where(bits.any(axis=1), width - bits[:, ::-1].argmax(axis=1), 1)[:, None]
    places = lengths - 1 - np.arange(width)
    return np.where(places >= 0, np.take_along_axis(bits, np.maximum(places, 0), axis=1), NOTHING)
