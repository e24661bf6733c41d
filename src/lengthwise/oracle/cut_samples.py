"""Prompts for a cut: all of a length where they are few, drawn ones where they are many; and the best cut of them."""

from __future__ import annotations

import itertools
import time
from collections.abc import Mapping, Sequence

from lengthwise.oracle.cuts import Cut, Outcome, cut_after_prompt, cut_inside
from lengthwise.oracle.programs.prompts import Item, Prompt, drawn_items, item
from lengthwise.tasks.languages.next_symbol import NextSymbol
from lengthwise.tasks.task import Task

STRINGS = 6_600  # tried at a length
DRAWN = 2_400
CROSSED = 56  # rows and columns that are joined anew where prompts are drawn
_FEW = 5  # symbols: a task with more is looked at on a part of its alphabet


def alphabets(task: Task, deadline: float) -> list[tuple[str, ...]]:
    """The alphabets to look at: the task's own if it is small, else parts of it on which prompts go on existing, as
    far as they are found before the deadline (in time of the processor).

    On k symbols a bound of the order of k log N looks linear for as long as N is small beside k, so a part with few
    symbols tells more. A bound for a part of the prompts is a bound for all.
    """
    used = _used(task)
    every = tuple(sorted(set().union(*used)))
    if len(every) <= _FEW:
        return [every]
    small = sorted({symbols for symbols in used if 2 <= len(symbols) <= 4}, key=lambda symbols: (len(symbols), symbols))
    found: list[tuple[str, ...]] = []
    for symbols in small:
        if len(found) == 2 or time.process_time() > deadline:
            break
        if _goes_on(task, symbols):
            found.append(symbols)
    return found


def _used(task: Task) -> list[tuple[str, ...]]:
    """The sets of symbols that some short prompts are made of."""
    low = task.axes[0].smallest
    sizes = task.sizes(low, low + 24)[:8]
    return [tuple(sorted(set(one.prompt))) for size in sizes for one in drawn_items(task, size, 24)]


def _goes_on(task: Task, symbols: Sequence[str]) -> bool:
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
    """The cut, after the prompt or in its middle, at which most rows are told apart.

    `complete`: the items are all prompts of their length over some alphabet; else a few beginnings and ends are joined.
    """
    middle = len(items[0].prompt) // 2
    if task.readout == "tags":
        return _tag_cut(task, items, middle)
    answers = {one.prompt: _answer(one) for one in items}
    after = cut_after_prompt(answers)
    if middle == 0:
        return after
    split = {(prompt[:middle], prompt[middle:]): answer for prompt, answer in answers.items()}
    if not complete:
        split = _crossed(task, split)
    inside = cut_inside(split, f"after {middle} symbols", answered=True)
    return max(after, inside, key=lambda cut: cut.told_apart)


def _answer(one: Item) -> Outcome:
    """The answer; its end is the same for all and is left out."""
    return tuple(next(iter(symbols)) for symbols in one.wanted[:-1])


def _crossed(task: Task, split: Mapping[tuple[Prompt, Prompt], Outcome]) -> dict[tuple[Prompt, Prompt], Outcome]:
    """Some beginnings joined to some ends, where the solver takes the whole for a prompt."""
    rows = list(dict.fromkeys(row for row, _ in split))[:CROSSED]
    columns = list(dict.fromkeys(column for _, column in split))[:CROSSED]
    joined = {(row, column): item(task, (*row, *column)) for row, column in itertools.product(rows, columns)}
    return {pair: _answer(one) for pair, one in joined.items() if one is not None}


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
    return cut_inside(outcomes, f"after {middle} symbols", answered=False)


def _tags_after(task: Task, row: Prompt, column: Prompt) -> Outcome | None:
    if isinstance(task, NextSymbol):
        legal = itertools.takewhile(bool, map(frozenset, task.legal((*row, *column))))
        return tuple(legal)[len(row) :]
    one = item(task, (*row, *column))
    return None if one is None else tuple(one.wanted[max(0, len(one.wanted) - len(column)) :])


def drawn_prompts(task: Task, size: int, count: int) -> list[Item]:
    """Drawn items of a size whose prompts have one length, the most frequent one, so that a cut has one place."""
    items = drawn_items(task, size, count)
    lengths = [len(one.prompt) for one in items]
    usual = max(set(lengths), key=lengths.count)
    return [one for one in items if len(one.prompt) == usual]
