"""Random offsets during training, so that every row of a table is trained."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lengthwise.positions import wrappers
from lengthwise.positions.none import NoPosition
from lengthwise.positions.position import Position, Shape

if TYPE_CHECKING:
    from lengthwise.positions.networks.encoder import Encoder
    from lengthwise.seeds import Ints, Seeds


@wrappers.register("offset")
@dataclass(frozen=True)
class Offset(Position):
    """In training every item starts at a random position; in testing at position 0 (Huang et al. 2025).

    The offset is uniform over all that keep the item inside the `rows` the model is meant for. (As published it goes up
    to the longest test, from a table that goes on beyond that; what this changes is in docs/log.md.)
    """

    base: Position = NoPosition()

    @property
    def shift_invariant(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self.base.shift_invariant

    @property
    def beyond_training(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self.base.beyond_training

    def check(self, shape: Shape) -> None:
        self.base.check(shape)

    def build(self, shape: Shape) -> Encoder:
        return self.base.build(shape)

    def choose(self, length: int, items: int, shape: Shape, seeds: Seeds | None, training: bool) -> Ints:
        at = self.base.choose(length, items, shape, seeds, training)
        if not training or seeds is None:
            return at
        room = max(shape.rows - 1 - int(at.max()), 0)
        return at + seeds.draws("offset", items=range(items)).integers(0, room + 1, 1)
