"""Wrappers, which choose the positions that any other encoding is given."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lengthwise.errors import OutOfPositions, UsageError
from lengthwise.positions import wrappers
from lengthwise.positions.encodings import NoPosition
from lengthwise.positions.position import Position, Shape

if TYPE_CHECKING:
    from lengthwise.positions.networks.encoders import Encoder
    from lengthwise.seeds import Ints, Seeds


@dataclass(frozen=True)
class _Wrapper(Position):
    """Another encoding, given other positions."""

    base: Position = NoPosition()

    @property
    def shift_invariant(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self.base.shift_invariant

    def check(self, shape: Shape) -> None:
        self.base.check(shape)

    def build(self, shape: Shape) -> Encoder:
        return self.base.build(shape)


@wrappers.register("offset")
@dataclass(frozen=True)
class Offset(_Wrapper):
    """In training every item starts at a random position; in testing at position 0 (Huang et al. 2025).

    The offset is uniform over all that keep the item inside the `rows` the model is meant for. (As published it goes up
    to the longest test, from a table that goes on beyond that; what this changes is in docs/log.md.)
    """

    @property
    def beyond_training(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self.base.beyond_training

    def choose(self, length: int, items: int, shape: Shape, seeds: Seeds | None, training: bool) -> Ints:
        at = self.base.choose(length, items, shape, seeds, training)
        if not training or seeds is None:
            return at
        room = max(shape.rows - 1 - int(at.max()), 0)
        return at + seeds.draws("offset", items=range(items)).integers(0, room + 1, 1)


@wrappers.register("randomized")
@dataclass(frozen=True)
class Randomized(_Wrapper):
    """A sequence takes a random increasing choice of `limit` positions, also in testing (Ruoss et al. 2023).

    The choice is one a batch and not one an item, since a bias would otherwise be as many times larger as there are
    items. Without seeds the positions are evenly spaced over the range. The base is built for a model that is trained
    on sequences of `limit` tokens, as there is no position it would not meet in training; so what it derives from the
    trained length (RoPE's original length, FIRE's threshold) comes from the limit. No position lies beyond it, and
    a longer sequence is refused.
    """

    limit: int = 2048
    beyond_training = False

    def __post_init__(self) -> None:
        if self.limit < 1:
            raise UsageError(f"randomized needs a limit of 1 or more, not {self.limit}")

    def check(self, shape: Shape) -> None:
        self._check_length(shape.rows)
        super().check(self._inner(shape))

    def build(self, shape: Shape) -> Encoder:
        return super().build(self._inner(shape))

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
