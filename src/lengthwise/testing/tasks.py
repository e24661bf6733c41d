"""The contract of a task, as a test."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from lengthwise.tasks.contract import answer_faults, item_faults, symbol_faults
from lengthwise.testing.drawn import check_drawn

_ITEMS = 64


def check_task(task: Any, sizes: Sequence[int], items: int = _ITEMS) -> None:
    """Raise AssertionError unless `task` keeps the contract of `lengthwise.tasks.task.Task` at these sizes.

    Checked: the vocabulary, that an item is the same whatever the batch, that widths depend on the size alone, that the
    sampler's answers are the solver's, that chance is a frequency, and that the items can be laid out for a model. Of
    answers that are drawn (`certain` is False): that they have the probabilities the task states, and that the solver
    gives the likeliest.
    """
    doc = (type(task).__doc__ or "").strip()
    assert doc and len(doc.splitlines()[0]) <= 100, (
        "the first line of the docstring describes the task, in 100 characters"
    )
    _assert_none(symbol_faults(task), "")
    assert task.axes and task.axes[0].meaning, "the first axis says what one unit of size is"
    for size in sizes:
        assert task.has(size), f"the task says it has no items of size {size}"
        _check_size(task, size, items)
    assert not task.has(task.axes[0].smallest - 1), "no items below the smallest size"


def _check_size(task: Any, size: int, items: int) -> None:
    _assert_none(item_faults(task, size, items), f"size {size}, ")
    whole = task.draw(size, seed=3, items=range(items))
    if task.certain:
        _assert_none(answer_faults(task, whole), f"size {size}, ")
    else:
        check_drawn(task, size, whole)
    chance = task.chance(size)
    assert 0 <= chance.exact <= 1 and 0 <= chance.token <= 1, f"chance is a frequency, not {chance}"
    batch = task.batch(size, seed=3, items=range(items))
    assert batch.inputs.shape == batch.scored.shape and batch.scored.any(axis=1).all(), "every item asks for something"
    assert batch.inputs.shape[1] == task.width(size), "the width depends on the size alone"
    assert batch.inputs.min() >= 0 and batch.inputs.max() < len(task.vocabulary)


def _assert_none(faults: Iterator[str], where: str) -> None:
    for fault in faults:
        raise AssertionError(where + fault)
