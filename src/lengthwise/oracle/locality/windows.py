"""Windows as numbers, sets of windows as bits, what each anchor window was asked for, and certificates.

The label of an anchor in a state with the windows W is settled by a set C of them, a certificate, when no state in
which the same anchor has another label has all of C. With the sets W' of those states this says that C meets every
difference W - W'; the least such C is a minimum hitting set.
"""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from lengthwise.oracle.locality.steps import Steps, check_width
from lengthwise.seeds import Ints
from lengthwise.tasks.formulations.formulation import Column, State, StepMove, column, symbol
from lengthwise.tasks.formulations.layouts import KEEP

PAD: Column = ("<pad>",)  # what stands beyond the borders of a state
_SEVERAL = -1  # chains in which an anchor was met


def windows_of(state: State, r: int) -> list[State]:
    """The window of r columns around each position, filled with PAD beyond the borders."""
    radius = check_width(r)
    padded = (PAD,) * radius + state + (PAD,) * radius
    return [padded[place : place + r] for place in range(len(state))]


class Numbering:
    """Numbers the windows of r columns in the order in which they come."""

    def __init__(self, r: int) -> None:
        self.radius = check_width(r)
        self._columns: dict[Column, int] = {PAD: 0}
        self._numbers: dict[tuple[int, ...], int] = {}
        self._windows: list[State] = []

    def anchors(self, state: State) -> list[int]:
        """The number of the window around each position. O(length x r)."""
        columns, numbers, radius = self._columns, self._numbers, self.radius
        edge = (0,) * radius
        line = (*edge, *[columns.setdefault(column, len(columns)) for column in state], *edge)
        return [numbers.setdefault(line[at : at + 2 * radius + 1], len(numbers)) for at in range(len(state))]

    def known(self, state: State) -> list[int | None]:
        """The number of the window around each position where it has one; no new number is given."""
        line = (0,) * self.radius + tuple(self._columns.get(column, -1) for column in state) + (0,) * self.radius
        return [self._numbers.get(line[at : at + 2 * self.radius + 1]) for at in range(len(state))]

    def anchors_in(self, rows: Ints, symbols: Sequence[str]) -> set[int]:
        """The numbers of all windows of states that are given as rows of indices into `symbols`, filled at the right
        with negative numbers. Each different window is looked up once."""
        numbers = np.array([self._columns.setdefault(column(text), len(self._columns)) for text in symbols])
        columns = np.pad(np.where(rows < 0, 0, numbers[rows]), ((0, 0), (self.radius, self.radius)))
        windows = np.lib.stride_tricks.sliding_window_view(columns, 2 * self.radius + 1, axis=1)[rows >= 0]
        base = len(self._columns)
        if base ** windows.shape[1] < 2**63:
            powers = base ** np.arange(windows.shape[1], dtype=np.int64)
            _, first = np.unique(windows @ powers, return_index=True)
            windows = windows[first]
        else:
            windows = np.unique(windows, axis=0)
        return {self._numbers.setdefault(tuple(window), len(self._numbers)) for window in windows.tolist()}

    def window(self, number: int) -> State:
        """The window that has a number."""
        if len(self._windows) <= number:
            columns = list(self._columns)
            fresh = itertools.islice(self._numbers, len(self._windows), None)
            self._windows += [tuple(columns[column] for column in codes) for codes in fresh]
        return self._windows[number]


@dataclass(frozen=True)
class Place:
    """A position of the state of a move, met at a size."""

    move: StepMove
    position: int
    size: int


@dataclass
class WindowTable:
    """What was asked of each anchor window: anchor → label → set of windows of the state (as bits) → one such place.
    Equal triples (anchor, label, set) are kept once, so the table grows with the variety of states and not with their
    number. `first` is the least size at which an anchor had a label."""

    numbering: Numbering
    found: dict[int, dict[str, dict[int, Place]]] = field(default_factory=dict)
    first: dict[tuple[int, str], int] = field(default_factory=dict)
    states: int = 0
    longest: int = 0

    def add(self, move: StepMove, size: int) -> set[int]:
        """Enter a move; gives the anchors whose entry is new."""
        self.states += 1
        self.longest = max(self.longest, len(move.state))
        anchors = self.numbering.anchors(move.state)
        asked = [place for place, label in enumerate(move.labels) if label is not None]
        together, fresh = bits_of(anchors) if asked else 0, set()
        for position in asked:
            anchor, label = anchors[position], str(move.labels[position])
            sets = self.found.setdefault(anchor, {}).setdefault(label, {})
            if together not in sets:
                self.first.setdefault((anchor, label), size)
                sets[together] = Place(move, position, size)
                fresh.add(anchor)
        return fresh


def recurring(steps: Steps, r: int, sizes: Iterable[int]) -> float:
    """Of the places at which a label changes something, the share whose window was met in another chain; 1 if there are
    none. Where it is small two places seldom look alike, and that none of them clash says nothing."""
    numbering, met_in, places = Numbering(r), {}, []
    for number, chain in enumerate(chain for size in sizes for chain in steps.chains(size)):
        for move in chain:
            for anchor, old, label in zip(numbering.anchors(move.state), move.state, move.labels, strict=True):
                if label not in (None, KEEP, symbol(old)):
                    places.append(anchor)
                    if met_in.setdefault(anchor, number) != number:
                        met_in[anchor] = _SEVERAL
    return sum(met_in[anchor] == _SEVERAL for anchor in places) / len(places) if places else 1.0


def bits_of(numbers: list[int]) -> int:
    """A set of numbers as the bits of a whole number."""
    bits = 0
    for number in numbers:
        bits |= 1 << number
    return bits


def numbers_in(bits: int) -> list[int]:
    """The numbers whose bits are set."""
    numbers = []
    while bits:
        low = bits & -bits
        numbers.append(low.bit_length() - 1)
        bits ^= low
    return numbers


@dataclass(frozen=True)
class Refuted:
    """All windows of `own` are among those of `other`, which has another label: no certificate exists."""

    own: int
    other: int


def certificates(own: Collection[int], others: Collection[int], most: int) -> dict[int, int | None] | Refuted:
    """For each of the sets `own` a least certificate against `others`, or None where it needs more than `most` windows.

    One window is enough when some window of W is in no other set; two when for some window w of W another one is in no
    set that contains w. Both are found from unions, in O(total size of the sets); only the rest is searched by
    branching, which is exponential in `most` (hitting sets are NP-hard).
    """
    found: dict[int, int | None] = {}
    union = functools.reduce(operator.or_, others, 0)
    for one in own:
        if free := one & ~union:
            found[one] = free & -free
    left = [one for one in own if one not in found]
    if most >= 2 and left:
        found |= _by_two(left, others)
        left = [one for one in left if one not in found]
    for one in left:
        for other in others:
            if not one & ~other:
                return Refuted(one, other)
    for one in left:
        apart = _least_sets({one & ~other for other in others})
        found[one] = next((hit for size in range(1, most + 1) if (hit := _hitting(apart, size)) is not None), None)
    return found


def _by_two(own: Collection[int], others: Collection[int]) -> dict[int, int | None]:
    asked = functools.reduce(operator.or_, own, 0)
    beside: dict[int, int] = {}  # a window → the windows that occur with it in some other set
    for other in others:
        for window in numbers_in(other & asked):
            beside[window] = beside.get(window, 0) | other
    found: dict[int, int | None] = {}
    for one in own:
        for window in numbers_in(one):
            if free := one & ~beside.get(window, 0):
                found[one] = (free & -free) | (1 << window)
                break
    return found


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
