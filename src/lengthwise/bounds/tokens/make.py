"""Bounds on the loss in fresh documents, and on that of tokens given what came before them.

    token_bound      one of them
    bounds_for       all of them
    foreseen_bound   about what one will be, from a few losses

All are proved in docs/explanation/generalisation.md. Each holds with probability 1 - delta by itself.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

from lengthwise.bounds.risk import BoundTerm, RiskBound
from lengthwise.bounds.tokens.inequalities import Freedman, Hoeffding, Inequality, ProductInequality
from lengthwise.bounds.tokens.losses import TokenLosses, thinned
from lengthwise.bounds.tokens.problem import (
    TARGETS,
    Level,
    Target,
    TokenBound,
    assumptions_of,
    chance_level,
    make_problem,
    quantity_of,
)
from lengthwise.errors import UsageError
from lengthwise.messages import explain
from lengthwise.records import Assumption

CHOOSE_ON = 10_000  # tokens on which settings are chosen; whatever is chosen is paid for, so this only saves time
STATEMENTS = {
    ("documents", "hoeffding"): "G2, after lotfi2024documents",
    ("documents", "product"): "G3",
    ("tokens", "hoeffding"): "G4, after lotfi2024tokens",
    ("tokens", "product"): "G5",
    ("tokens", "freedman"): "G6, after finzi2025",
}
_PLACES = {"documents": "fresh documents", "tokens": "tokens in contexts seen"}

explain({"term.data": "on the data", "term.sampling": "sampling"})
explain(
    {
        f"tokens.{target}.{level}.{inequality}": f"{target} of {_PLACES[level]}, {inequality}"
        for target in TARGETS
        for level, inequality in STATEMENTS
    }
)


def token_bound(
    losses: TokenLosses,
    message_bits: float,
    *,
    level: Level = "tokens",
    inequality: Inequality = Hoeffding(),  # noqa: B008  # frozen
    target: Target = "loss",
    delta: float = 0.05,
    population: int | None = None,
    own: Sequence[Assumption] = (),
) -> TokenBound:
    """One bound, at the level of documents or of tokens.

    documents   the expected loss per token of a fresh document, a document's loss being the mean over its tokens;
                documents are independent (Hoeffding, or the product inequality)
    tokens      the expected loss of the next token, averaged over the contexts of the training data; tokens may depend
                on each other in any way (Azuma-Hoeffding, the product inequality, or empirical Freedman)

    `population` is how many documents, or tokens, the model was trained on, if `losses` are of a sample that was drawn
    after training: documents drawn uniformly; for tokens, units of equal length (the "documents" of `losses`) drawn
    uniformly, or units of any length drawn in proportion to it, with replacement, and numbered by draw. None if they
    are of all. `own` are further assumptions of the caller's.
    """
    if level == "documents" and isinstance(inequality, Freedman):
        raise UsageError("Freedman's inequality is for tokens: what a model expects of a document depends on it")
    problem = make_problem(
        losses, message_bits, target=target, level=level, inequality=inequality, delta=delta, population=population
    )
    some = thinned(losses, CHOOSE_ON, level == "documents" or problem.price is not None)
    alpha, step = problem.best_settings(some)
    mean = problem.mean_loss(losses, alpha)
    whole, total = problem.totals(losses, alpha, step)
    terms = [
        BoundTerm("data", mean, "errors" if alpha is None else f"smoothed with α = {alpha:.3g}"),
        *inequality.terms(mean, whole, problem.ends(alpha), problem.complexity),
    ]
    if problem.price is not None:
        terms.append(BoundTerm("sampling", total - whole, f"{len(losses.starts)} units were read"))
    chance = chance_level(target, losses.vocabulary)
    assumptions = (*assumptions_of(problem, losses), *own)
    risk = RiskBound(
        key=f"tokens.{target}.{level}.{inequality.name}",
        terms=tuple(terms),
        ceiling=chance,
        kind="heuristic" if any(one.check == "violated" for one in assumptions) else "certified",
        assumptions=assumptions,
        statement=STATEMENTS[level, inequality.name],
        evidence={
            "message_bits": message_bits,
            "trained_on": {"count": problem.count, "of": problem.level},
            "read": {"tokens": len(losses), "documents": len(losses.starts)},
            "settings_paid_for": len(problem.alphas) * len(problem.steps),
            "vocabulary": losses.vocabulary,
            "ln_vocabulary": math.log(losses.vocabulary),
        },
        page="docs/explanation/generalisation.md",
    )
    return TokenBound(
        risk, quantity_of(problem), target, level, inequality.name, delta, problem.complexity, chance, alpha, step
    )


def bounds_for(
    losses: TokenLosses,
    message_bits: float,
    *,
    delta: float = 0.05,
    tokens: int | None = None,
    documents: int | None = None,
    own: Sequence[Assumption] = (),
) -> tuple[TokenBound, ...]:
    """All bounds that can be made of the loss and of the top-k errors; those of documents need two documents.

    Each holds with probability 1 - delta. To pick the smallest of j, make them with delta / j, or read the
    `probability_of_all` in their evidence. A sample of tokens is a sample of documents only if `documents` is given.
    """
    ways: list[tuple[Level, Inequality, int | None]] = [
        ("tokens", Hoeffding(), tokens),
        ("tokens", ProductInequality(), tokens),
        ("tokens", Freedman(), tokens),
    ]
    if len(losses.starts) > 1 and (tokens is None or documents is not None):
        ways[:0] = [("documents", Hoeffding(), documents), ("documents", ProductInequality(), documents)]
    if documents is not None and documents > len(losses.starts) and tokens is None:
        ways = ways[:2]  # how many tokens there are in all is not known
    usual: dict[str, Any] = {"delta": delta, "own": own}
    made = [
        token_bound(losses, message_bits, level=level, inequality=one, target=target, population=count, **usual)
        for target in TARGETS
        if chance_level(target, losses.vocabulary) > 0
        for level, one, count in ways
    ]
    note = {"bounds": len(made), "probability_of_all": max(0.0, 1 - len(made) * delta)}
    return tuple(
        dataclasses.replace(one, risk=dataclasses.replace(one.risk, evidence=one.risk.evidence | note)) for one in made
    )


def foreseen_bound(
    losses: TokenLosses, message_bits: float, count: int, *, level: Level = "tokens", delta: float = 0.05
) -> float:
    """About what the bound of the loss would be, in nats, if there were `count` tokens (Freedman) or documents
    (product) and all went as in these `losses`: to choose by, before all losses are known."""
    problem = make_problem(
        losses,
        message_bits,
        target="loss",
        level=level,
        inequality=Freedman() if level == "tokens" else ProductInequality(),
        delta=delta,
        population=max(count, len(losses) if level == "tokens" else len(losses.starts)),
    )
    problem = dataclasses.replace(problem, price=None)
    return problem.totals(losses, *problem.best_settings(losses))[1]
