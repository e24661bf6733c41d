"""A penalty that grows with distance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lengthwise.positions import positions
from lengthwise.positions.position import Position, Shape

if TYPE_CHECKING:
    from lengthwise.positions.networks.encoder import Encoder


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
        from lengthwise.positions.networks.biases import AlibiEncoder

        return AlibiEncoder(shape.heads)
