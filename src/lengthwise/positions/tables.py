"""Encodings that add a vector to the embedding of a token, or nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lengthwise.errors import UsageError
from lengthwise.positions import positions
from lengthwise.positions.position import Position, Shape

if TYPE_CHECKING:
    from lengthwise.positions.networks.encoder import Encoder


@positions.register("none", "nope")
@dataclass(frozen=True)
class NoPosition(Position):
    """Nothing is added; a causal model still knows how many tokens it has seen."""

    shift_invariant = True
    beyond_training = True

    def build(self, shape: Shape) -> Encoder:  # noqa: ARG002
        from lengthwise.positions.networks.encoder import Encoder

        return Encoder()


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


@positions.register("sinusoidal")
@dataclass(frozen=True)
class Sinusoidal(Position):
    """Fixed sines and cosines of the position, added to the embedding (Vaswani et al. 2017).

    Interleaved: columns 2k and 2k + 1 are the sine and the cosine of position x base^(-2k / width), times scale x √2.
    `scale` is thus the root mean square of a coordinate. Its default is the standard deviation with which token
    embeddings (and the rows of `learned`) start: the sum is normalised before it is read, so it is the ratio that
    counts, and at amplitude 1, as in the paper, a fresh token would be one part in 35 of what the first layer sees.
    """

    base: float = 10000.0
    scale: float = 0.02
    shift_invariant = False
    beyond_training = True

    def __post_init__(self) -> None:
        if not self.base > 1 or not self.scale > 0:
            raise UsageError(
                f"sinusoidal needs a base above 1 and a scale above 0, not base {self.base} and scale {self.scale}"
            )

    def build(self, shape: Shape) -> Encoder:
        from lengthwise.positions.networks.tables import SinusoidalEncoder

        return SinusoidalEncoder(shape.width, self.base, self.scale)
