"""A learned bias for every bucket of distances."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lengthwise.errors import UsageError
from lengthwise.positions import positions
from lengthwise.positions.position import Position, Shape

if TYPE_CHECKING:
    from lengthwise.positions.networks.encoder import Encoder


@positions.register("t5")
@dataclass(frozen=True)
class T5(Position):
    """A learned bias a head for every bucket of distances, wider when further away (Raffel et al. 2020).

    In a decoder half of the buckets hold one distance each and the other half grow geometrically up to `furthest`;
    the last takes everything beyond. In an encoder keys before and keys after the query have half of the buckets each.
    """

    buckets: int = 32
    furthest: int = 128
    shift_invariant = True
    beyond_training = True

    def __post_init__(self) -> None:
        if self.buckets < 4 or self.buckets % 2:
            raise UsageError(f"t5 needs an even number of buckets, 4 or more, not {self.buckets}")
        if self.furthest <= self.buckets // 2:
            raise UsageError(
                f"t5 with {self.buckets} buckets needs a furthest distance above {self.buckets // 2}, "
                f"not {self.furthest}"
            )

    def build(self, shape: Shape) -> Encoder:
        from lengthwise.positions.networks.biases import T5Encoder

        return T5Encoder(shape.heads, self.buckets, self.furthest, shape.causal)
