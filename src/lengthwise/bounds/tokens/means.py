"""Means of losses: over all data in stretches that need little memory, or what a sample says of the mean over all."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np

from lengthwise.bounds.tokens.inequalities import Ends, step_grid
from lengthwise.bounds.tokens.losses import TokenLosses
from lengthwise.seeds import Floats

SAMPLE_STEPS = 16  # the steps of the product inequality for a sample, all paid for
STRETCH = 1 << 18  # tokens that are looked at at once


def sample_price(sample: int, delta: float, settings: int) -> float:
    """ln(settings x steps / δ) / m: what `sampled_mean` is to pay so that it holds for all `settings` at once."""
    return math.log(settings * SAMPLE_STEPS / delta) / sample


def sampled_mean(values: Floats, ends: Ends, price: float) -> float:
    """At least the mean over the whole population, from the values of a sample (statements G3 and G7).

    The sample is uniform, with or without replacement; values lie between `ends`.
    """
    low, high = ends
    steps = np.array(step_grid(price, SAMPLE_STEPS))
    means = np.log1p(((low - values) / (high - low))[:, None] * steps).mean(axis=0)
    return low + (high - low) * min(1.0, float(np.min(-np.expm1(means - price) / steps)))


def stretches(losses: TokenLosses) -> Iterator[TokenLosses]:
    for first in range(0, len(losses), STRETCH):
        yield losses.part(slice(first, first + STRETCH))


def token_mean(losses: TokenLosses, per_token: Callable[[TokenLosses], Floats]) -> float:
    """The mean over all tokens."""
    return math.fsum(float(np.sum(per_token(part))) for part in stretches(losses)) / len(losses)


def document_means(losses: TokenLosses, per_token: Callable[[TokenLosses], Floats]) -> Floats:
    """The mean over the tokens of each document, [documents]."""
    starts = losses.starts
    index = np.zeros(len(losses), dtype=np.int64)
    index[starts[1:]] = 1
    index = np.cumsum(index)
    sums, first = np.zeros(len(starts)), 0
    for part in stretches(losses):
        sums += np.bincount(index[first : first + len(part)], weights=per_token(part), minlength=len(starts))
        first += len(part)
    return sums / np.diff(np.append(starts, len(losses)))


def thinned(losses: TokenLosses, most: int, whole_documents: bool) -> TokenLosses:
    """Every j-th token, or every j-th document, so that about `most` tokens are left: enough to choose settings on."""
    every = math.ceil(len(losses) / most)
    if every <= 1:
        return losses
    if not whole_documents:
        return losses.part(slice(None, None, every))
    numbers = np.cumsum(np.concatenate([[0], np.diff(losses.documents) != 0]))
    return losses.part(numbers % every == 0)
