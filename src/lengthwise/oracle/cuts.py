"""One cut of a decoder's text: how many beginnings must be told apart by what is remembered of them.

A text is cut in two. Rows are what may stand before the cut, columns what may follow it (the rest of the prompt and the
answer so far), and the entry is what must come next; it is undefined where row and column do not fit together. Two
rows are *told apart* when some column fits both and asks for different things. Rows that are pairwise told apart need
pairwise different memories, so K of them need at least log2 K bits. A sample of rows and columns gives a smaller K:
still a valid lower bound.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lengthwise.oracle.programs.prompts import EOS, SEP, Prompt
from lengthwise.seeds import Ints

_MOST = 384  # rows and columns of a matrix; beyond it every n-th is taken
AFTER = "after the prompt"
Outcome = tuple[object, ...]  # what is asked for, token after token


@dataclass(frozen=True)
class Witness:
    """Two beginnings that any memory must tell apart, and the continuation after which they need different things."""

    one: Prompt
    other: Prompt
    continuation: Prompt
    after_one: str
    after_other: str

    def __str__(self) -> str:
        return (
            f"`{_shown(self.one)}` and `{_shown(self.other)}`, both continued by `{_shown(self.continuation)}`, "
            f"need {self.after_one} and {self.after_other}"
        )


@dataclass(frozen=True)
class Cut:
    """What was found at one cut: how many rows there were, how many are pairwise told apart, and two of those."""

    place: str
    rows: int
    told_apart: int
    witness: Witness | None


def cut_after_prompt(answers: Mapping[Prompt, Outcome]) -> Cut:
    """The cut at `<sep>`: prompts with different answers are told apart, those with the same answer never are.

    Where two answers first differ, what was written before that is the same text and fits both; so the largest set of
    rows pairwise told apart has as many members as there are answers.
    """
    by_answer: dict[Outcome, Prompt] = {}
    for prompt, answer in answers.items():
        by_answer.setdefault(answer, prompt)
    witness = None
    if len(by_answer) > 1:
        one, other = _closest(list(by_answer))
        witness = _witness((*by_answer[one], SEP), (*by_answer[other], SEP), (), one, other)
    return Cut(AFTER, len(answers), len(by_answer), witness)


def cut_inside(outcomes: Mapping[tuple[Prompt, Prompt], Outcome], place: str, answered: bool) -> Cut:
    """A cut at which rows and columns are given with their outcomes; a pair without one is undefined.

    `answered`: the outcome is an answer written after `<sep>`; else it is what is asked along the column.
    """
    rows = _thinned(sorted({row for row, _ in outcomes}))
    columns = _thinned(sorted({column for _, column in outcomes}))
    numbers: dict[Outcome, int] = {}
    table = np.full((len(rows), len(columns)), -1)
    row_of, column_of = ({thing: place for place, thing in enumerate(things)} for things in (rows, columns))
    for (row, column), outcome in outcomes.items():
        if row in row_of and column in column_of:
            table[row_of[row], column_of[column]] = numbers.setdefault(outcome, len(numbers))
    chosen = pairwise_told_apart(table)
    witness = None
    if len(chosen) > 1:
        one, other = _nearest_rows(table, chosen)
        column = int(np.argmax(_differ(table[[one]], table[other])[0]))
        pair = (outcomes[rows[one], columns[column]], outcomes[rows[other], columns[column]])
        witness = _witness(rows[one], rows[other], columns[column], *pair, answered=answered)
    return Cut(place, len(rows), len(chosen), witness)


def pairwise_told_apart(table: Ints) -> list[int]:
    """Rows of a table (-1: undefined) of which every two differ in a column where both are defined.

    The largest such set where everything is defined; else one that cannot be made larger, found greedily from the rows
    with most entries down.
    """
    _, first = np.unique(table, axis=0, return_index=True)
    if (table >= 0).all():
        return sorted(first.tolist())
    order = sorted(first.tolist(), key=lambda row: (-int((table[row] >= 0).sum()), row))
    chosen: list[int] = []
    for row in order:
        if not chosen or _differ(table[chosen], table[row]).any(axis=1).all():
            chosen.append(row)
    return chosen


def _differ(rows: Ints, row: Ints) -> np.ndarray:
    return (rows != row) & (rows >= 0) & (row >= 0)


def _nearest_rows(table: Ints, chosen: Sequence[int]) -> tuple[int, int]:
    """Two chosen rows that differ in few columns: the least obvious pair among the first ones."""
    few = chosen[:24]
    pairs = [(one, other) for place, one in enumerate(few) for other in few[:place]]
    return min(pairs, key=lambda pair: int(_differ(table[[pair[0]]], table[pair[1]]).sum()))


def _closest(answers: Sequence[Outcome]) -> tuple[Outcome, Outcome]:
    """Two answers that agree for as long as possible, among the first ones."""
    few = answers[:48]
    pairs = [(one, other) for place, one in enumerate(few) for other in few[:place]]
    return max(pairs, key=lambda pair: _agreement(*pair))


def _agreement(one: Outcome, other: Outcome) -> int:
    differ = (place for place, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)
    return next(differ, min(len(one), len(other)))


def _witness(
    one: Prompt, other: Prompt, column: Prompt, first: Outcome, second: Outcome, answered: bool = True
) -> Witness:
    same = _agreement(first, second)
    if answered:
        written = () if SEP in one[-1:] else (SEP,)
        continuation = (*column, *written, *map(str, first[:same]))
    else:
        continuation = column[:same]
    return Witness(one, other, continuation, _asked(first, same), _asked(second, same))


def _asked(outcome: Outcome, place: int) -> str:
    what = outcome[place] if place < len(outcome) else EOS
    return "{" + ",".join(sorted(map(str, what))) + "}" if isinstance(what, frozenset) else f"`{what}`"


def _thinned(things: list[Prompt]) -> list[Prompt]:
    step = -(-len(things) // _MOST)
    return things[::step] if step > 1 else things


def _shown(text: Prompt) -> str:
    return " ".join(text) if text else "(nothing)"
