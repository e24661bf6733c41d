"""The encodings: none, tables that are added to embeddings, biases that are added to logits, and rotations."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from lengthwise.errors import UsageError
from lengthwise.positions import positions
from lengthwise.positions.position import Position, Shape

if TYPE_CHECKING:
    from lengthwise.positions.networks.encoders import Encoder


def networks():
    """The modules that the settings here build; they need torch."""
    from lengthwise.positions.networks import encoders

    return encoders


@positions.register("none", "nope")
@dataclass(frozen=True)
class NoPosition(Position):
    """Nothing is added; a causal model still knows how many tokens it has seen."""

    shift_invariant = True
    beyond_training = True
    real = True

    def build(self, shape: Shape) -> Encoder:  # noqa: ARG002
        return networks().Encoder()


@positions.register("learned", "ape")
@dataclass(frozen=True)
class Learned(Position):
    """A table with one trained vector per position, added to the embedding; rows 0 means as many as the test needs."""

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
        return networks().LearnedEncoder(self.rows or shape.rows, shape.width)


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
    real = True

    def __post_init__(self) -> None:
        if not self.base > 1 or not self.scale > 0:
            raise UsageError(
                f"sinusoidal needs a base above 1 and a scale above 0, not base {self.base} and scale {self.scale}"
            )

    def build(self, shape: Shape) -> Encoder:
        return networks().SinusoidalEncoder(shape.width, self.base, self.scale)


@positions.register("alibi")
@dataclass(frozen=True)
class Alibi(Position):
    """A fixed penalty on every logit that grows linearly with distance (Press et al. 2022).

    Head h = 1, ..., H subtracts a slope times the distance: last^(h/H), which is 2^(-8h/H) with the usual `last`. The
    formula is used for any H; the authors' code departs from it where H is not a power of two. With `first` the slopes
    are geometric from `first` to `last`. A head of slope m sees about the last 1/m tokens
    (docs/explanation/horizons.md). With a `share` below 1 only the first ⌊share x H⌋ heads have slopes, as if there
    were no others, and the rest have none. In an encoder the distance is taken without its sign, so that what stands
    before a token and what stands after it look the same.
    """

    first: float = 0.0
    last: float = 2.0**-8
    share: float = 1.0
    shift_invariant = True
    beyond_training = True
    real = True

    def __post_init__(self) -> None:
        if not (self.last > 0 and self.first >= 0):
            raise UsageError(
                "alibi needs a last slope above 0 and a first slope above 0, or 0 for the usual ones, "
                f"not first {self.first:g} and last {self.last:g}"
            )
        if not 0 < self.share <= 1:
            raise UsageError(f"alibi gives slopes to a share of the heads above 0 and up to 1, not {self.share:g}")

    def check(self, shape: Shape) -> None:
        if not self.sloped(shape.heads):
            raise UsageError(
                f"a share of {self.share:g} of {shape.heads} heads gives a slope to none; a share of "
                f"{1 / shape.heads:.3g} or more would give it to one"
            )

    def sloped(self, heads: int) -> int:
        """How many of the heads have a slope."""
        return int(self.share * heads + 1e-9)  # a share of 0.7 of 10 heads is 7, whatever its last digit

    def slopes(self, heads: int) -> list[float]:
        """The slope of each head, 0 for heads without one."""
        sloped = self.sloped(heads)
        if not self.first or sloped == 1:
            steep = [2.0 ** (math.log2(self.last) * head / sloped) for head in range(1, sloped + 1)]
        else:
            step = math.log2(self.last / self.first) / (sloped - 1)
            steep = [self.first * 2.0 ** (step * head) for head in range(sloped)]
        return steep + [0.0] * (heads - sloped)

    def build(self, shape: Shape) -> Encoder:
        return networks().AlibiEncoder(self.slopes(shape.heads))


@positions.register("kerple")
@dataclass(frozen=True)
class Kerple(Position):
    """A learned penalty per head: r1 ln(1 + r2 distance), or r1 distance^r2 (Chi et al. 2022).

    r1 > 0 and r2 > 0, and r2 < 2 for the power, by their parametrisation: the kernels that give these penalties are
    conditionally positive definite. Both start with r2 = 1; the logarithm with r1 spread evenly over the heads between
    0 and 1, the power with the slopes of ALiBi, which it then equals. In an encoder the distance has no sign.
    """

    variant: Literal["log", "power"] = "log"
    shift_invariant = True
    beyond_training = True
    real = True

    def build(self, shape: Shape) -> Encoder:
        if self.variant == "log":
            return networks().LogEncoder(shape.heads)
        return networks().PowerEncoder(Alibi().slopes(shape.heads))


@positions.register("t5")
@dataclass(frozen=True)
class T5(Position):
    """A learned bias per head for every bucket of distances, wider when further away (Raffel et al. 2020).

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
        return networks().T5Encoder(shape.heads, self.buckets, self.furthest, shape.causal)


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
    real = True

    def __post_init__(self) -> None:
        if self.hidden < 1 or self.threshold < 0 or not self.rate > 0:
            raise UsageError(
                "fire needs hidden of 1 or more, a threshold of 0 or more and a rate above 0, "
                f"not hidden {self.hidden}, threshold {self.threshold} and rate {self.rate}"
            )

    def build(self, shape: Shape) -> Encoder:
        return networks().FireEncoder(
            shape.heads, self.hidden, self.threshold or max(shape.trained / 4, 1.0), self.rate
        )


@positions.register("rope", "rotary")
@dataclass(frozen=True)
class Rope(Position):
    """Queries and keys are turned by angles that grow with position (Su et al. 2021), if wanted rescaled.

    Coordinates k and k + D/2 of a head of width D are a pair, turned by position x base^(-2k/D). `scaling` changes the
    frequencies for a context `factor` times as long as the `original` one (0 means the trained length):

    `interpolation`  all positions are divided by the factor (Chen et al. 2023);
    `ntk`            the base grows, so that the slowest pair is divided by the factor and the fastest by 1;
    `by_parts`       pairs with less than `low` turns in the original length are divided by the factor, those with more
                     than `high` are left alone, and a ramp joins the two, linear in the number of turns;
    `llama3`         by_parts with `high` 4 instead of 32, as Llama 3.1 does;
    `yarn`           by_parts with a ramp that is linear in the number of the pair, as in the authors' code
                     and transformers, and queries and keys multiplied by 0.1 ln(factor) + 1 each (Peng et al. 2024);
    `dynamic`        ntk, with the factor s n - (s - 1) for n = (places up to the query) / original, at least 1, for
                     each query; s, the factor, is 1 unless given. All keys are turned by the base of the query that
                     looks at them, so that a token's logits do not depend on what follows it and generation with
                     a cache gives what one pass over the whole gives.

    With a `share` below 1 only the fastest ⌊share x D/2⌋ pairs turn, with the frequencies that they have anyway, and
    the slower ones are left alone (p-RoPE, Barbero et al. 2025).

    A logit depends on the distance alone, save for `dynamic`, where it also depends on the query's place. All are
    defined at every position, which is not to say that they are any good there.
    """

    base: float = 10000.0
    scaling: Literal["none", "interpolation", "ntk", "by_parts", "llama3", "yarn", "dynamic"] = "none"
    factor: float = 1.0
    original: int = 0
    low: float = 1.0
    high: float = 0.0  # 32, and 4 for llama3
    share: float = 1.0
    beyond_training = True
    real = True

    def __post_init__(self) -> None:
        if not self.base > 1 or self.original < 0 or not 0 <= self.low < self.most_turns:
            raise UsageError(
                "rope needs a base above 1, an original length of 0 or more and 0 <= low < high, "
                f"not base {self.base}, original {self.original}, low {self.low} and high {self.most_turns}"
            )
        if not 0 < self.share <= 1:
            raise UsageError(f"rope turns a share of its pairs above 0 and up to 1, not {self.share:g}")
        if (self.scaling == "none" and self.factor != 1) or not self.factor >= 1:
            raise UsageError(
                f"rope with scaling {self.scaling} takes no factor of {self.factor:g}; scaling "
                "interpolation, ntk, by_parts, llama3, yarn and dynamic take one above 1"
            )
        if self.scaling not in ("none", "dynamic") and not self.factor > 1:
            raise UsageError(
                f"rope with scaling {self.scaling} needs a factor above 1, as in "
                f"rope:scaling={self.scaling},factor=4, not {self.factor:g}"
            )

    @property
    def most_turns(self) -> float:
        """From how many turns in the original length on a pair is left alone."""
        return self.high or (4.0 if self.scaling == "llama3" else 32.0)

    @property
    def shift_invariant(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self.scaling != "dynamic"

    def check(self, shape: Shape) -> None:
        width = shape.head_width
        if width % 2:
            raise UsageError(
                f"RoPE needs an even head width, and width {shape.width} with {shape.heads} heads gives {width}; "
                f"use width {shape.heads * (width + 1)}, for example"
            )
        if not self.turned(width):
            raise UsageError(
                f"a share of {self.share:g} of the {width // 2} pairs of a head turns none; a share of {2 / width:.3g} "
                "or more would turn one"
            )
        if self.scaling in ("ntk", "dynamic") and width < 4:
            raise UsageError(f"NTK-aware and dynamic scaling of RoPE need a head width of 4 or more, not {width}")

    def turned(self, width: int) -> int:
        """How many of the pairs of a head turn."""
        return int(self.share * width / 2 + 1e-9)  # a share of 0.7 of 10 pairs is 7, whatever its last digit

    def build(self, shape: Shape) -> Encoder:
        made, width, original = networks(), shape.head_width, self.original or shape.trained
        if self.scaling == "dynamic":
            return made.DynamicRopeEncoder(width, self.base, original, self.factor, self.turned(width))
        turns = made.frequencies(width, self.base, self.scaling, self.factor, original, self.low, self.most_turns)
        turns[self.turned(width) :] = 0
        return made.RopeEncoder(turns, made.yarn_factor(self.factor) if self.scaling == "yarn" else 1.0)
