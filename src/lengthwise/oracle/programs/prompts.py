"""All prompts of a task that are short, some that are long, and what must be said at each position of their text.

A text is laid out as a model reads it: `<bos> prompt <sep> answer` for a written answer, where every position from
`<sep>` on asks for the next token, `<eos>` at the end; `<bos> prompt` for tags. Where the tags are sets of legal
symbols, the symbols of the set are asked for; other tags are asked for themselves.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.tasks.batch import SPECIALS
from lengthwise.tasks.languages.next_symbol import NextSymbol
from lengthwise.tasks.languages.regular import RegularMembership
from lengthwise.tasks.task import Task

_, BOS, SEP, EOS = SPECIALS
Prompt = tuple[str, ...]


@dataclass(frozen=True)
class Item:
    """A text and what is right after it: `wanted[k]` is the set of right symbols at position `first + k`."""

    prompt: Prompt
    text: tuple[str, ...]
    first: int
    wanted: tuple[frozenset[str], ...]


def item(task: Task, prompt: Prompt) -> Item | None:
    """The item of a prompt, or None where the task's own solver refuses the prompt."""
    if task.readout == "numbers":
        raise UsageError(
            "a program names symbols, and this task asks for numbers; only written answers and tags are checked"
        )
    try:
        if isinstance(task, NextSymbol):
            wanted = tuple(map(frozenset, task.legal(prompt)))
            return Item(prompt, (BOS, *prompt), 0, wanted) if all(wanted) else None
        answer = tuple(str(symbol) for symbol in task.solve(prompt))
    except (ValueError, LookupError, ArithmeticError):
        return None  # a user's solver may not say so with a UsageError
    if task.readout == "tags":
        return Item(prompt, (BOS, *prompt), len(prompt) + 1 - len(answer), tuple(frozenset({tag}) for tag in answer))
    wanted = tuple(frozenset({symbol}) for symbol in (*answer, EOS))
    return Item(prompt, (BOS, *prompt, SEP, *answer), len(prompt) + 1, wanted)


def all_items(task: Task, length: int, before: Iterable[Item] | None) -> Iterator[Item | None]:
    """Every item whose prompt has `length` symbols, in order; None for each string that is no prompt. `before` are the
    items one symbol shorter; they are used where every beginning of a prompt is a prompt too, as it is for the
    languages, and the strings tried are then only those that extend one."""
    if isinstance(task, NextSymbol) and before is not None:
        letters = set(task.symbols)
        for shorter in before:
            for letter in sorted(shorter.wanted[-1] & letters):
                yield item(task, (*shorter.prompt, letter))
        return
    for word in itertools.product(prompt_symbols(task), repeat=length):
        yield item(task, word[::-1])


def prompt_symbols(task: Task) -> Prompt:
    """The symbols prompts are made of: all but those of answers and tags, where it is known which those are."""
    if isinstance(task, RegularMembership):
        return task.automaton.alphabet
    if isinstance(task, NextSymbol):
        return tuple(sorted(symbol for symbol in next(iter(task.legal(()))) if symbol in task.symbols))
    return task.symbols


def largest_size(task: Task) -> int | None:
    """The largest size of a task whose sizes are bounded, as by an alphabet of distinct symbols; None if they are not.
    A task that does not say it by its axis is asked for sizes up to several times its number of symbols."""
    if task.axes[0].largest is not None:
        return task.axes[0].largest
    limit = 4 * len(task.symbols) + 64
    sizes = task.sizes(1, limit)
    return sizes[-1] if sizes and 2 * sizes[-1] < limit else None


def longest_prompt(task: Task) -> int | None:
    """How many symbols the longest prompt has; None if there is no longest."""
    largest = largest_size(task)
    if largest is None or not task.has(largest):
        return None
    return task.draw(largest, seed=0, items=[0], role="verify").prompts.shape[1]


def drawn_items(task: Task, size: int, count: int) -> list[Item]:
    """Items as the task draws them at a size, each prompt once."""
    prompts = task.draw(size, seed=0, items=np.arange(count), role="verify").prompts
    found = {task.spelled(row): None for row in prompts}
    items = [item(task, prompt) for prompt in found]
    if None in items:
        raise UsageError(f"the task draws {' '.join(list(found)[items.index(None)])!r}, which its own solver refuses")
    return [one for one in items if one is not None]
