"""Encodings that add to the logits what depends on the distance between query and key."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from lengthwise.errors import UsageError
from lengthwise.positions import positions
from lengthwise.positions.position import Position, Shape

if TYPE_CHECKING:
    from lengthwise.positions.networks.encoder import Encoder


@positions.register("alibi")
@dataclass(frozen=True)
class Alibi(Position):
    """A fixed penalty on every logit that grows linearly with distance (Press et al. 2022).

    Head h = 1, ..., H subtracts 2^(-8h/H) times the distance. The formula is used for any H; the authors' code departs
    from it where H is not a power of two. In an encoder the distance is taken without its sign, so that what stands
    before a token and what stands after it look the same.
    """

    shift_invariant = True
    beyond_training = True

    def build(self, shape: Shape) -> Encoder:
        from lengthwise.positions.networks.biases import AlibiEncoder

        return AlibiEncoder(shape.heads)


@positions.register("kerple")
@dataclass(frozen=True)
class Kerple(Position):
    """A learned penalty a head: r1 ln(1 + r2 distance), or r1 distance^r2 (Chi et al. 2022).

    r1 > 0 and r2 > 0, and r2 < 2 for the power, by their parametrisation: the kernels that give these penalties are
    conditionally positive definite. Both start with r2 = 1; the logarithm with r1 spread evenly over the heads between
    0 and 1, the power with the slopes of ALiBi, which it then equals. In an encoder the distance has no sign.
    """

    variant: Literal["log", "power"] = "log"
    shift_invariant = True
    beyond_training = True

    def build(self, shape: Shape) -> Encoder:
        from lengthwise.positions.networks.biases import LogEncoder, PowerEncoder

        return LogEncoder(shape.heads) if self.variant == "log" else PowerEncoder(shape.heads)


@positions.register("t5")
@dataclass(frozen=True)
class T5(Position):
    """A learned bias a head for every bucket of distances, wider when further away (Raffel et al. 2020).

    In a decoder half of the buckets hold one distance each and the other half grow geometrically up to `furthest`;
    the last takes everything beyond. In an encoder keys before and keys after the query have half of the buckets each.
    """

    buckets: int = 32
    furthest: int = 128
    shift_invariant = True
    beyond_training = True

    def __post_init__(self) -> None:
        if self.buckets < 4 or self.buckets % 2:
            raise UsageError(f"t5 needs an even number of buckets, 4 or more, not {self.buckets}")
        if self.furthest <= self.buckets // 2:
            raise UsageError(
                f"t5 with {self.buckets} buckets needs a furthest distance above {self.buckets // 2}, "
                f"not {self.furthest}"
            )

    def build(self, shape: Shape) -> Encoder:
        from lengthwise.positions.networks.biases import T5Encoder

        return T5Encoder(shape.heads, self.buckets, self.furthest, shape.causal)


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
