"""The one call: what the theory of limit transformers says of a task with this period, locality and alphabet."""

from __future__ import annotations

from lengthwise.errors import UsageError
from lengthwise.oracle.limit.margin import IZZO, SECONDARY
from lengthwise.oracle.limit.no_bound import two_layer_bound
from lengthwise.oracle.limit.theorems import SPEAKS_OF, UNKNOWN, counting_part, size
from lengthwise.records import Assumption, Claim, Reference


def limit_claims(period: int, locality: int, alphabet: int, train_size: int, test_size: int) -> list[Claim]:
    """What Theorem 4.1 gives at a training size, what counting alone needs, and that two layers have no bound.

    Norms, margin and error are not known before training, so the theorem's number stays a multiple of L²/eps²; it is
    vacuous when even that factor alone exceeds the training size.
    """
    if min(period, alphabet, train_size, test_size) < 1 or locality < 0:
        raise UsageError("period, alphabet, train size and test size are at least 1 and locality at least 0")
    return [
        _theorem(period, locality, alphabet, train_size),
        _counting(period, train_size, test_size),
        two_layer_bound(),
    ]


def _theorem(period: int, locality: int, alphabet: int, train_size: int) -> Claim:
    factor = counting_part(period, alphabet, locality)
    return Claim(
        "training length by Theorem 4.1 (one layer, finite precision)",
        f"C · {size(factor)} · L²/eps², C unknown",
        "tokens",
        "predicted",
        "vacuous" if 2**factor > train_size else "unknown",
        assumptions=(
            UNKNOWN,
            SPEAKS_OF,
            Assumption("attention has become hard: the length is also at least 2^(p/gamma)"),
            Assumption("words of every kind up to the training size are seen, not a sample"),
            SECONDARY,
        ),
        reference=Reference(IZZO, "Theorem 4.1, as secondary sources report it"),
        evidence={
            "formula": "max(2^(p/gamma), L² Δ⁷ |Σ|⁶ τ² / eps²)",
            "period": period,
            "locality": locality,
            "alphabet": alphabet,
            "train_size": train_size,
            "twice the period": "128 times as long",
            "twice the alphabet": "64 times as long",
            "twice the locality": "4 times as long",
        },
    )


def _counting(period: int, train_size: int, test_size: int) -> Claim:
    """Shares of words up to N leave gaps of 1/N: what a function of a share can hide between them."""
    hidden = period / train_size
    return Claim(
        "error that short words cannot rule out, per unit of L",
        hidden / 2 if test_size > train_size else 0.0,
        "",
        "heuristic",
        "vacuous" if hidden / 2 >= 1 and test_size > train_size else "holds",
        assumptions=(
            Assumption(
                "the answer is a function of a share counted by one head, with slope L, at one phase of the period"
            ),
            Assumption("N_sim is about period · L / (2 eps), as measured for simple_task and derived in docs/limit.md"),
        ),
        reference=Reference(IZZO, "simulation argument; the figure is measured here"),
        evidence={"train_size": train_size, "test_size": test_size, "period": period},
    )
