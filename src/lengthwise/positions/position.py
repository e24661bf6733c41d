"""The contract of a position encoding: how a token knows where it is.

An encoding acts in one or more of three places: it adds a vector to the embedding (`embed`), it transforms queries and
keys (`rotate`), or it adds to the attention logits (`bias`). It is two objects: a `Position`, which is settings and
does not need torch, and the `Encoder` it builds for a model of a given shape, which holds the parameters.
"""

from __future__ import annotations

import abc
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor

    from lengthwise.positions.networks.encoders import Encoder
    from lengthwise.seeds import Floats, Ints, Seeds


@dataclass(frozen=True)
class Shape:
    """What an encoding may know about its model. `rows`: the longest sequence the model is meant for, in tokens;
    `trained`: the longest it is trained on; `causal`: whether a token sees only what came before it."""

    width: int
    heads: int
    rows: int
    trained: int
    causal: bool = True

    @property
    def head_width(self) -> int:
        return self.width // self.heads


class Position(abc.ABC):
    """A position encoding. A subclass is a frozen dataclass of settings that declares what it promises:

    `shift_invariant`   moving all tokens on by a constant, in position and in place, changes no logit;
    `beyond_training`   it is defined at every position; if not, it ends somewhere and says so by a `UsageError`;
    `real`              it is defined at real positions, not at whole ones alone (no, unless it says so);
    `from_task`         its positions come from the ids that a task gives its tokens: `place` is asked for them, and
                        `choose` refuses (no, unless it says so).

    `check_position` in `lengthwise.testing` compares the declaration with what the encoder does.
    """

    shift_invariant: bool
    beyond_training: bool
    real: bool = False
    from_task: bool = False

    def check(self, shape: Shape) -> None:  # noqa: B027
        """Refuse, with a `UsageError`, a model that the encoding does not fit; `build` is then not called."""

    @abc.abstractmethod
    def build(self, shape: Shape) -> Encoder:
        """The encoder for a model of this shape, with fresh parameters."""

    def choose(self, length: int, items: int, shape: Shape, seeds: Seeds | None, training: bool) -> Ints | Floats:  # noqa: ARG002
        """The positions of a batch, [items or 1, length]. `seeds` None asks for the deterministic choice."""
        import numpy as np

        return np.arange(length)[None]

    def place(self, ids: Ints, shape: Shape, seeds: Seeds | None, training: bool) -> Ints:
        """The positions of tokens [items, tokens] to which a task gives `ids`; the first token of a row is `<bos>`."""
        raise NotImplementedError(f"{type(self).__name__} takes its positions from the task and lacks `place`")

    def indices(self, length: int, items: int, shape: Shape, seeds: Seeds | None, training: bool) -> Tensor:
        """The positions that `choose` gives, as a tensor; reals in float32."""
        import torch

        at = torch.from_numpy(self.choose(length, items, shape, seeds, training))
        return at.float() if at.is_floating_point() else at
