"""Certificates: the fewest windows of a state that no state with another label shares.

The label of an anchor in a state with the windows W is settled by a set C of them when no state in which the same
anchor bears another label has all of C. With the sets W' of those states this says that C meets every difference
W - W'; the least such C is a minimum hitting set. Sets are bits of whole numbers here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from lengthwise.oracle.locality.windows import numbers_in


@dataclass(frozen=True)
class Refuted:
    """All windows of `own` are among those of `other`, which bears another label: no certificate exists."""

    own: int
    other: int


def certificates(own: Collection[int], others: Collection[int], most: int) -> dict[int, int | None] | Refuted:
    """For each of the sets `own` a least certificate against `others`, or None where it needs more than `most` windows.

    One window is enough when some window of W is in no other set; two when for some window w of W another one is in no
    set that contains w. Both are found from unions, in O(total size of the sets); only what is left is searched by
    branching, which is exponential in `most` (hitting sets are NP-hard).
    """
    found, left = _by_one(own, others)
    if most >= 2 and left:
        found_by_two, left = _by_two(left, others)
        found.update(found_by_two)
    if not left:
        return found
    if refuted := _inside(left, others):
        return refuted
    for one in left:
        apart = _least_sets({one & ~other for other in others})
        found[one] = next((hit for size in range(1, most + 1) if (hit := _hitting(apart, size)) is not None), None)
    return found


def _by_one(own: Collection[int], others: Collection[int]) -> tuple[dict[int, int | None], list[int]]:
    union = 0
    for other in others:
        union |= other
    found: dict[int, int | None] = {}
    left = []
    for one in own:
        free = one & ~union
        if free:
            found[one] = free & -free
        else:
            left.append(one)
    return found, left


def _by_two(own: Collection[int], others: Collection[int]) -> tuple[dict[int, int | None], list[int]]:
    asked = 0
    for one in own:
        asked |= one
    beside: dict[int, int] = {}  # a window → the windows that stand beside it in some other set
    for other in others:
        for window in numbers_in(other & asked):
            beside[window] = beside.get(window, 0) | other
    found: dict[int, int | None] = {}
    left = []
    for one in own:
        for window in numbers_in(one):
            free = one & ~beside.get(window, 0)
            if free:
                found[one] = (free & -free) | (1 << window)
                break
        else:
            left.append(one)
    return found, left


def _inside(own: Iterable[int], others: Collection[int]) -> Refuted | None:
    for one in own:
        for other in others:
            if not one & ~other:
                return Refuted(one, other)
    return None


def _least_sets(sets: set[int]) -> list[int]:
    """Those that contain no other: what meets them meets all."""
    least: list[int] = []
    for candidate in sorted(sets, key=int.bit_count):
        if all(smaller & ~candidate for smaller in least):
            least.append(candidate)
    return least


def _hitting(sets: list[int], count: int) -> int | None:
    """Up to `count` elements that meet every set, as bits."""
    if not sets:
        return 0
    if count == 0:
        return None
    rest = min(sets, key=int.bit_count)
    while rest:
        element = rest & -rest
        rest ^= element
        hit = _hitting([other for other in sets if not other & element], count - 1)
        if hit is not None:
            return hit | element
    return None
