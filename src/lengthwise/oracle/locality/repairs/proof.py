"""A sweep as a bimachine, so that its windows are proved for all sizes.

What is written in a column follows from the machine's state, which the left scanner knows by running the machine over
the columns, and from whether the column is the last, which the right scanner knows. The domain are the words whose
written columns come first and hold what the machine writes; every state of a chain is such a word.
"""

from __future__ import annotations

from typing import NamedTuple

from lengthwise.oracle.locality.bimachine import Bimachine, bimachine
from lengthwise.oracle.locality.repairs.mealy import Mealy
from lengthwise.oracle.locality.repairs.sweep import Sweep
from lengthwise.tasks.formulations.layouts import KEEP

_LAST = " $"


class _LeftContext(NamedTuple):
    """What a left context says: the machine's state if it can continue (None if this was the last column), whether an
    empty column was passed, and whether the word may end here."""

    state: int | None
    passed: bool
    may_end: bool


_WRONG = _LeftContext(-1, True, False)  # no state of a chain begins like this


def machine_of_sweep(sweep: Sweep, machine: Mealy) -> Bimachine:
    """The bimachine of the step of a sweep whose answers are those of a machine."""
    empty = "|".join((sweep.empty,) * (sweep.heights[-1] + (sweep.carried is not None)))
    seen = dict.fromkeys(letter.removesuffix(_LAST) for _, letter in machine.edges)
    written: dict[str, str] = {}  # a whole column → what is seen of it
    for (_, letter), edge in machine.edges.items():
        written[_column(sweep, letter.removesuffix(_LAST), edge)] = letter.removesuffix(_LAST)
    unwritten = {f"{part}|{empty}": part for part in seen}

    def read(state: _LeftContext, letter: str) -> _LeftContext:
        if state == _WRONG or (state.state is None and not state.passed):
            return _WRONG
        if letter in unwritten:
            if state.passed:
                return _LeftContext(None, True, True)
            ways = [machine.edges.get((state.state or 0, unwritten[letter] + end)) for end in ("", _LAST)]
            return _LeftContext(None, True, ways[1] is not None) if any(ways) else _WRONG
        if state.passed:
            return _WRONG
        part, onward, may_end = written[letter], None, False
        edge = machine.edges.get((state.state or 0, part))
        if edge is not None and _column(sweep, part, edge) == letter:
            onward = edge[1]
        end = machine.edges.get((state.state or 0, part + _LAST))
        may_end = end is not None and _column(sweep, part, end) == letter
        return _LeftContext(onward, False, may_end) if may_end or onward is not None else _WRONG

    def output(before: _LeftContext, letter: str, after: str) -> str:
        if letter not in unwritten or before.passed or before.state is None:
            return KEEP
        edge = machine.edges.get((before.state, unwritten[letter] + (_LAST if after == "end" else "")))
        return KEEP if edge is None else _column(sweep, unwritten[letter], edge)

    start = _LeftContext(0, False, False)
    right = ("end", lambda _, __: "more")
    domain = (start, read, lambda state: state.may_end)
    return bimachine([*unwritten, *written], (start, read), right, output, domain, exact=False)


def _column(sweep: Sweep, part: str, edge: tuple[str, int]) -> str:
    """A written column."""
    return f"{part}|{edge[0]}" + (f"|s{edge[1]}" if sweep.carried is not None else "")
