"""What is kept of every predicted token: enough for every bound, at any smoothing, without the model; and means of
it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lengthwise.bounds.tokens.inequalities import Ends, step_grid
from lengthwise.errors import UsageError
from lengthwise.seeds import Floats, Ints

KS = (1, 5, 10)  # the k of the top-k errors that are kept
SAMPLE_STEPS = 16  # the steps of the product inequality for a sample, all paid for
STRETCH = 1 << 18  # tokens that are read at once
_COLUMNS = ("surprise", "entropy", "rank", "mass", "documents")


@dataclass(frozen=True, eq=False)
class TokenLosses:
    """The predictions of n tokens, in the order in which they were read.

    surprise    [n]      -ln p(token), of the model as it is: smoothing is applied afterwards
    entropy     [n]      the model's own expected surprise, known before the token is seen
    rank        [n]      how many tokens of the vocabulary were at least as likely, the token itself left out
    mass        [n, 3]   the probability that the model gave to its k likeliest tokens, k = 1, 5, 10
    documents   [n]      the number of the document a token belongs to; ascending
    vocabulary           V, how many tokens there are to choose from
    """

    surprise: Floats
    entropy: Floats
    rank: Ints
    mass: NDArray[np.float64]
    documents: Ints
    vocabulary: int

    def __post_init__(self) -> None:
        n = len(self.surprise)
        shapes = {"entropy": (n,), "rank": (n,), "mass": (n, len(KS)), "documents": (n,)}
        for name, shape in shapes.items():
            if getattr(self, name).shape != shape:
                raise UsageError(f"{name} has the shape {getattr(self, name).shape} where {shape} is needed")
        if self.vocabulary < 2:
            raise UsageError(f"a vocabulary must have 2 tokens or more, not {self.vocabulary}")
        if n and not (np.min(self.surprise) >= 0 and np.min(self.entropy) >= 0 and np.min(self.rank) >= 0):
            raise UsageError("surprises, entropies and ranks are 0 or more, and not NaN")
        if n and not (np.min(self.mass) >= 0 and np.max(self.mass) <= 1 + 1e-6):
            raise UsageError("the mass of the likeliest tokens is a probability, between 0 and 1, and not NaN")
        if np.any(np.diff(self.documents) < 0):
            raise UsageError("the numbers of documents ascend: tokens of one document stand together, in order")

    def __len__(self) -> int:
        return len(self.surprise)

    def part(self, which: slice | NDArray[np.bool_]) -> TokenLosses:
        """Some of the tokens, in their order."""
        return TokenLosses(*(getattr(self, name)[which] for name in _COLUMNS), vocabulary=self.vocabulary)

    @property
    def starts(self) -> Ints:
        """Where each document begins."""
        return np.flatnonzero(np.append(True, np.diff(self.documents))) if len(self) else np.zeros(0, dtype=np.int64)

    @property
    def lengths(self) -> Ints:
        """How many tokens each document has."""
        return np.diff(np.append(self.starts, len(self)))

    @property
    def numbers(self) -> Ints:
        """The documents of the tokens, counted from 0 without gaps."""
        return np.repeat(np.arange(len(self.starts)), self.lengths)

    def smoothed(self, alpha: float) -> Floats:
        """-ln((1 - α) p + α / V) of every token: at most ln(V / α), whatever the model."""
        return -np.log((1 - alpha) * np.exp(-self.surprise) + alpha / self.vocabulary)

    def errors(self, k: int) -> NDArray[np.bool_]:
        """Whether each token was missing among the k likeliest; a tie counts against the model."""
        return self.rank >= k


def joined(parts: Iterable[TokenLosses]) -> TokenLosses:
    """Several stretches of the same data as one."""
    several = list(parts)
    if not several:
        raise UsageError("there is no loss to join; at least one stretch of tokens is needed")
    if len({part.vocabulary for part in several}) > 1:
        raise UsageError("the stretches come from models with different vocabularies")
    columns = (np.concatenate([getattr(part, name) for part in several]) for name in _COLUMNS)
    return TokenLosses(*columns, vocabulary=several[0].vocabulary)


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
    starts, numbers = losses.starts, losses.numbers
    sums, first = np.zeros(len(starts)), 0
    for part in stretches(losses):
        sums += np.bincount(numbers[first : first + len(part)], weights=per_token(part), minlength=len(starts))
        first += len(part)
    return sums / losses.lengths


def thinned(losses: TokenLosses, most: int, whole_documents: bool) -> TokenLosses:
    """Every j-th token, or every j-th document, so that about `most` tokens are left: enough to choose settings on."""
    every = math.ceil(len(losses) / most)
    if every <= 1:
        return losses
    if not whole_documents:
        return losses.part(slice(None, None, every))
    return losses.part(losses.numbers % every == 0)
