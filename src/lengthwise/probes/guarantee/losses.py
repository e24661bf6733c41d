"""Losses of a model on a stretch of data: some rows of tokens in reading order, laid out for a model."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lengthwise.bounds.tokens.losses import KS, TokenLosses
from lengthwise.errors import UsageError
from lengthwise.models.placed import precise
from lengthwise.seeds import Ints
from lengthwise.subjects.predictor import Predictor
from lengthwise.tasks.batch import Batch, rows_of

TOKENS = 2048  # tokens of one forward pass: more is no faster on a processor, and takes more memory
CELLS = 1 << 23  # logits that exist at once: 64 megabytes


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of one width. `documents` [rows] says whose they are; `order` [rows] their place in reading order."""

    batch: Batch
    documents: Ints
    order: Ints

    def some(self, which: Ints | slice) -> Rows:
        return Rows(rows_of(self.batch, which), self.documents[which], self.order[which])


@dataclass(frozen=True, eq=False)
class Stretch:
    """Rows that follow each other in the data; those of a width are together, so `Rows.order` puts them in order."""

    rows: tuple[Rows, ...]

    @property
    def tokens(self) -> int:
        """How many tokens are predicted."""
        return sum(int(rows.batch.scored.sum()) for rows in self.rows)

    def passes(self) -> Iterator[Rows]:
        """As many rows at a time as one forward pass takes."""
        for rows in self.rows:
            at_once = max(1, TOKENS // rows.batch.inputs.shape[1])
            for first in range(0, len(rows.documents), at_once):
                yield rows.some(slice(first, first + at_once))

    def digest(self) -> str:
        """What is read and what is asked of it, whatever file, tokenizer or task it came from. O(bytes)."""
        found = hashlib.sha256()
        for rows in self.rows:
            for array in (rows.batch.inputs, rows.batch.targets, rows.batch.scored, rows.documents, rows.order):
                found.update(f"{array.dtype} {array.shape} ".encode())
                found.update(np.ascontiguousarray(array).data)
        return found.hexdigest()


class TokenStatistics(NamedTuple):
    """Surprise [n] and entropy [n] in nats, rank [n], mass of the k likeliest [n, 3], number of the document [n]."""

    surprise: NDArray[np.float32]
    entropy: NDArray[np.float32]
    rank: NDArray[np.int32]
    mass: NDArray[np.float32]
    documents: Ints


def _joined(parts: Iterable[TokenStatistics]) -> TokenStatistics:
    return TokenStatistics(*map(np.concatenate, zip(*parts, strict=True)))


@torch.no_grad()
def losses_on(
    predictor: Predictor, stretch: Stretch, reached: Callable[[int], None] = lambda _: None
) -> TokenStatistics:
    """The statistics of every predicted token, in reading order; `reached` hears of the tokens done.

    O(tokens x (parameters + depth x T x width)) for rows of T tokens. A model that looks only at what came before never
    sees what fills a row up at its right.
    """
    parts, order = [], []
    for rows in stretch.passes():
        batch, row = rows.batch, np.nonzero(rows.batch.scored)[0]
        states = predictor.states(torch.from_numpy(batch.inputs), torch.from_numpy(batch.scored))
        targets = torch.from_numpy(batch.targets[batch.scored].astype(np.int64))
        parts.append(_statistics_of(predictor, states, targets, rows.documents[row]))
        order.append(rows.order[row])
        reached(len(row))
    sorted_by = np.argsort(np.concatenate(order), kind="stable")  # tokens of a row keep their order
    return TokenStatistics._make(column[sorted_by] for column in _joined(parts))


@torch.no_grad()
def _statistics_of(predictor: Predictor, states: Tensor, targets: Tensor, documents: Ints) -> TokenStatistics:
    """What the model said of each target. O(n W V) work for the logits, O(CELLS) memory whatever n and V."""
    rows = max(1, CELLS // predictor.vocabulary)
    chunks = [slice(first, first + rows) for first in range(0, len(targets), rows)]
    return _joined(_some(predictor.logits(states[some]), targets[some], documents[some]) for some in chunks)


def _some(logits: Tensor, targets: Tensor, documents: Ints) -> TokenStatistics:
    # In double precision: in single, surprises over 50,000 tokens came out 2e-5 nats too small, not only rounded.
    logits = precise(logits)
    log_p, at = logits.log_softmax(dim=-1), targets.to(logits.device)[:, None]
    asked = log_p.gather(1, at)
    if bool(torch.isnan(asked).any()):
        raise UsageError("the model gives NaN where a probability is expected; its weights are too large to be run")
    p = log_p.exp()
    entropy = torch.special.entr(p).sum(dim=1)
    # A tie counts against the model: those as likely as the token stand before it.
    rank = (logits >= logits.gather(1, at)).sum(dim=1) - 1
    most = p.topk(min(max(KS), p.shape[1]), dim=1).values.cumsum(dim=1)
    mass = torch.stack([most[:, min(k, most.shape[1]) - 1] for k in KS], dim=1).clamp(max=1.0)
    return TokenStatistics(
        (-asked[:, 0]).clamp(min=0).float().cpu().numpy(),
        entropy.clamp(min=0).float().cpu().numpy(),
        rank.to(torch.int32).cpu().numpy(),
        mass.float().cpu().numpy(),
        documents,
    )


def token_losses(found: Iterable[TokenStatistics], vocabulary: int) -> TokenLosses:
    """Several stretches as one record, in double precision."""
    whole = _joined(found)
    surprise, entropy, mass = (column.astype(np.float64) for column in (whole.surprise, whole.entropy, whole.mass))
    return TokenLosses(surprise, entropy, whole.rank.astype(np.int64), mass, whole.documents, vocabulary)
