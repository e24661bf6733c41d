"""A learned vector for every position."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lengthwise.errors import UsageError
from lengthwise.positions import positions
from lengthwise.positions.position import Position, Shape

if TYPE_CHECKING:
    from lengthwise.positions.networks.encoder import Encoder


@positions.register("learned", "ape")
@dataclass(frozen=True)
class Learned(Position):
    """A table with one trained vector a position, added to the embedding; rows 0 means as many as the test needs."""

    rows: int = 0
    shift_invariant = False
    beyond_training = False

    def check(self, shape: Shape) -> None:
        if 0 < self.rows < shape.rows:
            raise UsageError(
                f"a learned table of {self.rows} rows is too short for the {shape.rows} tokens of the test size; "
                "leave rows out, or test at smaller sizes"
            )

    def build(self, shape: Shape) -> Encoder:
        from lengthwise.positions.networks.tables import LearnedEncoder

        return LearnedEncoder(self.rows or shape.rows, shape.width)
