"""An independent checker of (n, r)-consistency: the definition, word by word, with no numbering and no shortcut."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

from lengthwise.tasks.formulations.formulation import State, StepMove

PAD = ("<pad>",)


def windows(state: State, r: int) -> list[State]:
    padded = (PAD,) * (r // 2) + tuple(state) + (PAD,) * (r // 2)
    return [padded[place : place + r] for place in range(len(state))]


def least_windows(moves: Iterable[StepMove], r: int) -> int | None:
    """The least n such that at every place some n - 1 windows of the state, with the anchor, force the label."""
    places = {
        (windows(move.state, r)[at], label, frozenset(windows(move.state, r)))
        for move in moves
        for at, label in enumerate(move.labels)
        if label is not None
    }
    least = 1
    for anchor, label, own in places:
        others = [found for other, name, found in places if other == anchor and name != label]
        for n in range(1, len(own) + 2):
            if any(all(not set(some) <= other for other in others) for some in itertools.combinations(own, n - 1)):
                least = max(least, n)
                break
        else:
            return None
    return least
