"""No position encoding at all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lengthwise.positions import positions
from lengthwise.positions.position import Position, Shape

if TYPE_CHECKING:
    from lengthwise.positions.networks.encoder import Encoder


@positions.register("none", "nope")
@dataclass(frozen=True)
class NoPosition(Position):
    """Nothing is added; a causal model still knows how many tokens it has seen."""

    shift_invariant = True
    beyond_training = True

    def build(self, shape: Shape) -> Encoder:  # noqa: ARG002
        from lengthwise.positions.networks.encoder import Encoder

        return Encoder()
