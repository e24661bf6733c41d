"""Where tokens come from: a stream of stretches that is the same each time it is asked for, and what is known of it."""

from __future__ import annotations

import abc
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from lengthwise.probes.guarantee.losses import Stretch
from lengthwise.records import Assumption, Kind
from lengthwise.tasks.batch import Batch


@dataclass(frozen=True)
class DataStanding:
    """What the data are to the model, and so what a bound made from them is.

    kind                  certified, predicted or heuristic
    of_data               what every bound assumes of the data
    of_documents          and what a bound that counts documents assumes
    tokens, documents     the size of the training set of which the data are a uniform sample; None: they are all of it
    drawn                 whether the sample was drawn here, by chance
    tokens_alone          whether tokens are a sample one by one, because there are no documents
    """

    kind: Kind
    of_data: tuple[Assumption, ...]
    of_documents: tuple[Assumption, ...]
    tokens: int | None = None
    documents: int | None = None
    drawn: bool = False
    tokens_alone: bool = False


class TokenSource(abc.ABC):
    """Data in reading order. `described` is for people; `settings` decide what is read, and go into the digest."""

    described: str
    settings: dict[str, object]
    standing: DataStanding
    documents: int  # how many there are to read
    expected: int | None  # predicted tokens, where that is known before reading

    @abc.abstractmethod
    def stretches(self, tokens: int) -> Iterator[Stretch]:
        """The data in stretches of about this many predicted tokens, the same at every call."""


def limited(stretches: Iterator[Stretch], limit: int | None) -> Iterator[Stretch]:
    """The first `limit` predicted tokens of a stream."""
    left = limit
    for stretch in stretches:
        if left is None or stretch.tokens <= left:
            yield stretch
            left = None if left is None else left - stretch.tokens
        elif left:
            yield _cut(stretch, left)
            return
        if left == 0:
            return


def _cut(stretch: Stretch, most: int) -> Stretch:
    """The first `most` predicted tokens in reading order."""
    order = np.concatenate([rows.order for rows in stretch.rows])
    counts = np.concatenate([rows.batch.scored.sum(axis=1) for rows in stretch.rows])
    before = np.empty_like(counts)
    before[np.argsort(order, kind="stable")] = np.cumsum(counts[np.argsort(order, kind="stable")])
    left = np.clip(most - (before - counts), 0, counts)  # how many tokens each row keeps
    kept, first = [], 0
    for rows in stretch.rows:
        some = left[first : first + len(rows.order)]
        first += len(rows.order)
        batch = rows.batch
        scored = batch.scored & (batch.scored.cumsum(axis=1) <= some[:, None])
        whole = some > 0
        if whole.any():
            less = Batch(batch.inputs[whole], batch.targets[whole], scored[whole])
            kept.append(replace(rows, batch=less, documents=rows.documents[whole], order=rows.order[whole]))
    return Stretch(tuple(kept))
