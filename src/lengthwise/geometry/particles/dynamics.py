"""What the integrators need of a system of tokens, and several heads as one system."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, Self

from torch import Tensor

from lengthwise.errors import UsageError
from lengthwise.geometry.particles.system import System


class Dynamics(Protocol):
    """Tokens on a sphere that move: a velocity for unit vectors [..., n, d], perhaps one for each system of a batch.

    `check` refuses points that do not fit, `only` is the same for some systems of a batch with one leading dimension,
    `flat` the same for a batch that was given one leading dimension instead of any number.
    """

    def check(self, x: Tensor) -> None: ...

    def velocity(self, x: Tensor) -> Tensor: ...

    def only(self, rows: Tensor | Sequence[int]) -> Self: ...

    def flat(self) -> Self: ...


@dataclass(frozen=True, eq=False)
class ManyHeads:
    """Several heads of attention: the velocity is the sum of theirs.

    Each head has its own beta and matrices; all are SA or all are USA. H equal heads move tokens as one head does, H
    times as fast.
    """

    heads: tuple[System, ...]

    def __post_init__(self) -> None:
        if not self.heads:
            raise UsageError("there is at least one head")
        if len({head.kind for head in self.heads}) > 1:
            raise UsageError("all heads are SA, or all are USA")

    def check(self, x: Tensor) -> None:
        for head in self.heads:
            head.check(x)

    def velocity(self, x: Tensor) -> Tensor:
        found = self.heads[0].velocity(x)
        for head in self.heads[1:]:
            found = found + head.velocity(x)
        return found

    def only(self, rows: Tensor | Sequence[int]) -> ManyHeads:
        return ManyHeads(tuple(head.only(rows) for head in self.heads))

    def flat(self) -> ManyHeads:
        return ManyHeads(tuple(head.flat() for head in self.heads))
