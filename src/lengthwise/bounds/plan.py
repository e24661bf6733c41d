"""What a training run could guarantee before it is carried out: the bound, and what a better one would take.

`GuaranteePlan` adds the terms of a method to the loss hoped for. `tokens_for`, `params_for` and `bits_for` invert it:
how many tokens, how large a model or how many bits a goal allows. Every number is a prediction: it rests on a loss,
a description length and a loss variation that nobody has measured yet.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from lengthwise.bounds.plan_methods import FreedmanMethod, PlanMethod, TrainingRun
from lengthwise.bounds.risk import BoundTerm
from lengthwise.errors import UsageError
from lengthwise.messages import explain
from lengthwise.records import Assumption, Claim, Status

QUANTITY = (
    "average over the training tokens of the expected loss given what came before, on the contexts seen in training, "
    "not on fresh documents"
)
MOST = 1e30  # tokens, params or bits beyond which a goal is called out of reach
explain(
    {
        "plan.gap": "gap of {params:.4g} parameters at {bits:g} bits, {tokens:.4g} tokens",
        "plan.bound": "bound of {params:.4g} parameters at {bits:g} bits, {tokens:.4g} tokens",
        "plan.loss": "the loss on the training data will be {loss:g} nats",
        "plan.described": (
            "the model can be described in {bits:g} bits per parameter, everything that its decoder needs included, "
            "at a cost of {cost:g} nats of loss"
        ),
        "plan.code": "the code of the description and the tokenizer were fixed before the data were seen",
        "plan.vocabulary": "the vocabulary has {vocabulary:,} tokens",
        "term.quantisation": "quantisation",
    }
)
LINE = (7e7, 4.1e8, 1e9, 2.8e9, 6.9e9, 1.2e10, 7e10, 1e12)  # params along a line of constant tokens per parameter


@dataclass(frozen=True)
class GuaranteePlan:
    """The gap of a run by a method, and the bound where a loss is given; all in nats.

    `loss` is that of the model on its training data before it is quantised, `quantisation` what quantising adds to it.
    """

    run: TrainingRun
    method: PlanMethod
    loss: float | None = None
    quantisation: float = 0.0

    def __post_init__(self) -> None:
        for name, value in (("a loss", self.loss), ("a quantisation gap", self.quantisation)):
            if value is not None and not 0 <= value < math.inf:
                raise UsageError(f"{name} must be a number of nats of 0 or more, not {value:g}")
        try:
            whole = (self.loss or 0.0) + self.gap
        except OverflowError:
            whole = math.inf
        if not whole < math.inf:
            raise UsageError("loss and gap add up to more than a float can hold; give smaller numbers")

    @property
    def terms(self) -> tuple[BoundTerm, ...]:
        """What the gap is made of."""
        quantising = BoundTerm("quantisation", self.quantisation, "as given" if self.quantisation else "none was given")
        return (*self.method.terms(self.run), quantising)

    @property
    def gap(self) -> float:
        return math.fsum(term.value for term in self.terms)

    @property
    def bound(self) -> float | None:
        return None if self.loss is None else self.loss + self.gap

    @property
    def status(self) -> Status:
        """Vacuous where a uniform guess is promised as much; without a loss, where that holds of the gap alone."""
        return "vacuous" if (self.loss or 0.0) + self.gap >= self.run.chance else "holds"

    @property
    def break_even(self) -> float | None:
        """The gap at which the bound is that of a uniform guess; None where no loss is given."""
        return None if self.loss is None else self.run.chance - self.loss

    def claim(self) -> Claim:
        """The bound, or the gap where there is no loss."""
        run, whole = self.run, self.gap if self.bound is None else self.bound
        return Claim(
            key="plan.gap" if self.loss is None else "plan.bound",
            value=whole,
            unit="nats per token, at most",
            kind="predicted",
            status=self.status,
            assumptions=(
                *([] if self.loss is None else [Assumption("plan.loss", values={"loss": self.loss})]),
                Assumption("plan.described", values={"bits": run.bits, "cost": self.quantisation}),
                Assumption("plan.code"),
                Assumption("plan.vocabulary", values={"vocabulary": run.vocabulary}),
                *self.method.assumptions(run),
            ),
            reference=self.method.reference,
            evidence={
                "quantity": QUANTITY,
                **{name: getattr(run, name) for name in ("params", "bits", "tokens")},
                "method": self.method.title,
                "terms": {term.key: term.value for term in self.terms},
                "bits_per_token": whole / math.log(2),
                "loss": self.loss,
                "chance": run.chance,
                "delta": run.delta,
            },
        )


# --- what a goal takes ----------------------------------------------------------------------------------------------


def tokens_for(plan: GuaranteePlan, goal: float) -> float | None:
    """The fewest tokens at which the gap is below `goal`; None where no number of them is enough."""
    found = _edge(plan, goal, "tokens", MOST, 1.0)
    # Whole tokens, where a float still distinguishes them; one more is never worse, as the gap falls with tokens.
    return float(math.ceil(found)) if found is not None and found < 2**53 else found


def params_for(plan: GuaranteePlan, goal: float) -> float | None:
    """The largest model whose gap is below `goal`; None where not even the smallest that the method can judge is."""
    found = _edge(plan, goal, "params", plan.method.least_params, MOST)
    return float(math.floor(found)) if found is not None and found < 2**53 else found


def bits_for(plan: GuaranteePlan, goal: float) -> float | None:
    """The most bits per parameter at which the gap is below `goal`, at the same loss; None where there is no room."""
    return _edge(plan, goal, "bits", 1e-9, MOST)


def _with(plan: GuaranteePlan, **changed: float) -> GuaranteePlan:
    return replace(plan, run=replace(plan.run, **changed))


def _edge(plan: GuaranteePlan, goal: float, name: str, good: float, bad: float) -> float | None:
    """The value of a number of the run farthest from `good` towards `bad` at which the gap is below the goal; by
    bisection of logarithms. None where it is not even at `good`.

    The goal must be reached from `good` up to some number and nowhere beyond it. What is returned is on the good side.
    """

    def reached(value: float) -> bool:
        return _with(plan, **{name: value}).gap < goal

    if not reached(good):
        return None
    if reached(bad):
        return bad
    while True:
        middle = math.sqrt(good) * math.sqrt(bad)
        if not min(good, bad) < middle < max(good, bad) or abs(good / bad - 1) < 1e-12:
            return good
        good, bad = (middle, bad) if reached(middle) else (good, middle)


def solved(plan: GuaranteePlan, missing: str, goal: float) -> GuaranteePlan:
    """The plan with `missing`, "tokens" or "params", set to what just reaches the goal."""
    found = tokens_for(plan, goal) if missing == "tokens" else params_for(plan, goal)
    if found is None:
        least = plan.method.least_params
        raise UsageError(
            f"no number of tokens brings the gap below {goal:.4g} nats; ask for a larger gap, or measure on more tokens"
            if missing == "tokens"
            else f"no model of {least:,.0f} parameters or more has a gap below {goal:.4g} nats on "
            f"{plan.run.tokens:.3g} tokens; give more tokens, fewer bits or a larger gap"
        )
    return _with(plan, **{missing: found})


# --- tables ---------------------------------------------------------------------------------------------------------


def needs(plan: GuaranteePlan) -> list[dict[str, Any]]:
    """For each goal, with the rest as it is: the tokens it takes, the largest model and the most bits it allows.

    Goals are to beat chance where a loss is given, and gaps of 1 and of half a nat."""
    goals = {"below chance": plan.break_even or 0.0, "gap of 1 nat": 1.0, "gap of 0.5 nats": 0.5}
    ways = {"tokens": tokens_for, "params": params_for, "bits": bits_for}
    return [
        {"goal": name, "gap": goal, **{what: way(plan, goal) for what, way in ways.items()}}
        for name, goal in goals.items()
        if goal > 0
    ]


def along_line(plan: GuaranteePlan, ratio: float = 20.0, sizes: Sequence[float] = LINE) -> list[dict[str, Any]]:
    """The gap of models of several sizes, each trained on `ratio` tokens per parameter; 20 is about compute-optimal.

    Where the method is Freedman's, `published` is the gap with the paper's looser smoothing term.
    """
    if not 0 < ratio < math.inf:
        raise UsageError(f"the tokens per parameter must be a number above 0, not {ratio:g}")
    rows = []
    for params in sizes:
        here = _with(plan, params=params, tokens=ratio * params)
        row: dict[str, Any] = {"params": params, "tokens": ratio * params, "gap": here.gap, "status": here.status}
        row |= {term.key: term.value for term in here.terms}
        if isinstance(plan.method, FreedmanMethod):
            row["published"] = replace(here, method=replace(plan.method, published=True)).gap
        rows.append(row)
    return rows


def edges(plan: GuaranteePlan, levels: Sequence[float], sizes: Sequence[float]) -> list[dict[str, Any]]:
    """How many tokens per parameter it takes to bring the gap below each level, by size; None where none are enough."""
    rows = []
    for params in sizes:
        here = _with(plan, params=params)
        for level in levels:
            tokens = tokens_for(here, level)
            rows.append({"params": params, "level": level, "ratio": None if tokens is None else tokens / params})
    return rows
