"""Languages of counters: equal blocks, balanced brackets, two kinds shuffled, several kinds to a depth. No position."""

from __future__ import annotations

from collections.abc import Sequence

from lengthwise.oracle.programs.syntax import (
    And,
    Count,
    Difference,
    Draft,
    Letter,
    Program,
    all_of,
    any_of,
    compare,
    total,
)
from lengthwise.oracle.programs.text import parse_program


def dyck_one() -> Program:
    """Balanced brackets: closing is legal while more are open than closed, the end when as many are."""
    return parse_program("""
        opened := count("(")
        closed := count(")")
        next["("] := true
        next[")"] := opened > closed
        next["$"] := opened == closed
    """)


def shuffle_two() -> Program:
    """Two kinds of brackets, each balanced for itself."""
    return parse_program("""
        round := count("(") - count(")")
        square := count("[") - count("]")
        next["("] := true
        next["["] := true
        next[")"] := round > 0
        next["]"] := square > 0
        next["$"] := round == 0 and square == 0
    """)


def equal_blocks(letters: str, end: str) -> Program:
    """a^n b^n c^n ...: after the first b, a letter is next when its block is the first one shorter than that of a."""
    draft = Draft()
    counts = [draft.define(f"n_{letter}", Count(Letter(letter))) for letter in letters]
    first, second = counts[0], counts[1]
    draft.output(letters[0], compare(second, "==", 0))
    for place, letter in enumerate(letters[1:], start=1):
        full = (compare(counts[earlier], "==", first) for earlier in range(1, place))
        draft.output(letter, all_of([*full, compare(counts[place], "<", first)]))
    draft.output(end, all_of([compare(first, ">=", 1), *(compare(count, "==", first) for count in counts[1:])]))
    return draft.program()


def bounded_brackets(pairs: Sequence[tuple[str, str]], depth: int, end: str) -> Program:
    """Brackets of several kinds, at most `depth` deep.

    At each height, a kind is open when it was opened there once more often than closed: what is opened at a height is
    closed before another bracket opens there, so the difference is 0 or 1. Closing is legal for the kind that is open
    at the present height.
    """
    draft = Draft()
    opened, closed = (total(Count(Letter(pair[side])) for pair in pairs) for side in (0, 1))
    height = draft.define("height", Difference(opened, closed))
    can_close: list[list] = [[] for _ in pairs]
    for level in range(1, depth + 1):
        here = draft.define(f"at{level}", compare(height, "==", level))
        under = draft.define(f"under{level}", compare(height, "==", level - 1))
        for kind, (left, right) in enumerate(pairs):
            # An opening bracket belongs to the height it leads to, a closing one to the height it comes from.
            still = Difference(Count(And((Letter(left), here))), Count(And((Letter(right), under))))
            can_close[kind].append(And((here, compare(still, "==", 1))))
    for kind, (left, right) in enumerate(pairs):
        draft.output(left, compare(height, "<", depth))
        draft.output(right, any_of(can_close[kind]))
    draft.output(end, compare(height, "==", 0))
    return draft.program()
