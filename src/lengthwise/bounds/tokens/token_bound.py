"""A bound on the loss of a model of tokens, with the settings chosen for it and the chance level to compare it with."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Literal

from lengthwise.bounds.risk import RiskBound
from lengthwise.bounds.tokens.formulas import LN2
from lengthwise.errors import UsageError
from lengthwise.records import Claim

Target = Literal["loss", "top1", "top5", "top10"]
TARGETS: tuple[Target, ...] = ("loss", "top1", "top5", "top10")
Level = Literal["documents", "tokens"]


@dataclass(frozen=True)
class TokenBound:
    """The quantity is at most `risk.total`, with probability 1 - `delta` over the data (and over the sample).

    risk         terms in nats, or in shares of tokens for top-k; its ceiling is chance
    quantity     what is bounded, in words
    target       the loss, or the error of the k likeliest tokens
    level        what is counted: documents, or tokens
    inequality   the inequality: hoeffding, product or freedman
    chance       what a uniform guess loses: ln V, or 1 - k / V
    complexity   C: nats of description (and of everything chosen) per unit of data
    alpha        the smoothing, for the loss
    s            the step of the inequality, where it has one
    """

    risk: RiskBound
    quantity: str
    target: Target
    level: Level
    inequality: str
    delta: float
    complexity: float
    chance: float
    alpha: float | None = None
    s: float | None = None

    @property
    def total(self) -> float:
        return self.risk.total

    @property
    def vacuous(self) -> bool:
        return self.risk.status != "holds"

    @property
    def unit(self) -> str:
        return "nats per token" if self.target == "loss" else "share of tokens"

    @property
    def total_bits(self) -> float | None:
        """The total in bits per token; None for errors, which have no unit."""
        return self.total / LN2 if self.target == "loss" else None

    def claim(self) -> Claim:
        claim = self.risk.claim()
        evidence = dict(claim.evidence)
        evidence |= {
            "quantity": self.quantity,
            "chance": self.chance,
            "below_chance_by": self.chance - self.total,
            "probability": 1 - self.delta,
            "complexity": self.complexity,
            "alpha": self.alpha,
            "s": self.s,
        }
        if self.target == "loss":
            bits = {term.key: term.value / LN2 for term in self.risk.terms}
            evidence["bits"] = {"total": self.total / LN2, "chance": self.chance / LN2, "terms": bits}
        return dataclasses.replace(claim, unit=self.unit, evidence=evidence)


def chance_level(target: Target, vocabulary: int) -> float:
    """What a uniform guess loses: ln V nats, or an error of 1 - k / V."""
    if target == "loss":
        return math.log(vocabulary)
    return max(0.0, 1 - rank_limit(target) / vocabulary)


def rank_limit(target: Target) -> int:
    """The k of a top-k target."""
    if target not in TARGETS or target == "loss":
        raise UsageError(f"a target is one of {', '.join(TARGETS)}, not {target!r}")
    return int(target.removeprefix("top"))
