"""Programs that answer with one symbol, or a fixed number of them, by comparing counts."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from lengthwise.oracle.programs.prompts import EOS, SEP
from lengthwise.oracle.programs.syntax import (
    TRUE,
    And,
    Count,
    Draft,
    Letter,
    Not,
    Phase,
    Program,
    all_of,
    any_of,
    at_back,
    compare,
    letters,
    some,
)


def majority(symbols: Sequence[str]) -> Program:
    """The symbol that occurs more often than each other one, then the end. No position.

    Asked at `<sep>`, where the counts are those of the prompt.
    """
    draft = Draft()
    counts = [draft.define(f"n{number}", Count(Letter(symbol))) for number, symbol in enumerate(symbols)]
    for own, symbol in zip(counts, symbols, strict=True):
        beats = (compare(own, ">", other) for other in counts if other != own)
        draft.output(symbol, all_of([Letter(SEP), *beats]))
    draft.output(EOS, Not(Letter(SEP)))
    return draft.program()


def interleaved_majority(period: int) -> Program:
    """The majority of the bits at each phase in turn. Periodic: `<bos>` stands at 0, so the first bit has phase 1.

    `written` counts the answer so far, which says whose turn it is.
    """
    draft = Draft()
    answering = draft.define("answering", some(Letter(SEP)))
    written = draft.define("written", Count(And((answering, Not(Letter(SEP))))))
    ahead: dict[str, list] = {"0": [], "1": []}
    for turn in range(period):
        here = draft.define(f"turn{turn}", And((Phase(period, (turn + 1) % period), Not(answering))))
        zeros, ones = (draft.define(f"n{bit}_{turn}", Count(And((Letter(bit), here)))) for bit in "01")
        due = compare(written, "==", turn)
        ahead["0"].append(And((due, compare(zeros, ">", ones))))
        ahead["1"].append(And((due, compare(ones, ">", zeros))))
    for bit in "01":
        draft.output(bit, all_of([answering, any_of(ahead[bit])]))
    draft.output(EOS, compare(written, "==", period))
    return draft.program()


def even_pairs() -> Program:
    """0 if the first bit equals the last. Local: the last bit stands right before `<sep>`.

    The first bit needs no position: it is the one at which two symbols, with `<bos>`, have been read.
    """
    draft = Draft()
    first = draft.define("first_is_1", some(And((Letter("1"), compare(Count(TRUE), "==", 2)))))
    last = draft.define("last_is_1", at_back(Letter("1"), 1))
    same = draft.define("same", any_of([And((first, last)), And((Not(first), Not(last)))]))
    draft.output("0", And((Letter(SEP), same)))
    draft.output("1", And((Letter(SEP), Not(same))))
    draft.output(EOS, Not(Letter(SEP)))
    return draft.program()


def kgram(symbols: Sequence[str], k: int) -> Program:
    """The letter that most often followed the k letters before `<sep>`. Local, k back.

    For each context w and letter m: how often m came right after w; the context of the question is seen at `<sep>`.
    """
    draft = Draft()
    outcomes: dict[str, list] = {symbol: [] for symbol in symbols}
    for number, context in enumerate(itertools.product(symbols, repeat=k)):
        after = draft.define(
            f"after{number}", all_of(at_back(Letter(symbol), step) for step, symbol in enumerate(context, start=1))
        )
        counts = [
            draft.define(f"n{number}_{place}", Count(And((Letter(symbol), after))))
            for place, symbol in enumerate(symbols)
        ]
        for own, symbol in zip(counts, symbols, strict=True):
            beats = (compare(own, ">", other) for other in counts if other != own)
            outcomes[symbol].append(all_of([after, *beats]))
    for symbol in symbols:
        draft.output(symbol, all_of([Letter(SEP), any_of(outcomes[symbol])]))
    draft.output(EOS, letters(symbols))
    return draft.program()
