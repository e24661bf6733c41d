"""The candidates: sweeps whose answers a small machine writes, segments one above the other, and marks."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from lengthwise.oracle.locality.bimachine import prove
from lengthwise.oracle.locality.repairs.marks import Marked, Numbered, Pointed, Stacked
from lengthwise.oracle.locality.repairs.mealy import Mealy, Word, learned
from lengthwise.oracle.locality.repairs.original import Broken
from lengthwise.oracle.locality.repairs.proof import machine_of_sweep
from lengthwise.oracle.locality.repairs.shapes import Column, State, cut
from lengthwise.oracle.locality.repairs.sweep import Sweep

MOST_CARRIED = 12  # different things that a sweep may carry along
MOST_SEGMENTS = 4
_LEARNED = 6  # sizes up to this one show a machine its letters, also where the states are too many to examine
_SIGNS = ("·", "-", "^", "_", "~", "∅", "†", "‡")


@dataclass(frozen=True)
class SweepFound:
    """A sweep, and the machine that writes its answers."""

    sweep: Sweep
    machine: Mealy


def free_signs(broken: Broken) -> list[str]:
    """Signs that no state has."""
    used = {token for size in broken.sizes[:4] for move in broken.steps.moves(size) for c in move.state for token in c}
    return [sign for sign in (*_SIGNS, *(f"<{number}>" for number in range(8))) if sign not in used]


def separators(states: Sequence[State]) -> tuple[Column, ...]:
    """The columns that every state has equally often, in the order in which they come; none if that differs."""
    counts = [Counter(state) for state in states]
    always = {column for column in counts[0] if len({count[column] for count in counts}) == 1}
    orders = {tuple(column for column in state if column in always) for state in states}
    return orders.pop() if len(orders) == 1 else ()


def _heights(parts: Sequence[Sequence[State]]) -> tuple[int, ...] | None:
    """How many tokens the columns of each segment have, 0 for one that is always empty; None if that differs."""
    heights = [{len(column) for segment in row for column in segment} for row in zip(*parts, strict=True)]
    return None if any(len(found) > 1 for found in heights) else tuple(max(found, default=0) for found in heights)


def sweeps(broken: Broken) -> Iterator[SweepFound | None]:
    """Sweeps whose answers a machine writes that was learned from smaller sizes than it was tried on; None for one that
    was looked at in vain. A sweep that needs nothing carried along is given without."""
    sizes = [size for size in range(1, max(broken.sizes[-1], _LEARNED) + 1) if broken.starts(size)]
    finals = {size: [(s, broken.original.final(s)) for s in broken.starts(size)] for size in sizes}
    pairs = [pair for found in finals.values() for pair in found]
    starts = [start for start, _ in pairs]
    appends = all(final[: len(start)] == start for start, final in pairs)
    for between in dict.fromkeys((separators(starts), ())):
        parts = [cut(start, between) for start in starts]
        heights = _heights(parts)
        written = [(final[len(start) :] if appends else final,) for start, final in pairs]
        answer = _heights(written)
        if heights is None or not answer or not answer[0] or sum(map(bool, heights)) not in range(1, MOST_SEGMENTS + 1):
            continue
        longer = [len(end) - max(map(len, part)) for part, (end,) in zip(parts, written, strict=True)]
        last = len(finals[sizes[-1]])
        if max(longer[:-last], default=0) < max(longer[-last:]):  # the answer grows faster than the segments
            continue
        empty, nothing = free_signs(broken)[:2]
        plain = Sweep(between, (*heights, *answer), (), max(0, *longer), appends, empty, nothing)
        for places in _places(heights):
            yield _machined(replace(plain, places=places), finals)


def _places(heights: tuple[int, ...]) -> Iterator[tuple[str, ...]]:
    ways = [("left", "left reversed") if height else ("left",) for height in heights]
    yield from itertools.product(*ways, ("left", "right", "left reversed", "right reversed"))


def _machined(sweep: Sweep, finals: dict[int, list[tuple[State, State]]]) -> SweepFound | None:
    """The sweep with its machine, if a small one is enough: carried along only where windows need it."""
    words = {size: [_word(sweep, *pair) for pair in found] for size, found in finals.items()}
    shown = list(words)[: max(1, len(words) - (1 if len(words) < 6 else 2))]  # it is tried on larger sizes too
    machine = learned((word for size in shown for word in words[size]), MOST_CARRIED)
    if machine is None or not all(machine.fits(word) for found in words.values() for word in found):
        return None
    if prove(machine_of_sweep(sweep, machine)).radius is not None:
        return SweepFound(sweep, machine)
    carried = {(f"s{state}", letter): f"s{onward}" for (state, letter), (_, onward) in machine.edges.items()}
    return SweepFound(replace(sweep, carried=carried), machine)


def _word(sweep: Sweep, start: State, final: State) -> Word:
    laid = sweep.laid(start)
    answers = sweep.answers(start, final, len(laid))
    last = len(laid) - 1
    return [(sweep.seen(laid[at], at == last), "|".join(answers[at])) for at in range(len(laid))]


def encodings(broken: Broken) -> Iterator[Stacked | Numbered | Marked | Pointed]:
    """States written in another way, and pointers."""
    states = list(dict.fromkeys(move.state for size in broken.sizes for move in broken.steps.moves(size)))
    kept = all(len(move.after) == len(move.state) for size in broken.sizes for move in broken.steps.moves(size))
    empty, nothing, mark = free_signs(broken)[:3]
    if kept:
        yield from _stacked(states, nothing)
        if marks := _alike(states):
            yield Numbered(marks)
        yield Marked(mark, empty)
    for begins, goes in itertools.product(("left", "right"), ("first", "last")):
        yield Pointed(mark, empty, begins, goes)


def _stacked(states: Sequence[State], nothing: str) -> Iterator[Stacked]:
    between = separators(states)
    parts = [cut(state, between) for state in states]
    heights = _heights(parts)
    if heights is None or sum(map(bool, heights)) not in range(2, MOST_SEGMENTS + 1):
        return
    ways = [("left", "left reversed", "right") if at else ("left",) for at in range(len(heights))]
    for places in itertools.product(*ways):
        yield Stacked(between, heights, places, nothing)


def _alike(states: Sequence[State]) -> tuple[tuple[int, str], ...]:
    """Rows and tokens that a state has two or three times at most, below the first row."""
    most: Counter[tuple[int, str]] = Counter()
    for state in states:
        for mark, count in Counter((row, t) for column in state for row, t in enumerate(column) if row).items():
            most[mark] = max(most[mark], count)
    return tuple(mark for mark, count in most.items() if count in (2, 3))
