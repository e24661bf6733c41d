"""Where every random number comes from: one seed, a tree of roles below it, and draws that belong to an item.

`Seeds(7).key("init")` and `Seeds(7).key("item", 12)` are independent 64-bit keys. `Draws` turns a key into random
numbers for a batch of items such that the numbers of item i depend on the key and on i alone: the same item comes out
alone, in a batch of 64 or in a batch of 1000. That is what makes a run resumable from its step number and an item
reproducible by itself.
"""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class Seeds:
    """The seed tree: (role, indices) → an independent 64-bit key."""

    seed: int

    def key(self, role: str, *indices: int) -> int:
        if "/" in role:  # it parts the levels of the tree
            raise ValueError(f"a role holds no slash: {role!r}")
        text = f"{self.seed}/{role}/" + "/".join(str(int(i)) for i in indices)
        return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")

    def draws(self, role: str, *indices: int, items: Sequence[int] | Ints) -> Draws:
        return Draws(self.key(role, *indices), items)


class Draws:
    """Random numbers for a batch: one row per item, and a row depends only on (key, item).

    Every call reads a fresh stream, so two calls are independent; the streams are read in the order of the calls, so a
    sampler must make the same calls, with the same widths, whatever the batch. Cost: a few dozen nanoseconds a number.
    """

    def __init__(self, key: int, items: Sequence[int] | Ints) -> None:
        self.items = np.asarray(items, dtype=np.int64)
        self._rows = _mix(np.uint64(key) ^ _mix(self.items.astype(np.uint64)))
        self._stream = 0

    def __len__(self) -> int:
        return len(self.items)

    def only(self, rows: Ints | NDArray[np.bool_]) -> Draws:
        """Some of the rows, at the stream that would be read next; what is drawn from them here is not drawn there.

        A sampler that draws rejected rows again so gives each the numbers it would get if all rows were drawn again.
        """
        some = copy.copy(self)
        some.items, some._rows = self.items[rows], self._rows[rows]
        return some

    def bits(self, width: int) -> NDArray[np.uint64]:
        """Uniform 64-bit words, [items, width]."""
        self._stream += 1
        stream = _mix(np.uint64(self._stream))
        columns = (np.arange(1, width + 1, dtype=np.uint64) * _GOLDEN) ^ stream
        return _mix(self._rows[:, None] + columns[None, :])

    def integers(self, low: int | Ints, high: int | Ints, width: int) -> Ints:
        """Uniform integers in [low, high), [items, width]; the ends may be arrays that broadcast to it.

        The bias of the multiply-and-shift is at most (high - low) / 2**32.
        """
        span = np.asarray(high, dtype=np.int64) - np.asarray(low, dtype=np.int64)
        if np.any(span <= 0) or np.any(span >= 1 << 31):
            raise ValueError("integers needs low < high and a range below 2**31")
        words = self.bits(width) >> np.uint64(32)
        return ((words * span.astype(np.uint64)) >> np.uint64(32)).astype(np.int64) + low

    def uniform(self, width: int) -> Floats:
        """Uniform reals in [0, 1), [items, width]."""
        return (self.bits(width) >> np.uint64(11)).astype(np.float64) * 2.0**-53

    def permutation(self, count: int) -> Ints:
        """A uniform order of range(count) for every item, [items, count]."""
        return np.argsort(self.bits(count), axis=1)

    def subset(self, count: int, width: int) -> Ints:
        """`width` distinct values of range(count) in uniform order, [items, width]."""
        return self.permutation(count)[:, :width]

    def shuffled(self, values: Ints) -> Ints:
        """The rows of `values` [items, n], each in a uniform order of its own."""
        return np.take_along_axis(values, self.permutation(values.shape[1]), axis=1)


def _mix(words: NDArray[np.uint64] | np.uint64) -> NDArray[np.uint64]:
    """The finaliser of splitmix64: a bijection of 64-bit words whose output bits each depend on every input bit."""
    with np.errstate(over="ignore"):
        z = np.asarray(words, dtype=np.uint64) + _GOLDEN
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))
