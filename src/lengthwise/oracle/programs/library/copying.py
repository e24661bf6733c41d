"""Copying distinct symbols: what follows the symbol written last, in the prompt."""

from __future__ import annotations

from collections.abc import Sequence

from lengthwise.oracle.programs.build import Draft, any_of, at_back, compare, some
from lengthwise.oracle.programs.prompts import BOS, EOS, SEP
from lengthwise.oracle.programs.syntax import And, Boolean, Count, Letter, Not, Program


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
