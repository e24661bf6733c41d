"""Where a training length is known, where only its growth is, and where none can exist."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from lengthwise.errors import UsageError
from lengthwise.oracle.limit.margin import SECONDARY
from lengthwise.oracle.limit.transformer import LimitTransformer
from lengthwise.records import Assumption, Claim, Reference

ABSTRACT = Assumption("the statement is quoted from an abstract or a secondary source; its proof was not checked here")


def two_layer_bound() -> Claim:
    """For C-RASP programs of two layers no computable training length exists."""
    return Claim(
        "training length for C-RASP of two layers",
        None,
        "tokens",
        "predicted",
        "refused",
        assumptions=(ABSTRACT,),
        reference=Reference("yang2026bounds", "arXiv:2603.02238: no computable bound for C-RASP from two layers on"),
        evidence={
            "why": "no computable function of the program's size gives a length up to which agreement implies equality",
            "exception": "in the positive fragment (transformers of fixed precision) it is computable, but exponential",
            "see also": "Chen, Ma and Li 2025 report T^O(K) for two layers with K heads in a restricted form",
        },
    )


def dfa_length(states: int, other: int | None = None) -> Claim:
    """Automata with n and m states that agree on all words up to n + m - 2 are equal (Moore): 2n - 2 for n = m.

    Proof in docs/limit.md. The learner must know a bound on the number of states and choose within it.
    """
    other = states if other is None else other
    if states < 1 or other < 1:
        raise UsageError(f"an automaton has at least one state, not {min(states, other)}")
    return Claim(
        "agreement length of finite automata",
        max(states + other - 2, 0),
        "tokens",
        "proved",
        assumptions=(
            Assumption(f"both automata are complete and have at most {states} and {other} states"),
            Assumption("they agree on every word up to this length, not on a sample"),
        ),
        reference=Reference("chen2025", "arXiv:2506.03085, 2n - 2 for n states; proof in docs/limit.md"),
        evidence={"states": [states, other]},
    )


def one_layer_length(precision: int) -> Claim:
    """C-RASP of one layer whose numbers are at most T: O(T²)."""
    if precision < 1:
        raise UsageError(f"a precision is at least 1, not {precision}")
    constant = Assumption("the constant in front is unknown: the growth has a meaning, the number alone has none")
    return Claim(
        "training length for C-RASP of one layer",
        f"O(T²), T² = {precision**2}",
        "tokens",
        "predicted",
        assumptions=(constant, ABSTRACT),
        reference=Reference("chen2025", "arXiv:2506.03085, one layer of precision T"),
        evidence={"precision": precision},
    )


def unseen_symbols(seen: Collection[str], symbols: Collection[str]) -> Claim:
    """What agreement on short words over some symbols says of long words over the others: nothing, at any length."""
    missing = [symbol for symbol in symbols if symbol not in seen]
    return Claim(
        "training length when symbols are missing from the short words",
        None if missing else "not excluded",
        "tokens",
        "proved",
        "refused" if missing else "holds",
        assumptions=(SECONDARY,),
        reference=Reference("izzo2026", "necessity of regularity for Theorem 4.2; counterexample in docs/limit.md"),
        evidence={"missing": missing, "witness": "two transformers that differ in the embedding of a missing symbol"},
    )


def differing_on(model: LimitTransformer, symbol: str) -> LimitTransformer:
    """A transformer equal to this one on all words without the symbol, of any length: its embedding is negated."""
    if symbol not in model.symbols:
        raise UsageError(f"the symbols are {' '.join(model.symbols)}; {symbol!r} is none of them")
    embeddings = model.embeddings.copy()
    row = model.symbols.index(symbol)
    embeddings[row] = [-entry for entry in embeddings[row]]
    return replace(model, embeddings=embeddings)
