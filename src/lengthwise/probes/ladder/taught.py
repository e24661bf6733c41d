"""One pass over items with the true answer given: what a model would write at each place, and how sure it is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lengthwise.models.transformer import Transformer
from lengthwise.seeds import Floats, Ints
from lengthwise.tasks.batch import PAD, Batch, lengths_of, rows_of, trimmed

_CELLS = 2_000_000  # attention logits a chunk of items may have in one layer: small enough for the cache
_ROWS = 16  # rows of about the same length that are read together


@dataclass(frozen=True, eq=False)
class Taught:
    """All [items, tokens] and of meaning where `scored`: the token the model scores best, whether it is the true one,
    its probability, and the cross-entropy of the true one."""

    scored: NDArray[np.bool_]
    best: Ints
    hits: NDArray[np.bool_]
    confidence: Floats
    losses: Floats

    def first(self, count: int, width: int) -> Taught:
        """The first items alone, as wide as these are."""
        some = (slice(count), slice(width))
        return Taught(self.scored[some], self.best[some], self.hits[some], self.confidence[some], self.losses[some])

    @property
    def right(self) -> NDArray[np.bool_]:
        """Which items have no mistake, [items]: those that greedy decoding writes exactly."""
        return np.asarray((self.hits | ~self.scored).all(axis=1))

    @property
    def errors(self) -> Floats:
        """The share of wrong tokens of each item, [items]."""
        return (~self.hits & self.scored).sum(axis=1) / self.scored.sum(axis=1)

    @property
    def first_mistakes(self) -> Ints:
        """The place at which each item is first asked for a token and gives a wrong one; -1 where there is none."""
        wrong = ~self.hits & self.scored
        return np.where(wrong.any(axis=1), wrong.argmax(axis=1), -1)


@torch.no_grad()
def read_items(model: Transformer, batch: Batch, at: Tensor) -> Taught:
    """Read all rows, those of about the same length together. `at` [1, places] are positions for the longest row."""
    best = np.full(batch.scored.shape, PAD)
    confidence, losses = np.zeros(batch.scored.shape), np.zeros(batch.scored.shape)
    order = np.argsort(lengths_of(batch), kind="stable")
    most = _CELLS // (batch.scored.shape[1] ** 2 * model.architecture.heads)
    step = max(1, min(_ROWS, most))
    for start in range(0, len(order), step):
        rows = order[start : start + step]
        part = trimmed(rows_of(batch, rows))
        width = part.scored.shape[1]
        logits = model(torch.from_numpy(part.inputs), at=at[:, :width], scored=torch.from_numpy(part.scored))
        scores = logits.double().log_softmax(dim=-1)
        top = scores.max(dim=-1)
        truth = torch.from_numpy(part.targets[part.scored])
        where = (rows[:, None].repeat(width, axis=1)[part.scored], np.nonzero(part.scored)[1])
        best[where] = logits.argmax(dim=-1).numpy()
        confidence[where] = top.values.exp().numpy()
        losses[where] = -scores.gather(1, truth[:, None])[:, 0].numpy()
    return Taught(batch.scored, best, (best == batch.targets) & batch.scored, confidence, losses)
