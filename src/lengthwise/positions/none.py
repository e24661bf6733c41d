"""No position encoding at all."""

from __future__ import annotations

from dataclasses import dataclass

from lengthwise.positions import positions
from lengthwise.positions.position import Encoder, Position, Shape


@positions.register("none", "nope")
@dataclass(frozen=True)
class NoPosition(Position):
    """Nothing is added; a causal model still knows how many tokens it has seen."""

    shift_invariant = True
    beyond_training = True

    def build(self, shape: Shape) -> Encoder:  # noqa: ARG002
        return Encoder()
