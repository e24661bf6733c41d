"""What can be guaranteed about a planned training run: the gap between its loss and a bound, term by term.

Freedman    the empirical Freedman bound: the gap shrinks with how little the losses vary (finzi2025)
Azuma       the token-level bound of Azuma and Hoeffding: nothing but the range of the loss is used (lotfi2024tokens)

Both bound the average conditional risk on the contexts seen in training, not the risk on fresh documents; all terms are
in nats. `docs/explanation/generalisation.md` has the proofs, `docs/how-to/plan.md` what a planner adds to them.
"""

from __future__ import annotations

import abc
import math
from dataclasses import dataclass

from lengthwise.bounds.risk import BoundTerm
from lengthwise.bounds.tokens.formulas import complexity, hoeffding_gap, loss_range, smoothing_cost, split_delta
from lengthwise.errors import UsageError
from lengthwise.messages import explain
from lengthwise.records import Assumption, Reference

# The fit of loss variation by parameters, Σ(N) = FLOOR + FACTOR N^-POWER, and the models it was made from.
FLOOR, FACTOR, POWER = 0.27, 8337.0, 0.54
FITTED = (7e7, 1.2e10)
GRID = 1000  # values of s over which the published Freedman bound is the best

explain(
    {
        "plan.variation": "the loss variation Σ is at most {variation:g}",
        "plan.fitted": (
            "the loss variation is that of the published fit, Σ = {floor:g} + {factor:g} N^-{power:g}, whatever C is "
            "(from a secondary source; its floor does not agree with the paper's own example, where Σ is about 0.1)"
        ),
        "plan.fitted_range": "{params:.3g} parameters lie within the {least:.3g} to {most:.3g} of that fit",
        "plan.sampled": "the loss was measured on {sample:.3g} tokens drawn uniformly from the training data",
        "term.description": "description",
        "term.variation": "variation",
        "term.smoothing": "smoothing",
        "term.sample": "sample",
    }
)


@dataclass(frozen=True)
class TrainingRun:
    """A model of `params` weights, described in `bits` bits each, trained on `tokens` tokens out of a `vocabulary`.

    The description is all that the decoder needs, N b bits together; a bound may fail with probability `delta`.
    """

    params: float
    tokens: float
    bits: float = 3.0
    vocabulary: int = 50_000
    delta: float = 0.05

    def __post_init__(self) -> None:
        for name in ("params", "tokens", "bits"):
            value = getattr(self, name)
            if not 0 < value < math.inf:
                raise UsageError(f"{name} must be a number above 0, not {value:g}")
        if self.vocabulary < 2:
            raise UsageError(f"a vocabulary must have 2 tokens or more, not {self.vocabulary}")
        if not 0 < self.delta < 1:
            raise UsageError(f"delta must lie between 0 and 1, not {self.delta:g}")

    @property
    def message_bits(self) -> float:
        """The length of the description, N b."""
        return self.params * self.bits

    @property
    def chance(self) -> float:
        """ln V, the loss of a uniform guess: a bound from there on says nothing."""
        return math.log(self.vocabulary)


class PlanMethod(abc.ABC):
    """How a gap is computed. The sum of `terms` falls as tokens grow and rises with bits; from `least_params` on it
    rises with params too. `docs/how-to/plan.md` proves it, so what a goal needs is found by bisection."""

    title: str
    reference: Reference

    @property
    def least_params(self) -> float:
        return 1.0

    @abc.abstractmethod
    def terms(self, run: TrainingRun) -> tuple[BoundTerm, ...]:
        """What is added to the loss, in nats."""

    @abc.abstractmethod
    def assumptions(self, run: TrainingRun) -> tuple[Assumption, ...]:
        """The assumptions behind these terms, apart from those about the run."""

    def gap(self, run: TrainingRun) -> float:
        return math.fsum(term.value for term in self.terms(run))


def fitted_variation(params: float) -> float:
    """Σ as fitted over the Pythia models, 0.27 + 8337 N^-0.54 (finzi2025, as quoted by a secondary source)."""
    return FLOOR + FACTOR * params**-POWER


@dataclass(frozen=True)
class FreedmanMethod(PlanMethod):
    """gap = C ln V + Σ √C + smoothing, C = (N b ln 2 + ln(|K| / δ)) / D (finzi2025, theorem and corollary on tokens).

    Smoothing at the best weight α = C / (1 + C) costs ln(1 + C) + C ln((1 + C) / C) exactly; `published` takes the
    paper's looser √(2C) instead. `variation` is Σ; None: the published fit.
    """

    variation: float | None = None
    grid: int = GRID
    published: bool = False

    title = "empirical Freedman"
    reference = Reference("finzi2025", "section 3; smoothing in its exact form")

    def __post_init__(self) -> None:
        if self.variation is not None and not 0 <= self.variation < math.inf:
            raise UsageError(f"the variation of losses must be a number of 0 or more, not {self.variation:g}")
        if self.grid < 1:
            raise UsageError(f"a grid must have 1 point or more, not {self.grid}")

    @property
    def least_params(self) -> float:
        return 1e7 if self.variation is None else 1.0  # below, the fitted Σ falls faster than C rises

    def complexity(self, run: TrainingRun) -> float:
        """C, the nats of description per token."""
        return complexity(run.message_bits, run.tokens, run.delta, self.grid)

    def terms(self, run: TrainingRun) -> tuple[BoundTerm, ...]:
        c = self.complexity(run)
        sigma = fitted_variation(run.params) if self.variation is None else self.variation
        smoothing = math.sqrt(2 * c) if self.published else smoothing_cost(c)
        how = "√(2C), as published" if self.published else "ln(1 + C) + C ln((1 + C) / C)"
        return (
            BoundTerm("description", c * run.chance, f"C ln V, C = {c:.4g}"),
            BoundTerm("variation", sigma * math.sqrt(c), f"Σ √C, Σ = {sigma:.4g}"),
            BoundTerm("smoothing", smoothing, how),
        )

    def assumptions(self, run: TrainingRun) -> tuple[Assumption, ...]:
        if self.variation is not None:
            return (Assumption("plan.variation", values={"variation": self.variation}),)
        fit = Assumption("plan.fitted", values={"floor": FLOOR, "factor": FACTOR, "power": POWER})
        inside = FITTED[0] <= run.params <= FITTED[1]
        values = {"params": run.params, "least": FITTED[0], "most": FITTED[1]}
        return fit, Assumption("plan.fitted_range", "checked" if inside else "violated", values)


@dataclass(frozen=True)
class AzumaMethod(PlanMethod):
    """gap = Δ √((N b ln 2 + ln(1/δ₁)) / 2D) + Δ √(ln(1/δ₂) / 2m) + ln(1 / (1 - α)), Δ = ln(1 + (1 - α) V / α).

    `sample`: the loss was measured on m tokens drawn from all; δ is then split as in the published code, δ₁ = m δ /
    (m + D). None: on all tokens, and δ₁ = δ. `alpha` is the weight of smoothing; None: the best one, a formula of the
    other numbers and so free of charge. `smoothed`: the loss is that of the smoothed model already.
    """

    alpha: float | None = None
    sample: int | None = None
    smoothed: bool = False

    title = "Azuma-Hoeffding"
    reference = Reference("lotfi2024tokens", "token-level martingale bound")

    def __post_init__(self) -> None:
        if self.alpha is not None and not 0 < self.alpha < 1:
            raise UsageError(f"alpha must lie between 0 and 1, not {self.alpha:g}")
        if self.alpha is None and self.smoothed:
            raise UsageError("a loss of the smoothed model goes with the alpha it was smoothed with; give alpha")
        if self.sample is not None and not 1 <= self.sample < math.inf:
            raise UsageError(f"a sample must have 1 token or more, not {self.sample:g}")

    def rates(self, run: TrainingRun) -> tuple[float, float]:
        """What the range of the loss is multiplied by: for the description, and for the sample."""
        if self.sample is None:
            return hoeffding_gap(1.0, complexity(run.message_bits, run.tokens, run.delta)), 0.0
        whole, part = split_delta(run.delta, self.sample, run.tokens)
        told = hoeffding_gap(1.0, complexity(run.message_bits, run.tokens, whole))
        return told, hoeffding_gap(1.0, complexity(0, self.sample, part))

    def weight(self, run: TrainingRun) -> float:
        """α: as given, or where ln(1 / (1 - α)) + rate Δ(α) is least: (V - 1) α² - V (1 + rate) α + rate V = 0."""
        if self.alpha is not None:
            return self.alpha
        v, rate = float(run.vocabulary), sum(self.rates(run))
        middle = v * (1 + rate)
        # The smaller root, which is below 1, written so that nothing is lost where the rate is tiny.
        least = 2 * rate * v / (middle + math.sqrt((v * (1 - rate)) ** 2 + 4 * rate * v))
        return min(least, 1 - 1e-12)

    def terms(self, run: TrainingRun) -> tuple[BoundTerm, ...]:
        alpha, (told, drawn) = self.weight(run), self.rates(run)
        wide = loss_range(alpha, run.vocabulary)
        smoothing = (0.0, "the loss is smoothed already") if self.smoothed else (-math.log1p(-alpha), "ln(1 / (1 - α))")
        return (
            BoundTerm("description", wide * told, f"Δ times {told:.4g}, Δ = {wide:.4g} at α = {alpha:.4g}"),
            BoundTerm("sample", wide * drawn, f"Δ times {drawn:.4g}" if drawn else "none: all tokens were read"),
            BoundTerm("smoothing", *smoothing),
        )

    def assumptions(self, run: TrainingRun) -> tuple[Assumption, ...]:  # noqa: ARG002
        return () if self.sample is None else (Assumption("plan.sampled", values={"sample": self.sample}),)
