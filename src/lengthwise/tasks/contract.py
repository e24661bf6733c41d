"""The contract for a task's items, and the check that a user's own task gets before it is used.

A model reads whatever numbers it is given, and training never asks the solver: a symbol that does not exist would end
in the middle of a computation, and an answer that contradicts the solver in numbers that mean nothing. `check_task` in
`lengthwise.testing` is the full contract; this is the part of it that takes a moment.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from lengthwise.errors import Interrupted, UsageError
from lengthwise.limits import MOST_SETTING, time_limit
from lengthwise.tasks.batch import NOTHING, SPECIALS, Samples
from lengthwise.tasks.sizes import name_of
from lengthwise.tasks.task import Task
from lengthwise.trust import said_in

_ITEMS = 32  # of a size that is looked at
_SIZES = 12  # at which the solver is asked, from the smallest on
_SECONDS = 0.3  # after which no further size is begun


def check_own(task: Task, sizes: Sequence[int]) -> None:
    """Refuse a task of the user's whose items break the contract, where it is to be used at `sizes`.

    The sampler is looked at there; the solver is asked at a dozen of the smallest sizes up to them, one after the other
    and for less than a second, as it may take exponential time. Tasks of the package have their tests and pass at once.
    """
    if all(type(one).__module__.startswith("lengthwise.") for one in (task, getattr(task, "base", task))):
        return
    with time_limit(f"the first look at the task {name_of(task)}"):
        _refuse_first(task, symbol_faults(task), "symbols")
        begun = time.monotonic()
        for size in task.sizes(1, max(sizes))[:_SIZES]:
            _refuse_first(task, item_faults(task, size, _ITEMS), "sample", size)
            if task.certain:
                _refuse_first(task, answer_faults(task, task.draw(size, 3, range(_ITEMS))), "solve", size)
            if time.monotonic() - begun > _SECONDS:
                break
        for size in sizes:
            _refuse_first(task, item_faults(task, size, _ITEMS), "sample", size)


def symbol_faults(task: Task) -> Iterator[str]:
    """What is wrong with the symbols, a sentence each."""
    symbols = task.symbols
    if not isinstance(symbols, tuple | list):
        yield f"symbols is a tuple of texts, not {type(symbols).__name__}"
        return
    if len(symbols) > MOST_SETTING:
        yield f"there are at most {MOST_SETTING:,} symbols, not {len(symbols):,}"
        return
    counted = Counter(symbol for symbol in symbols if isinstance(symbol, str))
    for symbol in symbols:
        if not isinstance(symbol, str) or not symbol:
            yield f"symbols are non-empty text, unlike {symbol!r}"
        elif symbol in SPECIALS:
            yield f"the symbol {symbol} belongs to the layout, not to a task"
        elif counted[symbol] > 1:
            yield f"symbols are distinct, and {symbol!r} is there twice"


def item_faults(task: Task, size: int, items: int) -> Iterator[str]:
    """What is wrong with the first items as they are drawn: their form, their symbols, or that they depend on
    anything but their number."""
    whole, again = (task.draw(size, 3, range(items)) for _ in range(2))
    some = [items - 1, 0, items // 2]
    few = task.draw(size, 3, some)
    for name in ("prompts", "answers"):
        rows, same, part = (np.asarray(getattr(samples, name)) for samples in (whole, again, few))
        if rows.ndim != 2 or len(rows) != items:
            yield f"{name} is [items, width], not of the shape {list(rows.shape)} for {items} items"
            return
        if name == "prompts" or task.readout != "numbers":
            if not np.issubdtype(rows.dtype, np.integer):
                yield f"{name} are indices into the symbols, not numbers of the type {rows.dtype}"
                return
            yield from _strangers(rows, name, len(task.symbols))
        for item in np.flatnonzero((rows != same).any(axis=1))[:1]:
            yield f"item {item}: its {name} differ between two calls; take all randomness from `draws`"
        if part.shape != (len(some), rows.shape[1]):
            yield f"the width of {name} depends on the size alone, not on the batch ({part.shape[1]}, {rows.shape[1]})"
            return
        for item in np.array(some)[(rows[some] != part).any(axis=1)][:1]:
            yield f"item {item}: its {name} depend on its batch; make the same calls of `draws` whatever its rows are"


def check_ids(task: Task, sizes: Sequence[int]) -> None:
    """Refuse a task that gives its tokens no ids, or ids that break the contract at these sizes."""
    for size in sizes:
        _refuse_first(task, id_faults(task, size, _ITEMS), "ids", size)


def id_faults(task: Task, size: int, items: int) -> Iterator[str]:
    """What is wrong with the ids of the first items: their form, or that they depend on how many answer
    positions are requested.
    """
    prompts, longest = task.draw(size, 3, range(items)).prompts, task.width(size)
    ids, width = np.asarray(task.ids(prompts, longest)), prompts.shape[1]
    if ids.shape != (items, width + longest) or not np.issubdtype(ids.dtype, np.integer):
        wanted = f"[items, symbols + answer] = [{items}, {width + longest}]"
        yield f"`ids` gives {ids.dtype} of the shape {list(ids.shape)} where whole numbers {wanted} are wanted"
        return
    if ids[:, width:].min() < 0 or not (ids > 0).any():
        yield "ids count from 1, only signs of the prompt have negative ones, and some token has one"
    for answer in (0, 1, longest // 2):
        if not np.array_equal(task.ids(prompts, answer), ids[:, : width + answer]):
            yield f"the ids of {answer} places of the answer are not the first of those of {longest} places"
    some = range(items // 2, items)
    if not np.array_equal(task.ids(prompts[some], longest), ids[some]):
        yield "the ids of an item depend on its batch"


def answer_faults(task: Task, samples: Samples) -> Iterator[str]:
    """The items whose answer is not what the solver finds."""
    for item, (row, answer) in enumerate(zip(samples.prompts, samples.answers, strict=True)):
        prompt = task.spelled(row)
        shown = " ".join(prompt)
        try:
            solved: Any = task.solve(prompt)
        except UsageError as error:
            yield f"item {item}: the solver refuses the sampled prompt `{shown}`: {error}"
            continue
        if task.readout == "numbers":
            found = np.asarray(solved, dtype=float)
            if found.shape != answer.shape or not np.allclose(found, answer, atol=1e-9):
                yield f"item {item}: of the prompt `{shown}`, sampled {list(answer)}, solved {list(solved)}"
        elif tuple(solved) != (spelled := task.spelled(answer)):
            found = " ".join(map(str, solved))
            yield f"item {item}: of the prompt `{shown}`, sampled `{' '.join(spelled)}`, solved `{found}`"


def _strangers(rows: np.ndarray, name: str, symbols: int) -> Iterator[str]:
    """Items that hold what is no symbol."""
    wrong = ((rows < 0) & (rows != NOTHING)) | (rows >= symbols)
    for item in np.flatnonzero(wrong.any(axis=1))[:1]:
        index = rows[item][wrong[item]][0]
        yield f"item {item}: its {name} hold the index {index}, and the {symbols} symbols have 0 to {symbols - 1}"


def _refuse_first(task: Task, faults: Iterator[str], what: str, size: int | None = None) -> None:
    where = f"the task {name_of(task)}" + ("" if size is None else f", size {size}")
    try:
        fault = next(faults, None)
    except (Interrupted, UsageError):
        raise
    except Exception as error:
        raise UsageError(f"{where}: `{what}` failed with {said_in(error, type(task))}") from error
    if fault:
        raise UsageError(f"{where}, {fault}" if fault.startswith("item") else f"{where}: {fault}")
