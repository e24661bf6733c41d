"""Batches as tensors, and what a model gets right on them."""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from lengthwise.models.network import Network
from lengthwise.models.placed import home
from lengthwise.seeds import Ints, Seeds
from lengthwise.tasks.batch import Batch
from lengthwise.tasks.task import Task


@dataclass(frozen=True)
class Right:
    """How much of a batch a model got right: by item and by token, with the loss of every scored position."""

    items: Tensor  # bool [items]
    tokens: Tensor  # bool [scored], or [items x outputs] for numbers
    loss: Tensor  # mean over what was scored


def positions_of(model: Network, task: Task, tokens: Ints, seeds: Seeds | None, training: bool = False) -> Tensor:
    """The positions of tokens [items, places] of a task, [items or 1, places]."""
    if model.position.from_task:
        return torch.from_numpy(model.position.place(task.ids_of(tokens), model.shape, seeds, training))
    items, places = tokens.shape
    return model.position.indices(places, items, model.shape, seeds, training)


def logits_of(model: Network, task: Task, batch: Batch, seeds: Seeds | None, training: bool) -> Tensor:
    """The model's outputs at the scored positions of a batch, [scored, outputs]."""
    there = home(model)
    at = positions_of(model, task, batch.inputs, seeds, training).to(there)
    return model(torch.from_numpy(batch.inputs).to(there), at=at, scored=torch.from_numpy(batch.scored).to(there))


def loss_of(task: Task, logits: Tensor, batch: Batch) -> Tensor:
    """Cross-entropy on answer positions; squared error for numbers."""
    if task.readout == "numbers":
        return F.mse_loss(logits, torch.from_numpy(batch.targets).to(logits))
    return F.cross_entropy(logits, torch.from_numpy(batch.targets[batch.scored]).to(logits.device))


@torch.no_grad()
def right_on(model: Network, task: Task, batch: Batch, seeds: Seeds | None = None) -> Right:
    """What the model gets right when it is fed the true answer so far: one forward pass.

    An item is right when the best-scored token is right at every answer position. That is so exactly when greedy
    decoding writes the answer, because up to the first mistake greedy decoding has read the true answer too.
    """
    logits = logits_of(model, task, batch, seeds, training=False).cpu()
    loss = loss_of(task, logits, batch)
    if task.readout == "numbers":
        close = (logits - torch.from_numpy(batch.targets)).abs() <= task.tolerance
        return Right(close.all(dim=1), close.flatten(), loss)
    hits = logits.argmax(dim=-1) == torch.from_numpy(batch.targets[batch.scored])
    by_place = torch.ones(batch.scored.shape, dtype=torch.bool)
    by_place[torch.from_numpy(batch.scored)] = hits
    return Right(by_place.all(dim=1), hits, loss)
