"""Sorting: the smallest number of which not all copies are written. No position."""

from __future__ import annotations

from collections.abc import Sequence

from lengthwise.oracle.programs.build import Draft, compare, some
from lengthwise.oracle.programs.prompts import EOS, SEP
from lengthwise.oracle.programs.syntax import And, Count, Difference, Letter, Not, Number, Program, Sum


def sort(symbols: Sequence[str]) -> Program:
    """Numbers in increasing order, repeats included; `symbols` come in that order.

    `rest` of a symbol: its copies in the prompt less those in the answer. `below` adds the rests of all smaller
    symbols; a symbol is next when there is nothing below it and something left of it.
    """
    draft = Draft()
    answering = draft.define("answering", some(Letter(SEP)))
    below: Number | None = None
    for number, symbol in enumerate(symbols):
        given = Count(And((Letter(symbol), Not(answering))))
        written = Count(And((Letter(symbol), answering)))
        rest = draft.define(f"rest{number}", Difference(given, written))
        due = [answering, compare(rest, ">=", 1)] + ([compare(below, "==", 0)] if below is not None else [])
        draft.output(symbol, And(tuple(due)))
        below = draft.define(f"below{number + 1}", rest if below is None else Sum(below, rest))
    if below is None:
        raise ValueError("there is nothing to sort without symbols")
    draft.output(EOS, And((answering, compare(below, "==", 0))))
    return draft.program()
