"""A stretch of data: some rows of tokens in reading order, laid out for a model, and the losses on it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from lengthwise.bounds.tokens.losses import TokenLosses
from lengthwise.guarantees.predictor import Predictor
from lengthwise.guarantees.statistics import Statistics, statistics_of
from lengthwise.seeds import Ints
from lengthwise.tasks.batch import Batch

TOKENS = 2048  # tokens of one forward pass: more is no faster on a processor, and takes more memory


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of one width. `documents` [rows] says whose they are; `order` [rows] where each stands in reading order."""

    batch: Batch
    documents: Ints
    order: Ints


@dataclass(frozen=True, eq=False)
class Stretch:
    """Rows that follow each other in the data; those of a width are together, so `Rows.order` puts them in order."""

    rows: tuple[Rows, ...]

    @property
    def tokens(self) -> int:
        """How many tokens are predicted."""
        return sum(int(rows.batch.scored.sum()) for rows in self.rows)

    def digest(self) -> str:
        """What is read and what is asked of it, whatever file, tokenizer or task it came from. O(bytes)."""
        found = hashlib.sha256()
        for rows in self.rows:
            for array in (rows.batch.inputs, rows.batch.targets, rows.batch.scored, rows.documents, rows.order):
                found.update(f"{array.dtype} {array.shape} ".encode())
                found.update(np.ascontiguousarray(array).data)
        return found.hexdigest()


def losses_on(
    predictor: Predictor, stretch: Stretch, reached: Callable[[int], None] | None = None
) -> tuple[Statistics, Ints]:
    """The statistics of every predicted token and its document, in reading order; `reached` hears of the tokens done.

    O(tokens x (parameters + depth x T x width)) for rows of T tokens. A model that looks only at what came before never
    sees what fills a row up at its right.
    """
    parts: list[Statistics] = []
    documents: list[Ints] = []
    order: list[Ints] = []
    for rows in stretch.rows:
        at_once = max(1, TOKENS // rows.batch.inputs.shape[1])
        for first in range(0, len(rows.documents), at_once):
            some = slice(first, first + at_once)
            parts.append(_on_batch(predictor, rows.batch, some))
            row = np.nonzero(rows.batch.scored[some])[0]
            documents.append(rows.documents[some][row])
            order.append(rows.order[some][row])
            if reached:
                reached(len(row))
    sorted_by = np.argsort(np.concatenate(order), kind="stable")  # tokens of a row keep their order
    columns = (np.concatenate(column)[sorted_by] for column in zip(*parts, strict=True))
    return Statistics(*columns), np.concatenate(documents)[sorted_by]


@torch.no_grad()
def _on_batch(predictor: Predictor, batch: Batch, some: slice) -> Statistics:
    scored = batch.scored[some]
    states = predictor.states(torch.from_numpy(batch.inputs[some]), torch.from_numpy(scored))
    return statistics_of(predictor, states, torch.from_numpy(batch.targets[some][scored].astype(np.int64)))


def token_losses(found: Sequence[tuple[Statistics, Ints]], vocabulary: int) -> TokenLosses:
    """Several stretches as one record, in double precision."""
    columns = (np.concatenate([getattr(part, name) for part, _ in found]) for name in Statistics._fields)
    surprise, entropy, rank, mass = columns
    documents = np.concatenate([numbers for _, numbers in found])
    return TokenLosses(
        surprise.astype(np.float64),
        entropy.astype(np.float64),
        rank.astype(np.int64),
        mass.astype(np.float64),
        documents,
        vocabulary,
    )
