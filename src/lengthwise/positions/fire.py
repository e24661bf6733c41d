"""A learned function of how far back a key lies, as a share of how far one could look."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lengthwise.errors import UsageError
from lengthwise.positions import positions
from lengthwise.positions.position import Position, Shape

if TYPE_CHECKING:
    from lengthwise.positions.networks.encoder import Encoder


@positions.register("fire")
@dataclass(frozen=True)
class Fire(Position):
    """A small network of the distance as a share of the position, on a logarithmic scale (Li et al. 2024).

    The bias of query i and key j, counted from 1, is f(ψ(i - j) / ψ(max(L, i))), where ψ(x) = ln(c x + 1), f is a
    network with one layer of `hidden` ReLUs and an output a head, and c, L > 0 are learned. Up to position L the bias
    is a function of the distance; beyond, the range seen is squeezed into the range known.

    `threshold` is where L starts; 0 means a quarter of the trained length (the authors' 512 for 2048). `rate` is where
    c starts. Both are learned on a logarithmic scale, so that a step changes them by a share of themselves. In an
    encoder a key ahead of its query has the sign of its distance, and j takes the place of i where it is larger.
    """

    hidden: int = 32
    threshold: float = 0.0
    rate: float = 0.1
    shift_invariant = False
    beyond_training = True

    def __post_init__(self) -> None:
        if self.hidden < 1 or self.threshold < 0 or not self.rate > 0:
            raise UsageError(
                "fire needs hidden of 1 or more, a threshold of 0 or more and a rate above 0, "
                f"not hidden {self.hidden}, threshold {self.threshold} and rate {self.rate}"
            )

    def build(self, shape: Shape) -> Encoder:
        from lengthwise.positions.networks.biases import FireEncoder

        return FireEncoder(shape.heads, self.hidden, self.threshold or max(shape.trained / 4, 1.0), self.rate)
