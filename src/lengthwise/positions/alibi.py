"""A penalty that grows with distance."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from lengthwise.positions import positions
from lengthwise.positions.distances import distances
from lengthwise.positions.position import Encoder, Position, Shape


@positions.register("alibi")
@dataclass(frozen=True)
class Alibi(Position):
    """A fixed penalty on every logit that grows linearly with distance (Press et al. 2022).

    Head h = 1, ..., H subtracts 2^(-8h/H) times the distance. The formula is used for any H; the authors' code departs
    from it where H is not a power of two. In an encoder the distance is taken without its sign, so that what stands
    before a token and what stands after it look the same.
    """

    shift_invariant = True
    beyond_training = True

    def build(self, shape: Shape) -> Encoder:
        return AlibiEncoder(shape.heads)


def slopes(heads: int) -> list[float]:
    """2^(-8h/H) for h = 1, ..., H."""
    return [2.0 ** (-8 * head / heads) for head in range(1, heads + 1)]


class AlibiEncoder(Encoder):
    slopes: Tensor

    def __init__(self, heads: int) -> None:
        super().__init__()
        self.register_buffer("slopes", torch.tensor(slopes(heads)), persistent=False)

    def bias(self, queries_at: Tensor, keys_at: Tensor) -> Tensor:
        return -self.slopes[:, None, None] * distances(queries_at, keys_at).abs()
