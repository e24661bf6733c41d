"""What words do to the states of an automaton: the transition monoid, and what words of one length do for ever."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lengthwise.tasks.languages.dfa import Dfa

MOST_ELEMENTS = 20_000
MOST_WORK = 20_000_000  # entries touched while the sets of one length are followed

Maps = NDArray[np.int32]


@dataclass(frozen=True)
class Monoid:
    """`maps[x]` is where element x takes each state; element 0 is the identity; `onward[x, a]` is x and then letter a.

    Element x is the action of the letters found by following `came` (element before, letter) back to 0.
    """

    maps: Maps
    onward: NDArray[np.int64]
    came: tuple[tuple[int, int], ...]

    def word(self, element: int) -> tuple[int, ...]:
        """A shortest word, as letter numbers, that acts as the element."""
        letters = []
        while element:
            element, letter = self.came[element]
            letters.append(letter)
        return tuple(reversed(letters))

    def idempotents(self, elements: Sequence[int] | NDArray[np.int64]) -> list[int]:
        """Those of the elements that do once what they do twice."""
        chosen = self.maps[np.asarray(elements, dtype=np.int64)]
        twice = np.take_along_axis(chosen, chosen.astype(np.int64), axis=1)
        return [int(x) for x, same in zip(elements, (twice == chosen).all(axis=1), strict=True) if same]


def transition_monoid(dfa: Dfa, most: int = MOST_ELEMENTS) -> Monoid | None:
    """All actions of words, breadth-first; None when there are more than `most`. O(elements x letters x states)."""
    letters = np.asarray(dfa.transitions, dtype=np.int32).T
    identity = np.arange(len(dfa.transitions), dtype=np.int32)
    number = {identity.tobytes(): 0}
    maps, came, onward = [identity], [(0, 0)], []
    for here, current in enumerate(maps):  # grows while it is read
        row = []
        for letter, action in enumerate(letters):
            reached = action[current]
            key = reached.tobytes()
            if key not in number:
                if len(number) >= most:
                    return None
                number[key] = len(maps)
                maps.append(reached)
                came.append((here, letter))
            row.append(number[key])
        onward.append(row)
    return Monoid(np.stack(maps), np.asarray(onward, dtype=np.int64), tuple(came))


@dataclass(frozen=True)
class Stable:
    """The actions of words of length `index`, which are also those of length 2 x, 3 x, ... `index`.

    They form a semigroup. The sets of actions of words of length 1, 2, 3, ... repeat with the period `period`.
    """

    monoid: Monoid
    index: int
    period: int
    elements: NDArray[np.int64]

    def word(self, element: int) -> tuple[int, ...]:
        """A word of exactly `index` letters, as letter numbers, that acts as the element."""
        layers = [np.zeros(1, dtype=np.int64)]
        for _ in range(self.index):
            layers.append(np.unique(self.monoid.onward[layers[-1]]))
        letters = []
        for layer in reversed(layers[:-1]):
            before, letter = np.argwhere(self.monoid.onward[layer] == element)[0]
            letters.append(int(letter))
            element = int(layer[before])
        return tuple(reversed(letters))


def stable_semigroup(monoid: Monoid, most: int = MOST_WORK) -> Stable | None:
    """The set S of actions of words of length s with the smallest s > 0 for which length 2 s gives the same set.

    None when finding it would touch more than `most` entries. The sets follow each other by one rule, so once one
    returns they are periodic; s is the first multiple of the period that lies where they are.
    """
    layer, layers, first, work = np.zeros(1, dtype=np.int64), [], {}, 0
    while (key := layer.tobytes()) not in first:
        first[key] = len(layers)
        layers.append(layer)
        work += layer.size * monoid.onward.shape[1]
        if work > most:
            return None
        layer = np.unique(monoid.onward[layer])
    begins = first[key]
    period = len(layers) - begins
    index = max(1, -(-begins // period)) * period
    return Stable(monoid, index, period, layers[begins + (index - begins) % period])
