"""Random increasing positions out of a much larger range than any sequence needs."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field

import torch
from torch import Tensor

from lengthwise.errors import OutOfPositions, UsageError
from lengthwise.positions import wrappers
from lengthwise.positions.none import NoPosition
from lengthwise.positions.position import Encoder, Position, Shape
from lengthwise.seeds import Seeds


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

    base: Position = field(default_factory=NoPosition)
    limit: int = 2048
    beyond_training = False

    def __post_init__(self) -> None:
        if self.limit < 1:
            raise UsageError(f"randomized needs a limit of 1 or more, not {self.limit}")

    @property
    def shift_invariant(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self.base.shift_invariant

    def build(self, shape: Shape) -> Encoder:
        self._check(shape.rows)
        return self.base.build(self._inner(shape))

    def indices(self, length: int, items: int, shape: Shape, seeds: Seeds | None, training: bool) -> Tensor:
        self._check(length)
        at = self.base.indices(self.limit, items, self._inner(shape), seeds, training)  # [items or 1, limit]
        if seeds is None:
            return at[:, torch.arange(length) * self.limit // length]
        chosen = seeds.draws("randomized", items=[0]).subset(self.limit, length)[0]
        return at[:, torch.from_numpy(chosen).sort().values]

    def _inner(self, shape: Shape) -> Shape:
        return dataclasses.replace(shape, rows=self.limit, trained=self.limit)

    def _check(self, length: int) -> None:
        if length > self.limit:
            raise OutOfPositions(
                f"randomized chooses from {self.limit} positions, too few for {length} tokens; "
                f"train with randomized:limit={2 * length}"
            )
