"""The contract of a task, as a test."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lengthwise.testing.drawn import check_drawn

_ITEMS = 64
_SPECIALS = {"<pad>", "<bos>", "<sep>", "<eos>"}


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
    symbols = task.symbols
    assert len(set(symbols)) == len(symbols), "symbols are distinct"
    assert all(isinstance(symbol, str) and symbol for symbol in symbols), "symbols are non-empty text"
    assert not _SPECIALS & set(symbols), f"{_SPECIALS & set(symbols)} belong to the layout, not to a task"
    assert task.axes and task.axes[0].meaning, "the first axis says what one unit of size is"
    for size in sizes:
        assert task.has(size), f"the task says it has no items of size {size}"
        _check_size(task, size, items)
    assert not task.has(task.axes[0].smallest - 1), "no items below the smallest size"


def _check_size(task: Any, size: int, items: int) -> None:
    whole = task.draw(size, seed=3, items=range(items))
    again = task.draw(size, seed=3, items=range(items))
    some = [items - 1, 0, items // 2]
    few = task.draw(size, seed=3, items=some)
    for name in ("prompts", "answers"):
        rows, same, part = getattr(whole, name), getattr(again, name), getattr(few, name)
        assert rows.ndim == 2 and len(rows) == items, f"{name} is [items, width], not {rows.shape}"
        assert np.array_equal(rows, same), f"{name} of one seed differ between two calls at size {size}"
        assert np.array_equal(rows[some], part), f"{name} of an item depend on its batch at size {size}"
        if name == "prompts" or task.readout != "numbers":
            assert rows.min(initial=0) >= -1 and rows.max(initial=0) < len(task.symbols), f"{name} index the symbols"
    if task.certain:
        for prompt, answer in zip(whole.prompts, whole.answers, strict=True):
            _check_answer(task, task.spelled(prompt), answer)
    else:
        check_drawn(task, size, whole)
    chance = task.chance(size)
    assert 0 <= chance.exact <= 1 and 0 <= chance.token <= 1, f"chance is a frequency, not {chance}"
    batch = task.batch(size, seed=3, items=range(items))
    assert batch.inputs.shape == batch.scored.shape and batch.scored.any(axis=1).all(), "every item asks for something"
    assert batch.inputs.shape[1] == task.width(size), "the width depends on the size alone"
    assert batch.inputs.min() >= 0 and batch.inputs.max() < len(task.vocabulary)


def _check_answer(task: Any, prompt: tuple[str, ...], answer: Any) -> None:
    solved = task.solve(prompt)
    if task.readout == "numbers":
        assert np.allclose(np.asarray(solved, dtype=float), answer, atol=1e-9), (
            f"{prompt}: sampled {answer}, solved {solved}"
        )
    else:
        spelled = task.spelled(answer)
        assert tuple(solved) == spelled, f"{' '.join(prompt)}: sampled {' '.join(spelled)}, solved {' '.join(solved)}"
