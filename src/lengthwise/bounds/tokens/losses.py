"""What is kept of every token that a model predicted: enough for every bound, at any smoothing, without the model."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lengthwise.errors import UsageError
from lengthwise.seeds import Floats, Ints

KS = (1, 5, 10)  # the k of the top-k errors that are kept


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
            raise UsageError(f"a vocabulary has 2 tokens or more, not {self.vocabulary}")
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
        names = ("surprise", "entropy", "rank", "mass", "documents")
        return TokenLosses(*(getattr(self, name)[which] for name in names), vocabulary=self.vocabulary)

    @property
    def starts(self) -> Ints:
        """Where each document begins."""
        if not len(self):
            return np.zeros(0, dtype=np.int64)
        return np.flatnonzero(np.concatenate([[True], np.diff(self.documents) != 0]))

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
        raise UsageError("there is no loss to join; one stretch of tokens is needed at least")
    if len({part.vocabulary for part in several}) > 1:
        raise UsageError("the stretches come from models with different vocabularies")
    return TokenLosses(
        *(
            np.concatenate([getattr(part, name) for part in several])
            for name in ("surprise", "entropy", "rank", "mass")
        ),
        documents=np.concatenate([part.documents for part in several]),
        vocabulary=several[0].vocabulary,
    )
