"""From which length on attention at finite precision is exactly hard: as predicted from the margin, and as it is."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from lengthwise.oracle.limit.margin import IZZO, Margin, gap_of_words, logit_margin, settled_length
from lengthwise.oracle.limit.numbers import Number
from lengthwise.oracle.limit.transformer import LimitTransformer
from lengthwise.records import Assumption, Claim, Reference


@dataclass(frozen=True)
class HardmaxLength:
    """`predicted` is the smallest n with n^gamma >= 2^bits. `observed` is the smallest n such that all words of that
    length and of every greater one have hard attention at their last place. None: a number of 4,000 digits or more."""

    bits: int
    margin: Margin
    predicted: int | None
    observed: int | None

    def claims(self) -> list[Claim]:
        kind = "certified" if self.margin.exact else "measured"
        assumptions = (
            Assumption("one layer; a weight of at most 2^-bits is rounded to 0 before normalisation"),
            Assumption("exact rational arithmetic", "checked" if self.margin.exact else "violated"),
        )
        evidence = {"bits": self.bits, "margin": self.margin.plain()["margin"]}
        found = []
        for name, value in (
            ("hardmax length 2^(p/gamma)", self.predicted),
            ("hardmax length, observed", self.observed),
        ):
            status = "holds" if value is not None else "vacuous"
            reference = Reference(IZZO, "finite precision, as derived in docs/limit.md")
            found.append(Claim(name, value, "tokens", kind, status, None, assumptions, reference, evidence))
        return found

    def explain(self) -> list[str]:
        said = [*self.margin.explain()]
        if self.predicted is not None:
            said.append(f"with {self.bits} bits attention is hard from length {self.predicted:,} on by the margin")
        if self.observed is not None:
            said.append(f"and from length {self.observed:,} on in fact, over all words")
        return said

    def plain(self) -> dict[str, Any]:
        return {"bits": self.bits, "predicted": self.predicted, "observed": self.observed, **self.margin.plain()}


def hardmax_length(model: LimitTransformer) -> HardmaxLength:
    """Both lengths. `observed` is exact over all words, without listing them (see `margin.gap_of_words`)."""
    margin = logit_margin(model)
    predicted = 1 if margin.value is None else smallest_length(margin.value, model.bits)
    return HardmaxLength(model.bits, margin, predicted, _observed(model))


def smallest_length(gap: Number, bits: int) -> int | None:
    """The smallest n with n^gap >= 2^bits, by whole numbers where the gap is rational; None beyond 4,000 digits."""
    if bits / float(gap) > 13_000:
        return None
    if not isinstance(gap, Fraction):
        return math.ceil(2.0 ** (bits / gap) * (1 - 1e-12)) if bits / gap < 1000 else None  # the range of a float
    low, high = 1, 2 ** (math.ceil(bits / gap))
    enough = 2 ** (bits * gap.denominator)
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if middle**gap.numerator >= enough else (middle + 1, high)
    return low


def _observed(model: LimitTransformer) -> int | None:
    """One more than the longest length at which some word is not hard.

    Beyond the settled length the gap depends on the phase alone, so the longest soft length of each phase is found
    from the smallest n with n^gap >= 2^bits; the few lengths before it are looked at one by one.
    """
    longest = 0
    settled = settled_length(model)
    for head in model.layers[0].heads:
        for length in range(1, settled + model.period):
            gap = gap_of_words(model, head, length)
            if gap is None:
                continue
            hard = smallest_length(gap, model.bits)
            if hard is None:
                return None
            if length < settled:
                longest = max(longest, length) if length < hard else longest
            elif hard > length:  # the longest length below `hard` in the phase of `length`
                longest = max(longest, length + (hard - 1 - length) // model.period * model.period)
    return longest + 1
