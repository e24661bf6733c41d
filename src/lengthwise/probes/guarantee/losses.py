"""Losses of a model on a stretch of data: some rows of tokens in reading order, laid out for a model."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lengthwise.bounds.tokens.losses import KS, TokenLosses
from lengthwise.errors import LengthwiseError
from lengthwise.seeds import Ints
from lengthwise.subjects.predictor import Predictor
from lengthwise.tasks.batch import Batch

TOKENS = 2048  # tokens of one forward pass: more is no faster on a processor, and takes more memory
CELLS = 1 << 23  # logits that exist at once: 64 megabytes


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of one width. `documents` [rows] says whose they are; `order` [rows] their place in reading order."""

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


class TokenStatistics(NamedTuple):
    """Surprise [n] and entropy [n] in nats, rank [n], mass of the k likeliest [n, 3]."""

    surprise: NDArray[np.float32]
    entropy: NDArray[np.float32]
    rank: NDArray[np.int32]
    mass: NDArray[np.float32]


def losses_on(
    predictor: Predictor, stretch: Stretch, reached: Callable[[int], None] | None = None
) -> tuple[TokenStatistics, Ints]:
    """The statistics of every predicted token and its document, in reading order; `reached` hears of the tokens done.

    O(tokens x (parameters + depth x T x width)) for rows of T tokens. A model that looks only at what came before never
    sees what fills a row up at its right.
    """
    parts: list[TokenStatistics] = []
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
    return TokenStatistics(*columns), np.concatenate(documents)[sorted_by]


@torch.no_grad()
def _on_batch(predictor: Predictor, batch: Batch, some: slice) -> TokenStatistics:
    scored = batch.scored[some]
    states = predictor.states(torch.from_numpy(batch.inputs[some]), torch.from_numpy(scored))
    return _statistics_of(predictor, states, torch.from_numpy(batch.targets[some][scored].astype(np.int64)))


@torch.no_grad()
def _statistics_of(predictor: Predictor, states: Tensor, targets: Tensor) -> TokenStatistics:
    """What the model said of each target. O(n W V) work for the logits, O(CELLS) memory whatever n and V."""
    rows = max(1, CELLS // predictor.vocabulary)
    parts = [
        _some(predictor.logits(states[first : first + rows]), targets[first : first + rows])
        for first in range(0, len(targets), rows)
    ]
    return TokenStatistics(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def _some(logits: Tensor, targets: Tensor) -> TokenStatistics:
    # In double precision: in single, surprises over 50,000 tokens came out 2e-5 nats too small, not only rounded.
    log_p = logits.double().log_softmax(dim=-1)
    at = targets[:, None]
    asked = log_p.gather(1, at)
    if bool(torch.isnan(asked).any()):
        raise LengthwiseError("the model gives NaN where a probability is wanted; its weights are too large to be run")
    p = log_p.exp()
    entropy = torch.special.entr(p).sum(dim=1)
    # A tie counts against the model: those as likely as the token stand before it.
    rank = (logits >= logits.gather(1, at)).sum(dim=1) - 1
    most = p.topk(min(max(KS), p.shape[1]), dim=1).values.cumsum(dim=1)
    mass = torch.stack([most[:, min(k, most.shape[1]) - 1] for k in KS], dim=1).clamp(max=1.0)
    return TokenStatistics(
        (-asked[:, 0]).clamp(min=0).float().numpy(),
        entropy.clamp(min=0).float().numpy(),
        rank.to(torch.int32).numpy(),
        mass.float().numpy(),
    )


def token_losses(found: Sequence[tuple[TokenStatistics, Ints]], vocabulary: int) -> TokenLosses:
    """Several stretches as one record, in double precision."""
    columns = (np.concatenate([getattr(part, name) for part, _ in found]) for name in TokenStatistics._fields)
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
