"""The positional margin and the regime of a head at infinite precision.

At place i the keys beyond the locality have together a weight of order i, as each has one of order 1; a key at distance
t has i^phi(t). So with m the largest phi: below 1 the many far tokens win (token-dominated), above 1 the nearest ones
do (position-dominated), at 1 both keep a share (balanced). The margin, the largest value of
P = {phi(0), ..., phi(locality), 1} less the second largest, says how fast the loser vanishes: like i^-margin.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from lengthwise.oracle.limit.margin import IZZO, SECONDARY
from lengthwise.oracle.limit.numbers import TIE, Number, distinct, is_exact, written
from lengthwise.oracle.limit.parts import Head
from lengthwise.oracle.limit.transformer import LimitTransformer
from lengthwise.records import Assumption, Claim, Reference

Regime = Literal["token-dominated", "balanced", "position-dominated"]


@dataclass(frozen=True)
class HeadMargin:
    """A head's regime and margin; None when P has one value, so that nothing vanishes."""

    layer: int
    head: int
    largest: Number
    margin: Number | None
    regime: Regime

    def __str__(self) -> str:
        margin = "no other value" if self.margin is None else f"margin {self.margin}"
        return f"layer {self.layer + 1}, head {self.head + 1}: {self.regime} (largest phi {self.largest}, {margin})"


@dataclass(frozen=True)
class PositionalMargin:
    """gamma(f) = the smallest margin of all heads, and what each head is like."""

    value: Number | None
    exact: bool
    heads: tuple[HeadMargin, ...]

    def claim(self) -> Claim:
        rule = "exact rational arithmetic" if self.exact else f"values within {TIE:g} of each other are called equal"
        return Claim(
            "positional margin",
            None if self.value is None else float(self.value),
            "",
            "certified" if self.exact else "measured",
            "vacuous" if self.value is None else "holds",
            assumptions=(Assumption(rule, "checked"), SECONDARY),
            reference=Reference(IZZO, "positional margin, infinite precision"),
            evidence={"heads": self.explain()},
        )

    def explain(self) -> list[str]:
        return [str(head) for head in self.heads]

    def plain(self) -> dict[str, Any]:
        value = None if self.value is None else written(self.value)
        return {"positional_margin": value, "exact": self.exact, "heads": self.explain()}


def positional_margin(model: LimitTransformer) -> PositionalMargin:
    """Of every head of every layer. O(heads · locality)."""
    heads = tuple(
        _of_head(head, layer, index) for layer, one in enumerate(model.layers) for index, head in enumerate(one.heads)
    )
    margins = [head.margin for head in heads if head.margin is not None]
    exact = all(is_exact(head.local) for layer in model.layers for head in layer.heads)
    return PositionalMargin(min(margins, default=None), exact, heads)


def _of_head(head: Head, layer: int, index: int) -> HeadMargin:
    values = distinct([*head.local, Fraction(1)])
    largest = max(head.local)
    slack = 0 if is_exact(head.local) else TIE
    regime: Regime = "balanced" if abs(largest - 1) <= slack else "token-dominated"
    if largest > 1 + slack:
        regime = "position-dominated"
    return HeadMargin(layer, index, largest, values[-1] - values[-2] if len(values) > 1 else None, regime)
