"""The capability `states`: the last hidden states of a model, in float64."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from lengthwise.models.transformer import Transformer


@dataclass(frozen=True, eq=False)
class HiddenStates:
    """`read` gives the states [B, T, W] of a batch of tokens [B, T]; `longest` is how many tokens it can read at once,
    None for any number."""

    read: Callable[[Tensor], Tensor]
    longest: int | None = None


def states_of_transformer(model: Transformer) -> HiddenStates:
    """The states behind the final norm, at the positions of testing."""
    model = copy.deepcopy(model).double()
    caught: list[Tensor] = []

    def catch(_module: object, _inputs: object, output: Tensor) -> None:
        caught.append(output)

    model.norm.register_forward_hook(catch)

    @torch.inference_mode()
    def read(batch: Tensor) -> Tensor:
        caught.clear()
        model(batch, at=model.architecture.position.indices(batch.shape[1], len(batch), model.shape, None, False))
        return caught[-1]

    return HiddenStates(read)


def states_of_huggingface(model: torch.nn.Module) -> HiddenStates:
    """The states of a model of `transformers` without its head, computed by its own code."""
    model = model.double()

    @torch.inference_mode()
    def read(batch: Tensor) -> Tensor:
        return model(input_ids=batch).last_hidden_state

    return HiddenStates(read, getattr(model.config, "max_position_embeddings", None))
