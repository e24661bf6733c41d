"""(n, r)-consistency of multiplication: all factors of up to 4 x 4 bits, 12,544 states, windows of 3.

Ours against the same decision from the definition's own loop (every pair of differing states, hitting sets of Python
sets), which is run on factors of up to 3 x 3 bits in a quick run, and up to 4 x 4 otherwise, where it takes a minute or
more. Both must give the same number of windows.
"""

from __future__ import annotations

import itertools
import sys
import time
from collections.abc import Iterable, Iterator
from typing import cast

from rows import Row, median_seconds, standalone

from lengthwise.errors import LengthwiseError
from lengthwise.oracle.locality.consistency import consistency
from lengthwise.oracle.locality.steps import Steps
from lengthwise.oracle.locality.windows import windows_of
from lengthwise.tasks import tasks
from lengthwise.tasks.formulations.digits import MultiplicationMarked
from lengthwise.tasks.formulations.formulation import State, StepMove

TARGET = 3.0


def moves(size: int) -> Iterator[StepMove]:
    """All moves whose longer factor has `size` bits."""
    task = cast(MultiplicationMarked, tasks.make("multiplication_marked"))
    for one, two in itertools.product(range(1, size + 1), repeat=2):
        if max(one, two) == size:
            for row in itertools.product((0, 1), repeat=one + two):
                yield from task.moves(task.between(row[:one], row[one:]))


def naive(states: Iterable[StepMove]) -> int | None:
    """The least number of windows, by comparing every two places that differ in their label."""
    found: dict[State, dict[str, set[frozenset[State]]]] = {}
    for move in states:
        windows = windows_of(move.state, 3)
        for window, label in zip(windows, move.labels, strict=True):
            found.setdefault(window, {}).setdefault(str(label), set()).add(frozenset(windows))
    least = 1
    for labels in found.values():
        for label, own in labels.items():
            others = [other for name, sets in labels.items() if name != label for other in sets]
            for one in own if others else ():
                apart = {one - other for other in others}
                if frozenset() in apart:
                    return None
                least = next(n for n in itertools.count(least) if _hit(list(apart), n - 1))
    return least


def _hit(sets: list[frozenset[State]], count: int) -> bool:
    if not sets or count == 0:
        return not sets
    return any(_hit([s for s in sets if element not in s], count - 1) for element in min(sets, key=len))


def rows(quick: bool = False) -> list[Row]:
    largest = 3 if quick else 4
    began = time.perf_counter()
    states = {size: list(moves(size)) for size in range(1, largest + 1)}
    enumeration = time.perf_counter() - began
    steps = Steps("multiplication", lambda size: [states[size]])
    decided = consistency(steps, 3, range(1, largest + 1))
    ours = median_seconds(lambda: consistency(steps, 3, range(1, largest + 1)), 3)
    began = time.perf_counter()
    expected = naive(move for group in states.values() for move in group)
    peer = time.perf_counter() - began
    if decided.n != expected:
        raise LengthwiseError(f"the two ways disagree: {decided.n} and {expected} windows")
    return [
        Row(f"making {decided.states:,} states", enumeration, "s"),
        Row(
            f"({decided.n}, 3) of multiplication to {largest} x {largest} bits, windows included", ours, "s",
            peer, "loop over pairs", most=TARGET,
        ),
    ]  # fmt: skip


if __name__ == "__main__":
    sys.exit(standalone(rows, __doc__))
