"""Programs that write a sequence: copying distinct symbols, looking up what followed a symbol, sorting."""

from __future__ import annotations

from collections.abc import Sequence

from lengthwise.oracle.programs.prompts import BOS, EOS, SEP
from lengthwise.oracle.programs.syntax import (
    And,
    Boolean,
    Count,
    Difference,
    Draft,
    Letter,
    Not,
    Number,
    Program,
    Sum,
    any_of,
    at_back,
    compare,
    letters,
    some,
)


def copy_unique(symbols: Sequence[str]) -> Program:
    """Local, one back: a symbol is next when the prompt holds it right after the symbol that stands here.

    At `<sep>` the place of the symbol here is taken by `<bos>`, and the symbol after the last one is `<sep>`, for which
    the end is written.
    """
    draft = Draft()
    answering = draft.define("answering", some(Letter(SEP)))
    prompt = draft.define("in_prompt", any_of([Not(answering), Letter(SEP)]))
    after = {}
    for number, symbol in enumerate([BOS, *symbols]):
        after[symbol] = draft.define(f"after{number}", And((prompt, at_back(Letter(symbol), 1))))
    return _successors(draft, symbols, answering, after)


def copy_unique_without_positions(symbols: Sequence[str]) -> Program:
    """The same without any position: a place comes right after the only occurrence of a symbol exactly when two places,
    itself and the occurrence, have that symbol at or before them.

    It exists, and published models without an encoding do not find it: see docs/programs.md before building on it.
    """
    draft = Draft()
    answering = draft.define("answering", some(Letter(SEP)))
    after = {}
    for number, symbol in enumerate([BOS, *symbols]):
        seen = draft.define(f"seen{number}", some(Letter(symbol)))
        after[symbol] = draft.define(f"after{number}", compare(Count(seen), "==", 2))
    return _successors(draft, symbols, answering, after)


def _successors(draft: Draft, symbols: Sequence[str], answering: Boolean, after: dict[str, Boolean]) -> Program:
    """One count for each pair of symbols: whether the second came right after the first."""
    for symbol, following in [*((symbol, symbol) for symbol in symbols), (EOS, SEP)]:
        pairs = (
            And((Letter(SEP if here == BOS else here), some(And((Letter(following), right_after)))))
            for here, right_after in after.items()
        )
        draft.output(symbol, And((answering, any_of(pairs))))
    return draft.program()


def successor(keys: Sequence[str], values: Sequence[str]) -> Program:
    """The value that came right after the key that stands before `<sep>`; the key occurs once before."""
    draft = Draft()
    after = [draft.define(f"after{number}", at_back(Letter(key), 1)) for number, key in enumerate(keys)]
    for value in values:
        # At <sep> `asked` says which key is asked for; in the prompt the same predicate says which key a value follows.
        found = (And((asked, some(And((Letter(value), asked))))) for asked in after)
        draft.output(value, And((Letter(SEP), any_of(found))))
    draft.output(EOS, letters(values))
    return draft.program()


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
