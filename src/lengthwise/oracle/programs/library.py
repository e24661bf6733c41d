"""Programs for the tasks that have one, as functions of the task's settings; `find.program_for` finds them."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from lengthwise.oracle.programs.prompts import BOS, EOS, SEP
from lengthwise.oracle.programs.syntax import (
    TRUE,
    And,
    Boolean,
    Count,
    Difference,
    Draft,
    Letter,
    Not,
    Number,
    Phase,
    Program,
    Sum,
    all_of,
    any_of,
    at_back,
    compare,
    letters,
    some,
    total,
)
from lengthwise.oracle.programs.text import parse_program


def majority(symbols: Sequence[str]) -> Program:
    """The symbol that occurs more often than each other one, then the end. No position; asked at `<sep>`."""
    draft = Draft()
    counts = [draft.define(f"n{number}", Count(Letter(symbol))) for number, symbol in enumerate(symbols)]
    for own, symbol in zip(counts, symbols, strict=True):
        beats = (compare(own, ">", other) for other in counts if other != own)
        draft.output(symbol, all_of([Letter(SEP), *beats]))
    draft.output(EOS, Not(Letter(SEP)))
    return draft.program()


def interleaved_majority(period: int) -> Program:
    """The majority of the bits at each phase in turn. Periodic: `<bos>` stands at 0, so the first bit has phase 1.
    `written` counts the answer so far, which says whose turn it is."""
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
    """0 if the first bit equals the last. Local: the last bit stands right before `<sep>`. The first bit needs no
    position: it is the one at which two symbols, with `<bos>`, have been read."""
    draft = Draft()
    first = draft.define("first_is_1", some(And((Letter("1"), compare(Count(TRUE), "==", 2)))))
    last = draft.define("last_is_1", at_back(Letter("1"), 1))
    same = draft.define("same", any_of([And((first, last)), And((Not(first), Not(last)))]))
    draft.output("0", And((Letter(SEP), same)))
    draft.output("1", And((Letter(SEP), Not(same))))
    draft.output(EOS, Not(Letter(SEP)))
    return draft.program()


def kgram(symbols: Sequence[str], k: int) -> Program:
    """The letter that most often followed the k letters before `<sep>`. Local, k back. For each context w and letter m:
    how often m came right after w; the context of the question is seen at `<sep>`."""
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
    """Brackets of several kinds, at most `depth` deep. At each height, a kind is open when it was opened there once
    more often than closed: what is opened at a height is closed before another bracket opens there, so the difference
    is 0 or 1. Closing is legal for the kind that is open at the present height."""
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


def copy_unique(symbols: Sequence[str]) -> Program:
    """Local, one back: a symbol is next when the prompt holds it right after the symbol that stands here. At `<sep>`
    `<bos>` takes the place of that symbol, and after the last one comes `<sep>`, for which the end is written."""
    draft = Draft()
    answering = draft.define("answering", some(Letter(SEP)))
    prompt = draft.define("in_prompt", any_of([Not(answering), Letter(SEP)]))
    after = {}
    for number, symbol in enumerate([BOS, *symbols]):
        after[symbol] = draft.define(f"after{number}", And((prompt, at_back(Letter(symbol), 1))))
    return _successors(draft, symbols, answering, after)


def copy_unique_without_positions(symbols: Sequence[str]) -> Program:
    """The same without any position: a place comes right after the only occurrence of a symbol exactly when two places,
    itself and the occurrence, have that symbol at or before them. It exists, and published models without an encoding
    do not find it: see docs/explanation/programs.md before building on it."""
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
    """Numbers in increasing order, repeats included; `symbols` come in that order. `rest` of a symbol: its copies in
    the prompt less those in the answer. `below` adds the rests of all smaller symbols; a symbol is next when there is
    nothing below it and something left of it."""
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
