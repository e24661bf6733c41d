"""What is to be bounded: a target on tokens or documents, all of them available or only a sample; under which
assumptions; and the result."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from lengthwise.bounds.risk import RiskBound
from lengthwise.bounds.tokens.formulas import LN2, best_alpha, complexity, loss_ceiling, loss_floor, split_delta
from lengthwise.bounds.tokens.inequalities import Ends, Inequality
from lengthwise.bounds.tokens.losses import KS, TokenLosses, document_means, sample_price, sampled_mean, token_mean
from lengthwise.errors import UsageError
from lengthwise.messages import explain, sentence
from lengthwise.records import Assumption, Claim
from lengthwise.seeds import Floats

Target = Literal["loss", "top1", "top5", "top10"]
TARGETS: tuple[Target, ...] = ("loss", "top1", "top5", "top10")
Level = Literal["documents", "tokens"]
# The smoothings of lotfi2024documents; to these comes one that follows from the complexity (statement G8).
ALPHAS = (1e-4, 1e-3, 5e-3, 0.01, 0.05, 0.1, 0.25, 0.5)
PRIOR, DECODED, TRAINING, PAST = "tokens.prior", "tokens.decoded", "tokens.training", "tokens.past"
COUNT, FIXED_DOCUMENTS = "tokens.count_fixed", "tokens.documents_fixed"
INDEPENDENT, AFTERWARDS = "tokens.independent", "tokens.afterwards"
OF_SAMPLE = ("tokens.documents_drawn", "tokens.units_drawn", "tokens.units_in_proportion")

explain(
    {
        PRIOR: "what decodes the message (format, tokens, architectures) was fixed before the data were seen",
        DECODED: "the losses are those of the model that the message decodes to",
        TRAINING: "the data are those that the model was trained on, or data that played no part in choosing it",
        PAST: "the model predicts each token from earlier tokens alone",
        COUNT: "the number of tokens was fixed before they were drawn (if not, add `count_bits` to the message)",
        FIXED_DOCUMENTS: "the number of documents was fixed before they were drawn",
        INDEPENDENT: "documents were drawn independently of each other, and are predicted independently of each other",
        AFTERWARDS: "the sample was drawn at random, after the model was trained",
        "tokens.documents_drawn": "documents of the sample were drawn uniformly, none twice",
        "tokens.units_drawn": "the training data are units of {length} tokens, and the sample was drawn uniformly",
        "tokens.units_in_proportion": "units of the sample were drawn in proportion to their length, with replacement",
        "tokens.quantity.loss": "expected surprise -ln p of the smoothed model, in nats per token",
        "tokens.quantity.top": "expected share of tokens that are not among the {k} most likely according to the model",
        "tokens.quantity.documents": (
            "{loss}, in a fresh document from the source of the training documents (a mean over its tokens)"
        ),
        "tokens.quantity.tokens": (
            "{loss}, averaged over the contexts of the training data; it says nothing about fresh documents"
        ),
    }
)


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
        evidence: dict[str, Any] = {
            **claim.evidence,
            **{name: getattr(self, name) for name in ("quantity", "chance", "complexity", "alpha", "s")},
            "below_chance_by": self.chance - self.total,
            "probability": 1 - self.delta,
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
        raise UsageError(f"a target must be one of {', '.join(TARGETS)}, not {target!r}")
    return int(target.removeprefix("top"))


@dataclass(frozen=True)
class BoundProblem:
    """The prices of one bound, from counts alone: nothing here depends on a loss.

    count        how many documents, or tokens, the model was trained on
    complexity   C of the population's inequality, with every setting paid for
    price        the same for the sample; None when all data are available
    alphas       the smoothings to choose from; (None,) for errors, which need none
    steps        the steps to choose from
    """

    target: Target
    level: Level
    inequality: Inequality
    vocabulary: int
    count: int
    complexity: float
    price: float | None
    alphas: tuple[float | None, ...]
    steps: tuple[float | None, ...]

    def ends(self, alpha: float | None) -> tuple[float, float]:
        """The least and the most that a loss can be."""
        if alpha is None:
            return 0.0, 1.0
        return loss_floor(alpha, self.vocabulary), loss_ceiling(alpha, self.vocabulary)

    def losses(self, losses: TokenLosses, alpha: float | None) -> Floats:
        """The target of each token."""
        if alpha is None:
            return losses.errors(rank_limit(self.target)).astype(np.float64)
        return losses.smoothed(alpha)

    def expected(self, losses: TokenLosses) -> Floats:
        """What the model expected of each token: known before it is seen, and from 0 to what a guess would lose."""
        if self.target == "loss":
            return np.clip(losses.entropy, 0.0, math.log(self.vocabulary))
        return np.clip(1 - losses.mass[:, KS.index(rank_limit(self.target))], 0.0, 1.0)

    def mean_loss(self, losses: TokenLosses, alpha: float | None) -> float:
        """The mean on the available data: of documents, of units that were drawn, or of tokens."""
        if self.level == "documents" or self.price is not None:
            return float(np.mean(document_means(losses, lambda part: self.losses(part, alpha))))
        return token_mean(losses, lambda part: self.losses(part, alpha))

    def totals(self, losses: TokenLosses, alpha: float | None, step: float | None) -> tuple[float, float]:
        """The bound if the available data were all there are, and the bound with what a sample may hide."""
        ends = self.ends(alpha)

        def per_token(part: TokenLosses) -> Floats:
            return self.inequality.values(self.losses(part, alpha), self.expected(part), ends, step, self.complexity)

        if self.level == "documents":
            x = document_means(losses, lambda part: self.losses(part, alpha))
            return self._totals(self.inequality.values(x, x, ends, step, self.complexity), alpha, step)
        if self.price is None:
            return self._totals(np.array([token_mean(losses, per_token)]), alpha, step)
        return self._totals(document_means(losses, per_token), alpha, step)

    def best_settings(self, losses: TokenLosses) -> tuple[float | None, float | None]:
        """The α and the step with the smallest bound. Losses are read once for each α: this is for few tokens."""
        starts, lengths = losses.starts, losses.lengths
        least, best = math.inf, (self.alphas[0], self.steps[0])
        columns = np.array(self.steps, dtype=np.float64)  # the one step of an inequality without steps is ignored
        for alpha in self.alphas:
            x, y, ends = self.losses(losses, alpha), self.expected(losses), self.ends(alpha)
            if self.level == "documents":
                x = y = np.add.reduceat(x, starts) / lengths
            values = self.inequality.values(x[:, None], y[:, None], ends, columns, self.complexity)
            if self.level == "tokens" and self.price is not None:
                values = np.add.reduceat(values, starts, axis=0) / lengths[:, None]
            means = values.mean(axis=0)
            totals = [self._total(mean, ends, step) for mean, step in zip(means, self.steps, strict=True)]
            for i in np.argsort(totals):
                if totals[i] >= least:  # what a sample may hide only adds to it
                    break
                found = self._totals(values[:, i], alpha, self.steps[i])[1]
                if found < least:
                    least, best = found, (alpha, self.steps[i])
        return best

    def _totals(self, values: Floats, alpha: float | None, step: float | None) -> tuple[float, float]:
        ends, mean = self.ends(alpha), float(np.mean(values))
        upper = mean
        if self.price is not None:
            upper = sampled_mean(values, self.inequality.value_ends(ends, step, self.complexity), self.price)
        return self._total(mean, ends, step), self._total(upper, ends, step)

    def _total(self, mean: float, ends: Ends, step: float | None) -> float:
        return self.inequality.total(float(mean), ends, step, self.complexity)


def make_problem(
    losses: TokenLosses,
    message_bits: float,
    *,
    target: Target,
    level: Level,
    inequality: Inequality,
    delta: float,
    population: int | None,
) -> BoundProblem:
    """The counts and the prices. `population` is the number of documents or tokens of which `losses` are a sample."""
    if target != "loss":
        rank_limit(target)
    units = len(losses.starts)
    at_hand = units if level == "documents" else len(losses)
    if not at_hand:
        raise UsageError("there is no loss to compute a bound from; at least one token is needed")
    if population is not None and population < at_hand:
        raise UsageError(f"a sample of {at_hand} {level} cannot come from a population of {population}")
    settings = (len(ALPHAS) + 1 if target == "loss" else 1) * len(inequality.steps(1.0))
    count = at_hand if population is None else population
    price = None
    if population is None or population == at_hand:
        nats = complexity(message_bits, count, delta, settings)
    else:
        whole, part = split_delta(delta, units, count)
        nats = complexity(message_bits, count, whole, settings)
        price = sample_price(units, part, settings)
    alphas = (*ALPHAS, best_alpha(nats)) if target == "loss" else (None,)
    return BoundProblem(
        target, level, inequality, losses.vocabulary, count, nats, price, alphas, inequality.steps(nats)
    )


def quantity_of(problem: BoundProblem) -> str:
    """What is bounded, in words."""
    key = "tokens.quantity.loss" if problem.target == "loss" else "tokens.quantity.top"
    loss = sentence(key, {"k": problem.target.removeprefix("top")})
    return sentence(f"tokens.quantity.{problem.level}", {"loss": loss})


def assumptions_of(problem: BoundProblem, losses: TokenLosses) -> list[Assumption]:
    """The assumptions of the bound, and which of them could be checked from the losses."""
    keys = [PRIOR, DECODED, TRAINING, PAST]
    keys += [INDEPENDENT, FIXED_DOCUMENTS] if problem.level == "documents" else [COUNT]
    if problem.price is None:
        return [Assumption(key) for key in keys]
    made = [Assumption(key) for key in (*keys, AFTERWARDS)]
    if problem.level == "documents":
        return [*made, Assumption("tokens.documents_drawn")]
    lengths = losses.lengths
    if lengths.min() == lengths.max():
        return [*made, Assumption("tokens.units_drawn", values={"length": int(lengths[0])})]
    return [*made, Assumption("tokens.units_in_proportion")]
