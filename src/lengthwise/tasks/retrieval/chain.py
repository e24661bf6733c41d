"""Letters drawn from a random chain, whose last k letters occurred before: the prompts of the k-gram tasks."""

from __future__ import annotations

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.seeds import Draws, Floats, Ints
from lengthwise.tasks.letters import check_letters

_LARGEST_TABLE = 10_000  # probabilities an item: they are drawn afresh for every item


def check_chain(k: int, letters: int) -> None:
    """Refuse an order and an alphabet for which no chain can be drawn."""
    if k < 1:
        raise UsageError(f"k is a positive number, not {k}")
    check_letters(letters)
    if letters ** (k + 1) > _LARGEST_TABLE:
        raise UsageError(
            f"{letters} letters and k={k} make a chain of {letters ** (k + 1)} probabilities, too many to draw"
        )


def seen_before(size: int, k: int, letters: int, draws: Draws) -> Ints:
    """Strings [items, size] from a chain of each item's own, ended by k letters that occurred before.

    The first size - k letters follow a chain of order k: for each of the letters**k contexts the law of the next letter
    is uniform on the simplex, Dirichlet(1, ..., 1). The last k letters repeat those from a uniform earlier place, so a
    context is asked for about as often as it occurs. They are written from left to right, as the two may overlap.
    """
    free = size - k
    prompts = np.zeros((len(draws), size), dtype=np.int64)
    prompts[:, :free] = _chain(free, k, letters, draws)
    start = draws.integers(0, free, 1)
    for step in range(k):
        prompts[:, free + step] = np.take_along_axis(prompts, start + step, axis=1)[:, 0]
    return prompts


def follower_counts(prompts: Ints, k: int, letters: int) -> Ints:
    """How often each letter came after the last k letters earlier in the prompt: [items, letters]."""
    items, size = prompts.shape
    same = np.ones((items, size - k), dtype=bool)
    for step in range(k):
        same &= prompts[:, step : size - k + step] == prompts[:, size - k + step, None]
    places = prompts[:, k:] + letters * np.arange(items)[:, None]
    return np.bincount(places[same], minlength=items * letters).reshape(items, letters)


def _chain(width: int, k: int, letters: int, draws: Draws) -> Ints:
    laws = _laws(letters**k, letters, draws)
    uniform = draws.uniform(width)
    chain = (uniform * letters).astype(np.int64)  # as it stays for the first k letters, which have no context
    rows = np.arange(len(draws))
    context = np.zeros(len(draws), dtype=np.int64)
    for place in range(width):
        if place >= k:
            chain[:, place] = (uniform[:, place, None] >= laws[rows, context, :-1]).sum(axis=1)
        context = (context * letters + chain[:, place]) % letters**k
    return chain


def _laws(contexts: int, letters: int, draws: Draws) -> Floats:
    """The cumulative laws of the next letter, [items, contexts, letters]: normalised exponentials are Dirichlet(1)."""
    weights = -np.log1p(-draws.uniform(contexts * letters)).reshape(len(draws), contexts, letters)
    cumulative = weights.cumsum(axis=2)
    return cumulative / cumulative[:, :, -1:]
