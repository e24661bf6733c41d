"""Learned penalties that grow with the logarithm or with a power of distance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from lengthwise.positions import positions
from lengthwise.positions.position import Position, Shape

if TYPE_CHECKING:
    from lengthwise.positions.networks.encoder import Encoder


@positions.register("kerple")
@dataclass(frozen=True)
class Kerple(Position):
    """A learned penalty a head: r1 ln(1 + r2 distance), or r1 distance^r2 (Chi et al. 2022).

    r1 > 0 and r2 > 0, and r2 < 2 for the power, by their parametrisation: the kernels that give these penalties are
    conditionally positive definite. Both start with r2 = 1; the logarithm with r1 spread evenly over the heads between
    0 and 1, the power with the slopes of ALiBi, which it then equals. In an encoder the distance has no sign.
    """

    variant: Literal["log", "power"] = "log"
    shift_invariant = True
    beyond_training = True

    def build(self, shape: Shape) -> Encoder:
        from lengthwise.positions.networks.biases import LogEncoder, PowerEncoder

        return LogEncoder(shape.heads) if self.variant == "log" else PowerEncoder(shape.heads)
