"""Fixed sines and cosines of the position."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lengthwise.errors import UsageError
from lengthwise.positions import positions
from lengthwise.positions.position import Position, Shape

if TYPE_CHECKING:
    from lengthwise.positions.networks.encoder import Encoder


@positions.register("sinusoidal")
@dataclass(frozen=True)
class Sinusoidal(Position):
    """Fixed sines and cosines of the position, added to the embedding (Vaswani et al. 2017).

    Interleaved: columns 2k and 2k + 1 are the sine and the cosine of position x base^(-2k / width), times scale x √2.
    `scale` is thus the root mean square of a coordinate. Its default is the standard deviation with which token
    embeddings (and the rows of `learned`) start: the sum is normalised before it is read, so it is the ratio that
    counts, and at amplitude 1, as in the paper, a fresh token would be one part in 35 of what the first layer sees.
    """

    base: float = 10000.0
    scale: float = 0.02
    shift_invariant = False
    beyond_training = True

    def __post_init__(self) -> None:
        if not self.base > 1 or not self.scale > 0:
            raise UsageError(
                f"sinusoidal needs a base above 1 and a scale above 0, not base {self.base} and scale {self.scale}"
            )

    def build(self, shape: Shape) -> Encoder:
        from lengthwise.positions.networks.tables import SinusoidalEncoder

        return SinusoidalEncoder(shape.width, self.base, self.scale)
