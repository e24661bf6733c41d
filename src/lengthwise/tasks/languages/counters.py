"""What the languages that need counters share: balanced brackets, drawn and read, and the form of their facts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.seeds import Draws, Ints
from lengthwise.tasks.facts import HUANG, HUANG_BINS, Facts, Published

Values = tuple[float, float, float]


def counter_facts(*, circuit_class: str, offset: Values, none: Values) -> Facts:
    """The facts of a counter language of Huang et al. 2025, measured with random offsets and without positions.

    All of them have a C-RASP program that compares counts of prefixes and uses no position, hence one for both.
    """
    rows = (("learned+offset", offset), ("none", none))
    return Facts(
        circuit_class=circuit_class,
        crasp={encoding: True for encoding, _ in rows},
        references=(HUANG,),
        published=tuple(Published(encoding, HUANG_BINS, values, HUANG) for encoding, values in rows),
    )


def balanced(pairs: Ints, width: int, draws: Draws) -> Ints:
    """A uniform balanced bracketing of `pairs[i]` pairs for every item, +1 to open and -1 to close, 0 after its end.

    `pairs` is [items] and `width` at least twice its largest entry. By the cycle lemma: of the rotations of a row of n
    openings and n + 1 closings exactly one has its first negative prefix sum at the very end, so rotating a uniform row
    there and dropping that last closing gives every bracketing equally often. O(width log width) an item.
    """
    place = np.arange(width + 1)
    total = 2 * pairs[:, None] + 1
    steps = np.where(place < pairs[:, None], 1, -1)
    # Places beyond the row are kept behind it by a key above all others.
    order = np.argsort(np.where(place < total, draws.uniform(width + 1), 1.0), axis=1, kind="stable")
    steps = np.where(place < total, np.take_along_axis(steps, order, axis=1), 0)
    turn = np.argmin(steps.cumsum(axis=1), axis=1)[:, None] + 1  # the first lowest point ends the rotated row
    rotated = np.take_along_axis(steps, (place + turn) % total, axis=1)
    return np.where(place < total - 1, rotated, 0)[:, :width]


def heights(steps: Ints) -> Ints:
    """How many brackets are open after every prefix of a row of +1 and -1, the empty prefix first."""
    return np.pad(steps.cumsum(axis=1), ((0, 0), (1, 0)))


def stacks(word: Sequence[str], closing: Mapping[str, str]) -> Iterator[list[str] | None]:
    """The opening brackets not yet closed after every prefix; None, and then no more, once a closing one is wrong."""
    stack: list[str] = []
    yield stack
    for bracket in word:
        if bracket in closing:
            stack.append(bracket)
        elif bracket not in closing.values():
            raise UsageError(f"{bracket!r} is none of the brackets {' '.join(a + ' ' + b for a, b in closing.items())}")
        elif not stack or closing[stack.pop()] != bracket:
            yield None
            return
        yield stack
