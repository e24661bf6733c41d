"""Rotary encoding: queries and keys are turned by angles that grow with their positions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from lengthwise.errors import UsageError
from lengthwise.positions import positions
from lengthwise.positions.position import Position, Shape

if TYPE_CHECKING:
    from lengthwise.positions.networks.encoder import Encoder


@positions.register("rope", "rotary")
@dataclass(frozen=True)
class Rope(Position):
    """Queries and keys are turned by angles that grow with position (Su et al. 2021), if wanted rescaled.

    Coordinates k and k + D/2 of a head of width D are a pair, turned by position x base^(-2k/D). `scaling` changes the
    frequencies for a context `factor` times as long as the `original` one (0 means the trained length):

    `interpolation`  all positions are divided by the factor (Chen et al. 2023);
    `ntk`            the base grows, so that the slowest pair is divided by the factor and the fastest by 1;
    `by_parts`       pairs with less than `low` turns in the original length are divided by the factor, those with more
                     than `high` are left alone, and a linear ramp joins the two;
    `yarn`           by_parts, with queries and keys multiplied by 0.1 ln(factor) + 1 each (Peng et al. 2024);
    `dynamic`        ntk, with the factor (places up to the query) / original, at least 1, for each query anew. All keys
                     are turned by the base of the query that looks at them, so that a token's logits do not depend on
                     what follows it and generation with a cache gives what one pass over the whole gives.

    A logit depends on the distance alone, save for `dynamic`, where it also depends on the query's place. All are
    defined at every position, which is not to say that they are any good there.
    """

    base: float = 10000.0
    scaling: Literal["none", "interpolation", "ntk", "by_parts", "yarn", "dynamic"] = "none"
    factor: float = 1.0
    original: int = 0
    low: float = 1.0
    high: float = 32.0
    beyond_training = True

    def __post_init__(self) -> None:
        if not self.base > 1 or self.original < 0 or not 0 <= self.low < self.high:
            raise UsageError(
                "rope needs a base above 1, an original length of 0 or more and 0 <= low < high, "
                f"not base {self.base}, original {self.original}, low {self.low} and high {self.high}"
            )
        if self.scaling in ("none", "dynamic") and self.factor != 1:
            raise UsageError(
                f"rope with scaling {self.scaling} takes no factor ({self.factor:g} was given); scaling "
                "interpolation, ntk, by_parts and yarn do"
            )
        if self.scaling not in ("none", "dynamic") and not self.factor > 1:
            raise UsageError(
                f"rope with scaling {self.scaling} needs a factor above 1, as in "
                f"rope:scaling={self.scaling},factor=4, not {self.factor:g}"
            )

    @property
    def shift_invariant(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self.scaling != "dynamic"

    def check(self, shape: Shape) -> None:
        width = shape.head_width
        if width % 2:
            raise UsageError(
                f"RoPE needs an even head width, and width {shape.width} with {shape.heads} heads gives {width}; "
                f"width {shape.heads * (width + 1)} would do"
            )
        if self.scaling in ("ntk", "dynamic") and width < 4:
            raise UsageError(f"NTK-aware and dynamic scaling of RoPE need a head width of 4 or more, not {width}")

    def build(self, shape: Shape) -> Encoder:
        from lengthwise.positions.networks.rope import DynamicRopeEncoder, RopeEncoder, frequencies, yarn_factor

        width, original = shape.head_width, self.original or shape.trained
        if self.scaling == "dynamic":
            return DynamicRopeEncoder(width, self.base, original)
        turns = frequencies(width, self.base, self.scaling, self.factor, original, self.low, self.high)
        return RopeEncoder(turns, yarn_factor(self.factor) if self.scaling == "yarn" else 1.0)
