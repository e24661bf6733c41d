"""Wrappers, which choose the positions that any other encoding is given."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lengthwise.errors import OutOfPositions, UsageError
from lengthwise.positions import positions, wrappers
from lengthwise.positions.encodings import NoPosition
from lengthwise.positions.position import Position, Shape

if TYPE_CHECKING:
    from lengthwise.positions.networks.encoders import Encoder
    from lengthwise.seeds import Floats, Ints, Seeds


@dataclass(frozen=True)
class _Wrapper(Position):
    """Another encoding, given other positions."""

    base: Position = NoPosition()

    def __post_init__(self) -> None:
        if self.base.from_task:
            raise UsageError(
                f"the positions of {positions.text_of(self.base)} come from the task and begin at random in training "
                "anyway, so no wrapper goes with it"
            )

    @property
    def real(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self.base.real

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
    to the longest test, from a table that reaches beyond that; what this changes is in docs/findings/log.md.)
    """

    @property
    def beyond_training(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self.base.beyond_training

    def choose(self, length: int, items: int, shape: Shape, seeds: Seeds | None, training: bool) -> Ints | Floats:
        at = self.base.choose(length, items, shape, seeds, training)
        if not training or seeds is None:
            return at
        room = max(shape.rows - 1 - int(at.max()), 0)
        return at + seeds.draws("offset", items=range(items)).integers(0, room + 1, 1)


@wrappers.register("randomized")
@dataclass(frozen=True)
class Randomized(_Wrapper):
    """A sequence takes a random increasing choice of `limit` positions, also in testing (Ruoss et al. 2023).

    One choice is drawn per batch, not per item, since a bias would otherwise be as many times larger as there are
    items. Without seeds the positions are evenly spaced over the range. The base is built for a model that is trained
    on sequences of `limit` tokens, as there is no position it would not meet in training; so what it derives from the
    trained length (RoPE's original length, FIRE's threshold) comes from the limit. No position lies beyond it, and
    a longer sequence is refused.
    """

    limit: int = 2048
    beyond_training = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.limit < 1:
            raise UsageError(f"randomized needs a limit of 1 or more, not {self.limit}")

    def check(self, shape: Shape) -> None:
        self._check_length(shape.rows)
        super().check(self._inner(shape))

    def build(self, shape: Shape) -> Encoder:
        return super().build(self._inner(shape))

    def choose(self, length: int, items: int, shape: Shape, seeds: Seeds | None, training: bool) -> Ints | Floats:
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


@wrappers.register("floats")
@dataclass(frozen=True)
class RandomFloats(_Wrapper):
    """A sequence takes sorted uniform real positions in [0, limit), also in testing (Shimizu et al. 2026).

    Whatever its length, a sequence has positions from the range of training; what changes with the length is how close
    together they are. `limit` 0 means the trained length. The choice is one per batch, as in `randomized`; without
    seeds the positions are evenly spaced. The base is built for a model that is trained on `limit` tokens.
    """

    limit: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.limit >= 0:
            raise UsageError(f"floats needs a limit above 0, or 0 for the trained length, not {self.limit:g}")
        if not self.base.real:
            raise UsageError(
                f"floats gives tokens real positions, and {positions.text_of(self.base)} knows whole ones alone; "
                "rope, sinusoidal, alibi, kerple, fire and none know both"
            )
        if isinstance(self.base, _Wrapper):
            raise UsageError("floats draws all positions itself, so it stands next to the encoding, as in rope+floats")

    @property
    def beyond_training(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self.base.beyond_training

    def check(self, shape: Shape) -> None:
        super().check(self._inner(shape))

    def build(self, shape: Shape) -> Encoder:
        return super().build(self._inner(shape))

    def choose(self, length: int, items: int, shape: Shape, seeds: Seeds | None, training: bool) -> Floats:  # noqa: ARG002
        limit = self.limit or float(shape.trained)
        if seeds is None:
            return limit * np.arange(length)[None] / length
        return limit * np.sort(seeds.draws("floats", items=[0]).uniform(length), axis=1)

    def _inner(self, shape: Shape) -> Shape:
        return dataclasses.replace(shape, trained=math.ceil(self.limit)) if self.limit else shape
