"""Random increasing positions out of a much larger range than any sequence needs."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lengthwise.errors import OutOfPositions, UsageError
from lengthwise.positions import wrappers
from lengthwise.positions.none import NoPosition
from lengthwise.positions.position import Position, Shape

if TYPE_CHECKING:
    from lengthwise.positions.networks.encoder import Encoder
    from lengthwise.seeds import Ints, Seeds


@wrappers.register("randomized")
@dataclass(frozen=True)
class Randomized(Position):
    """A sequence takes a random increasing choice of `limit` positions, also in testing (Ruoss et al. 2023).

    The choice is one a batch and not one an item, since a bias would otherwise be as many times larger as there are
    items. Without seeds the positions are evenly spaced over the range. The base is built for a model that is trained
    on sequences of `limit` tokens, as there is no position it would not meet in training; so what it derives from the
    trained length (RoPE's original length, FIRE's threshold) comes from the limit. No position lies beyond it, and
    a longer sequence is refused.
    """

    base: Position = NoPosition()
    limit: int = 2048
    beyond_training = False

    def __post_init__(self) -> None:
        if self.limit < 1:
            raise UsageError(f"randomized needs a limit of 1 or more, not {self.limit}")

    @property
    def shift_invariant(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self.base.shift_invariant

    def check(self, shape: Shape) -> None:
        self._check_length(shape.rows)
        self.base.check(self._inner(shape))

    def build(self, shape: Shape) -> Encoder:
        return self.base.build(self._inner(shape))

    def choose(self, length: int, items: int, shape: Shape, seeds: Seeds | None, training: bool) -> Ints:
        self._check_length(length)
        at = self.base.choose(self.limit, items, self._inner(shape), seeds, training)  # [items or 1, limit]
        if seeds is None:
            return at[:, np.arange(length) * self.limit // length]
        return at[:, np.sort(seeds.draws("randomized", items=[0]).subset(self.limit, length)[0])]

    def _inner(self, shape: Shape) -> Shape:
        return dataclasses.replace(shape, rows=self.limit, trained=self.limit)

    def _check_length(self, length: int) -> None:
        if length > self.limit:
            raise OutOfPositions(
                f"randomized chooses from {self.limit} positions, too few for {length} tokens; "
                f"train with randomized:limit={2 * length}"
            )
