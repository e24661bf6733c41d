"""One cut of a decoder's text: how many beginnings what is remembered of them must distinguish.

A text is cut in two. Rows are what may stand before the cut, columns what may follow it (the rest of the prompt and the
answer so far), and the entry is what must come next; it is undefined where row and column do not fit together. Two rows
are *distinguished* when some column fits both and asks for different things. Rows that are pairwise distinguished need
pairwise different memories, so K of them need at least log2 K bits; for a sample this is still a lower bound.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lengthwise.messages import explain, sentence
from lengthwise.oracle.programs.prompts import EOS, SEP, Item, Prompt, drawn_items, item
from lengthwise.seeds import Ints
from lengthwise.tasks.languages.next_symbol import NextSymbol
from lengthwise.tasks.task import Task

_MOST = 384  # rows and columns of a matrix; beyond it every n-th is taken
STRINGS = 6_600  # tried at a length
DRAWN = 2_400
CROSSED = 56  # rows and columns that are recombined where prompts are drawn
_FEW = 5  # symbols: a task with more is examined on a part of its alphabet
explain(
    {
        "cuts.witness": "`{one}` and `{other}`, both continued by `{continuation}`, need {after_one} and {after_other}",
        "cuts.nothing": "(nothing)",
        "cuts.after_prompt": "after the prompt",
        "cuts.inside": "after {place} symbols",
    }
)
Outcome = tuple[object, ...]  # what is asked for, token after token


@dataclass(frozen=True)
class CutWitness:
    """Two beginnings that any memory must distinguish, and the continuation after which they need different things."""

    one: Prompt
    other: Prompt
    continuation: Prompt
    after_one: str
    after_other: str

    def __str__(self) -> str:
        values = {name: " ".join(getattr(self, name)) or sentence("cuts.nothing") for name in ("one", "other")}
        values["continuation"] = " ".join(self.continuation) or sentence("cuts.nothing")
        return sentence("cuts.witness", {**vars(self), **values})


@dataclass(frozen=True)
class Cut:
    """What was found at one cut, after `place` symbols or after the prompt (None): how many rows there were, how many
    are pairwise distinguished, and two of those."""

    place: int | None
    rows: int
    distinguished: int
    witness: CutWitness | None

    @property
    def where(self) -> str:
        return sentence("cuts.after_prompt" if self.place is None else "cuts.inside", {"place": self.place})


def cut_after_prompt(answers: Mapping[Prompt, Outcome]) -> Cut:
    """The cut at `<sep>`: prompts with different answers are distinguished, those with the same answer never are. Where
    two answers first differ, what was written before that is the same text and fits both; so the largest set of
    pairwise distinguished rows has as many members as there are answers."""
    by_answer: dict[Outcome, Prompt] = {}
    for prompt, answer in answers.items():
        by_answer.setdefault(answer, prompt)
    witness = None
    if len(by_answer) > 1:  # two answers that agree for as long as possible, among the first ones
        one, other = max(_pairs(list(by_answer)[:48]), key=lambda pair: _agreement(*pair))
        witness = _witness((*by_answer[one], SEP), (*by_answer[other], SEP), (), one, other)
    return Cut(None, len(answers), len(by_answer), witness)


def cut_inside(outcomes: Mapping[tuple[Prompt, Prompt], Outcome], place: int, answered: bool) -> Cut:
    """A cut at which rows and columns are given with their outcomes; a pair without one is undefined. `answered`: the
    outcome is an answer written after `<sep>`; else it is what is asked along the column."""
    rows, columns = (_thinned(sorted({pair[side] for pair in outcomes})) for side in (0, 1))
    numbers: dict[Outcome, int] = {}
    table = np.full((len(rows), len(columns)), -1)
    row_of, column_of = ({thing: place for place, thing in enumerate(things)} for things in (rows, columns))
    for (row, column), outcome in outcomes.items():
        if row in row_of and column in column_of:
            table[row_of[row], column_of[column]] = numbers.setdefault(outcome, len(numbers))
    chosen = pairwise_distinguished(table)
    witness = None
    if len(chosen) > 1:
        # Two that differ in few columns are the least obvious.
        one, other = min(_pairs(chosen[:24]), key=lambda pair: int(_differ(table[[pair[0]]], table[pair[1]]).sum()))
        column = int(np.argmax(_differ(table[[one]], table[other])[0]))
        pair = (outcomes[rows[one], columns[column]], outcomes[rows[other], columns[column]])
        witness = _witness(rows[one], rows[other], columns[column], *pair, answered=answered)
    return Cut(place, len(rows), len(chosen), witness)


def pairwise_distinguished(table: Ints) -> list[int]:
    """Rows of a table (-1: undefined) of which every two differ in a column where both are defined. The largest such
    set where everything is defined; else one that cannot be made larger, found greedily."""
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


def _pairs(few: Sequence[Any]) -> list[tuple[Any, Any]]:
    return [(one, other) for place, one in enumerate(few) for other in few[:place]]


def _agreement(one: Outcome, other: Outcome) -> int:
    differ = (place for place, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)
    return next(differ, min(len(one), len(other)))


def _witness(
    one: Prompt, other: Prompt, column: Prompt, first: Outcome, second: Outcome, answered: bool = True
) -> CutWitness:
    same = _agreement(first, second)
    if answered:
        written = () if SEP in one[-1:] else (SEP,)
        continuation = (*column, *written, *map(str, first[:same]))
    else:
        continuation = column[:same]
    return CutWitness(one, other, continuation, _asked(first, same), _asked(second, same))


def _asked(outcome: Outcome, place: int) -> str:
    what = outcome[place] if place < len(outcome) else EOS
    return "{" + ",".join(sorted(map(str, what))) + "}" if isinstance(what, frozenset) else f"`{what}`"


def _thinned(things: list[Prompt]) -> list[Prompt]:
    return things[:: max(1, -(-len(things) // _MOST))]


def alphabets(task: Task, deadline: float) -> list[tuple[str, ...]]:
    """The alphabets to examine: the task's own if it is small, else parts of it on which prompts keep existing, as
    far as they are found before the deadline (in processor time).

    A bound of the order of k log N on k symbols looks linear while N is small compared with k, so a part with few
    symbols tells more. A bound for a part of the prompts is a bound for all.
    """
    low = task.axes[0].smallest
    short = [one for size in task.sizes(low, low + 24)[:8] for one in drawn_items(task, size, 24)]
    used = [tuple(sorted(set(one.prompt))) for one in short]
    every = tuple(sorted(set().union(*used)))
    if len(every) <= _FEW:
        return [every]
    small = sorted({symbols for symbols in used if 2 <= len(symbols) <= 4}, key=lambda symbols: (len(symbols), symbols))
    found: list[tuple[str, ...]] = []
    for symbols in small:
        if len(found) == 2 or time.process_time() > deadline:
            break
        if _continues(task, symbols):
            found.append(symbols)
    return found


def _continues(task: Task, symbols: Sequence[str]) -> bool:
    """Whether strings over these symbols are prompts at four lengths, among those where all are tried quickly."""
    tried = (length for length in range(1, 9) if len(symbols) ** length <= 300)
    found = (any(item(task, word) for word in itertools.product(symbols, repeat=length)) for length in tried)
    return sum(itertools.islice(filter(None, found), 4)) == 4


def all_prompts(task: Task, symbols: Sequence[str], length: int) -> list[Item] | None:
    """Every item whose prompt has `length` symbols of this alphabet; None if there are too many strings to try."""
    if len(symbols) ** length > STRINGS:
        return None
    tries = (item(task, word) for word in itertools.product(symbols, repeat=length))
    return [one for one in tries if one is not None]


def best_cut(task: Task, items: Sequence[Item], complete: bool) -> Cut:
    """The cut, after the prompt or in its middle, at which most rows are distinguished. `complete`: the items are all
    prompts of their length over some alphabet; else a few beginnings and ends are joined."""
    middle = len(items[0].prompt) // 2
    if task.readout == "tags":
        return _tag_cut(task, items, middle)
    answers = {one.prompt: _answer(one) for one in items}
    after = cut_after_prompt(answers)
    if middle == 0:
        return after
    split = {(prompt[:middle], prompt[middle:]): answer for prompt, answer in answers.items()}
    if not complete:  # some beginnings joined to some ends, where the solver takes the whole for a prompt
        rows, columns = (list(dict.fromkeys(parts))[:CROSSED] for parts in zip(*split, strict=True))
        joined = {(row, column): item(task, (*row, *column)) for row, column in itertools.product(rows, columns)}
        split = {pair: _answer(one) for pair, one in joined.items() if one is not None}
    inside = cut_inside(split, middle, answered=True)
    return max(after, inside, key=lambda cut: cut.distinguished)


def _answer(one: Item) -> Outcome:
    """The answer; its end is the same for all and is left out."""
    return tuple(next(iter(symbols)) for symbols in one.wanted[:-1])


def _tag_cut(task: Task, items: Sequence[Item], middle: int) -> Cut:
    """A cut in the middle of texts that are asked about symbol by symbol.

    For a language an outcome lists what is legal after the row and after each further symbol, up to where the text
    stops being the beginning of a word. If two outcomes differ, they differ at a place where both exist: where one
    stops, the symbol that stops it was legal for the other and not for it.
    """
    rows = list(dict.fromkeys(one.prompt[:middle] for one in items))
    columns = list(dict.fromkeys(one.prompt[middle:] for one in items))
    outcomes = {}
    for row in rows[:: max(1, len(rows) // CROSSED)][: 2 * CROSSED]:
        for column in columns[:: max(1, len(columns) // CROSSED)][: 2 * CROSSED]:
            outcome = _tags_after(task, row, column)
            if outcome is not None:
                outcomes[row, column] = outcome
    return cut_inside(outcomes, middle, answered=False)


def _tags_after(task: Task, row: Prompt, column: Prompt) -> Outcome | None:
    if isinstance(task, NextSymbol):
        legal = itertools.takewhile(bool, map(frozenset, task.legal((*row, *column))))
        return tuple(legal)[len(row) :]
    one = item(task, (*row, *column))
    return None if one is None else tuple(one.wanted[max(0, len(one.wanted) - len(column)) :])


def drawn_prompts(task: Task, size: int, count: int) -> list[Item]:
    """Random items of one size whose prompts have the most frequent length, so that a cut has one position."""
    items = drawn_items(task, size, count)
    lengths = [len(one.prompt) for one in items]
    usual = max(set(lengths), key=lengths.count)
    return [one for one in items if len(one.prompt) == usual]
