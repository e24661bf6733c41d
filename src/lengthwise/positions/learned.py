"""A learned vector for every position."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from lengthwise.errors import OutOfPositions, UsageError
from lengthwise.positions import positions
from lengthwise.positions.position import Encoder, Position, Shape


@positions.register("learned", "ape")
@dataclass(frozen=True)
class Learned(Position):
    """A table with one trained vector a position, added to the embedding; rows 0 means as many as the test needs."""

    rows: int = 0
    shift_invariant = False
    beyond_training = False

    def build(self, shape: Shape) -> Encoder:
        if 0 < self.rows < shape.rows:
            raise UsageError(
                f"a learned table of {self.rows} rows is too short for the {shape.rows} tokens of the test size; "
                "leave rows out, or test at smaller sizes"
            )
        return LearnedEncoder(self.rows or shape.rows, shape.width)


class LearnedEncoder(Encoder):
    def __init__(self, rows: int, width: int) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.randn(rows, width) * 0.02)

    def embed(self, at: Tensor) -> Tensor:
        if int(at.max()) >= len(self.table):
            raise OutOfPositions(
                f"the learned table has {len(self.table)} positions, too few for {int(at.max()) + 1} tokens; "
                "train with a larger test size"
            )
        return self.table[at]
