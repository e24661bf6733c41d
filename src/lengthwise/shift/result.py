"""The result of measuring a shift."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from lengthwise.records import Claim
from lengthwise.shift.explanation import MovedExample, Number, Pair, share_claims
from lengthwise.shift.ground import Ground
from lengthwise.transport.solving import Transported

_TESTABLE = 4  # items per side: three can be split in 10 ways, and a chance of 1 in 10 is no evidence


@dataclass(frozen=True)
class Side:
    """One of the two samples, in numbers."""

    name: str
    items: int
    distinct: int
    points: int  # after merging what the metric does not distinguish
    weighted: bool


@dataclass(frozen=True, eq=False)
class Shift:
    """The distance of two samples, its noise, and what accounts for it."""

    first: Side
    second: Side
    metric: str
    unit: str
    facts: Mapping[str, Any]
    distance: Claim
    noise: tuple[Claim, ...]
    expected: Claim
    distributions: Claim
    shares: Mapping[str, float]
    numbers: tuple[Number, ...]
    pairs: tuple[Pair, ...]
    extremes: tuple[MovedExample, ...]
    unseen: float  # share of the second sample's tokens that the first never has
    ground: Ground
    transported: Transported

    @property
    def claims(self) -> tuple[Claim, ...]:
        """All conclusions; the shares of the distance come last."""
        return (self.distance, *self.noise, self.expected, self.distributions, *share_claims(dict(self.shares)))

    def verdict(self) -> str:
        """One sentence: how far, compared with the noise."""
        if self.distance.value is None:
            why = self.distance.evidence["why_refused"]
            return f"The distance was not certified ({why}), so nothing is known about the shift."
        value = float(self.distance.value)
        how = "" if self.distance.kind == "certified" else "at most "  # the cost of a plan that need not be the best
        start = f"{self.second.name} is {how}{value:.4g} {self.unit} from {self.first.name} ({self.distance.kind})"
        null, shifted, _, test = self.noise
        if null.value is None or shifted.value is None or test.value is None:
            return f"{start}; a sample is too small to say what noise alone would give."
        size, noise, moved = null.evidence["items"], float(null.value), float(shifted.value)
        beside = f"at {size} items each it is {moved:.4g}, where two halves of the first sample are {noise:.4g} apart"
        return f"{start}; {beside}: {_words(moved, noise, float(test.value), size)}."

    def plain(self) -> dict[str, Any]:
        """Everything but the plan, as JSON-ready data."""
        return {
            "first": asdict(self.first),
            "second": asdict(self.second),
            "metric": {"name": self.metric, "unit": self.unit, "facts": dict(self.facts)},
            "verdict": self.verdict(),
            "claims": [claim.plain() for claim in self.claims],
            "shares": dict(self.shares),
            "numbers": [asdict(number) for number in self.numbers],
            "pairs": [asdict(pair) for pair in self.pairs],
            "extremes": [asdict(example) for example in self.extremes],
            "unseen_tokens": self.unseen,
        }


def _words(moved: float, noise: float, chance: float, size: int) -> str:
    """What the comparison with the null says, at the usual level of 5 %."""
    if size < _TESTABLE:
        return "too few items to tell a shift from noise"
    if chance > 0.05:
        return f"no shift is visible (p = {chance:.2g})"
    tested = f"p = {chance:.2g}"
    if noise <= 0:
        return f"a shift where noise gives none ({tested})"
    return f"{moved / noise:.3g} times the noise ({tested})"
