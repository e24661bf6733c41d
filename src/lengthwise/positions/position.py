"""The contract of a position encoding: how a token knows where it is.

An encoding acts in one or more of three places: it adds a vector to the embedding (`embed`), it transforms queries and
keys (`rotate`), or it adds to the attention logits (`bias`). It is two objects: a `Position`, which is settings, and
the `Encoder` it builds for a model of a given shape, which holds the parameters.
"""

from __future__ import annotations

import abc
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from lengthwise.seeds import Seeds


@dataclass(frozen=True)
class Shape:
    """What an encoding may know of its model. `rows`: the longest sequence the model is meant for, in tokens;
    `trained`: the longest it is trained on; `causal`: whether a token sees only what came before it."""

    width: int
    heads: int
    rows: int
    trained: int
    causal: bool = True

    @property
    def head_width(self) -> int:
        return self.width // self.heads


class Encoder(nn.Module):
    """The encoding inside a model; every method has the default of doing nothing.

    `at` holds positions, [items or 1, tokens], whole numbers that need not start at 0. One encoder serves all layers.
    """

    def embed(self, at: Tensor) -> Tensor | None:  # noqa: ARG002
        """What is added to the token embeddings, [items or 1, tokens, width]."""
        return None

    def rotate(self, x: Tensor, at: Tensor) -> Tensor:  # noqa: ARG002
        """Queries or keys [items, heads, tokens, head width], transformed by their positions."""
        return x

    def bias(self, queries_at: Tensor, keys_at: Tensor) -> Tensor | None:  # noqa: ARG002
        """What is added to the logits, [items or 1, heads, queries, keys]."""
        return None

    def scores(self, q: Tensor, k: Tensor, queries_at: Tensor, keys_at: Tensor, index: Tensor) -> Tensor | None:  # noqa: ARG002
        """All of q·k where it is not a product of rotated vectors; None where it is. `index`: the queries' places in
        the sequence, counted from 0."""
        return None


class Position(abc.ABC):
    """A position encoding. A subclass is a frozen dataclass of settings that declares what it promises:

    `shift_invariant`   moving all tokens on by a constant, in position and in place, changes no logit;
    `beyond_training`   it is defined at every position; if not, it ends somewhere and says so by a `UsageError`.

    `check_position` in `lengthwise.testing` compares the declaration with what the encoder does.
    """

    shift_invariant: bool
    beyond_training: bool

    @abc.abstractmethod
    def build(self, shape: Shape) -> Encoder:
        """The encoder for a model of this shape, with fresh parameters."""

    def indices(self, length: int, items: int, shape: Shape, seeds: Seeds | None, training: bool) -> Tensor:  # noqa: ARG002
        """The positions of a batch, [items or 1, length]. `seeds` None asks for the deterministic choice."""
        return torch.arange(length)[None]
