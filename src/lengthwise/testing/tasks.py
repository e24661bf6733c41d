"""The contract of a task, as a test."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lengthwise.errors import UsageError
from lengthwise.tasks.contract import answer_faults, id_faults, item_faults, symbol_faults

_ITEMS = 64
_DRAWN = 2000  # items for the comparison of frequencies
_FURTHEST = 4  # places back that are looked at
_LOG = 9 * np.log(10)  # a fair sampler fails a comparison with probability 10**-9; items are fixed, so once and for all


def check_task(task: Any, sizes: Sequence[int], items: int = _ITEMS) -> None:
    """Raise AssertionError unless `task` keeps the contract of `lengthwise.tasks.task.Task` at these sizes.

    Checked: the vocabulary, that an item is the same whatever the batch, that widths depend on the size alone, that the
    sampler's answers are the solver's, that the ids a task may give follow from the prompt alone, that chance is a
    frequency, and that the items can be laid out for a model. Of answers that are drawn (`certain` is False): that they
    have the probabilities the task states, and that the solver gives the likeliest.
    """
    doc = (type(task).__doc__ or "").strip()
    assert doc and len(doc.splitlines()[0]) <= 100, "the first line of the docstring describes it, in 100 characters"
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
        _check_drawn(task, size, whole)
    if _gives_ids(task, whole.prompts):
        _assert_none(id_faults(task, size, items), f"size {size}, ")
    chance = task.chance(size)
    assert 0 <= chance.exact <= 1 and 0 <= chance.token <= 1, f"chance is a frequency, not {chance}"
    batch = task.batch(size, seed=3, items=range(items))
    assert batch.inputs.shape == batch.scored.shape and batch.scored.any(axis=1).all(), "every item asks for something"
    assert batch.inputs.shape[1] == task.width(size), "the width depends on the size alone"
    assert batch.inputs.min() >= 0 and batch.inputs.max() < len(task.vocabulary)


def _gives_ids(task: Any, prompts: NDArray[np.int64]) -> bool:
    try:
        task.ids(prompts, 1)
    except UsageError:  # how a task says that it has none
        return False
    return True


def _assert_none(faults: Iterator[str], where: str) -> None:
    for fault in faults:
        raise AssertionError(where + fault)


def _check_drawn(task: Any, size: int, samples: Any) -> None:
    """Raise AssertionError unless drawn answers fit `log_probabilities` and `solve` at this size."""
    known = task.log_probabilities(samples.answers)
    assert known.shape == (*samples.answers.shape, len(task.symbols)), (
        f"log_probabilities is [items, width, symbols], not {known.shape}"
    )
    assert np.allclose(np.exp(known).sum(axis=2), 1, atol=1e-12), "the probabilities of a place sum up to 1"
    drawn = np.take_along_axis(known, samples.answers[..., None], axis=2)
    assert np.isfinite(drawn).all(), "an answer was drawn that has probability 0"
    _check_past_alone(task, samples.answers, known)
    for prompt, row in zip(samples.prompts, known, strict=True):
        solved, best = task.solve(task.spelled(prompt)), task.spelled(row.argmax(axis=1))
        assert tuple(solved) == best, f"the solver gives {' '.join(solved)}, and the likeliest is {' '.join(best)}"
    _check_frequencies(task, size)


def _check_past_alone(task: Any, answers: NDArray[np.int64], known: NDArray[np.float64]) -> None:
    """What is said of a place must not change with what stands there or later."""
    width = answers.shape[1]
    for place in {0, width // 2, width - 1}:
        changed = answers.copy()
        changed[:, place:] = (changed[:, place:] + 1) % len(task.symbols)
        again = task.log_probabilities(changed)[:, : place + 1]
        assert np.array_equal(again, known[:, : place + 1]), f"the probabilities at place {place} know what comes there"


def _check_frequencies(task: Any, size: int) -> None:
    """Counts against what the task expects given the past: of each symbol, also after each one some places back.

    Count minus expectation is a martingale with steps of at most 1; freedman1975 (theorem 1.6) says how far it strays.
    """
    answers = task.draw(size, seed=4, items=range(_DRAWN)).answers
    stated = np.exp(task.log_probabilities(answers))
    symbols = len(task.symbols)
    for back in range(min(_FURTHEST, size - 1) + 1):  # 0: whatever stands before
        past = np.zeros_like(answers) if back == 0 else answers[:, :-back]
        now, expected = np.eye(symbols)[answers[:, back:].ravel()], stated[:, back:].reshape(-1, symbols)
        group = np.eye(symbols)[past.ravel()]
        seen, among, spread = (group.T @ part for part in (now, expected, expected * (1 - expected)))
        allowed = _LOG / 3 + np.sqrt(_LOG**2 / 9 + 2 * spread * _LOG)
        excess = np.abs(seen - among) / allowed
        where = "" if back == 0 else f" after what stands {back} before"
        assert excess.max() <= 1, (
            f"answers{where} are not drawn with the stated probabilities at size {size}: a count is "
            f"{excess.max():.1f} times as far off as chance allows"
        )
