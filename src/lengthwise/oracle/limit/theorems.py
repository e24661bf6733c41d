"""Published length bounds: a scaling whose constant is unknown, a number for automata, and where no bound exists.

Two limit transformers that agree (to eps) on all words up to N agree (to a multiple of eps) on all words, where for one
layer at finite precision N = O(max(2^(p/gamma), L² Δ⁷ |Σ|⁶ τ² / eps²)) (Theorem 4.1 of Izzo, Nichani and Lee). What is
meaningful are exponents, and ratios between two settings. The theorem compares limit transformers with each other. It
does not say that training finds one, and nothing about rotary encodings or linear biases.
"""

from __future__ import annotations

import math

from lengthwise.errors import UsageError
from lengthwise.messages import explain
from lengthwise.oracle.limit.transformer import LimitTransformer, Number
from lengthwise.records import Assumption, Claim, Reference

IZZO = "izzo2026"
explain(
    {
        "limit.theorem": "training length by Theorem 4.1 (one layer, finite precision)",
        "limit.theorem_two": "training length by Theorem 5.2 (two layers, infinite precision)",
        "limit.two_models": "the other model has constants that are no worse",
        "limit.hidden_error": "error that short words cannot rule out, per unit of L",
        "limit.two_layers": "training length for C-RASP of two layers",
        "limit.automata": "agreement length of finite automata",
        "limit.training_length": "least training length",
        "limit.constant_unknown": "the constant in front is unknown: exponents and ratios are meaningful, the number "
        "alone is not",
        "limit.both_limits": "both functions are limit transformers that agree on all words up to N; training may find "
        "neither",
        "limit.attention_hard": "attention has become hard: the length is also at least 2^(p/gamma)",
        "limit.all_words_seen": "words of every kind up to the training size are seen, not a sample",
        "limit.secondary": "the statement is quoted as secondary sources report it; the paper itself was not read",
        "limit.abstract": "the statement is quoted from an abstract or a secondary source; its proof was not checked "
        "here",
        "limit.one_share": "the answer is a function of a share counted by one head, with slope L, at one phase of the "
        "period",
        "limit.stand_in_length": "a stand-in needs about period · L / (2 eps) symbols, as measured for simple_task and "
        "derived in docs/explanation/limit.md",
        "limit.complete_automata": "both automata are complete and have at most {one} and {other} states",
        "limit.agree_everywhere": "they agree on every word up to this length, not on a sample",
    }
)


def limit_claims(period: int, locality: int, alphabet: int, train_size: int, test_size: int) -> list[Claim]:
    """What Theorem 4.1 gives at a training size, what counting alone needs, and that two layers have no bound. Norms,
    margin and error are not known before training, so the theorem's number stays a multiple of L²/eps²; it is vacuous
    when that factor alone exceeds the training size."""
    if min(period, alphabet, train_size, test_size) < 1 or locality < 0:
        raise UsageError("period, alphabet, train size and test size are at least 1 and locality at least 0")
    return [
        _theorem(period, locality, alphabet, train_size),
        _hidden_error(period, train_size, test_size),
        two_layer_bound(),
    ]


def _theorem(period: int, locality: int, alphabet: int, train_size: int) -> Claim:
    # log2 of Δ⁷ |Σ|⁶ τ²; a locality of 0 is read as 1
    factor = 7 * math.log2(period) + 6 * math.log2(alphabet) + 2 * math.log2(max(locality, 1))
    given = {"period": period, "locality": locality, "alphabet": alphabet, "train_size": train_size}
    exponents = {"period": 7, "alphabet": 6, "locality": 2}
    written = f"{2**factor:.3g}" if factor < 100 else f"2^{factor:.4g}"
    keys = ("constant_unknown", "both_limits", "attention_hard", "all_words_seen", "secondary")
    value, status = f"C · {written} · L²/eps², C unknown", "vacuous" if 2**factor > train_size else "unknown"
    assumptions = tuple(Assumption(f"limit.{key}") for key in keys)
    reference = Reference(IZZO, "Theorem 4.1, as secondary sources report it")
    evidence = {"formula": "max(2^(p/gamma), L² Δ⁷ |Σ|⁶ τ² / eps²)", **given, "exponents": exponents}
    return Claim("limit.theorem", value, "", "predicted", status, None, assumptions, reference, evidence)


def one_layer_theorem(model: LimitTransformer, lipschitz: float, hard: int | None) -> Claim:
    """Theorem 4.1 with the constants of a limit transformer. `hard` is 2^(p/gamma), None beyond 4,000 digits."""
    period, alphabet, locality = model.period, len(model.symbols), max(model.locality, 1)
    keys = ("constant_unknown", "both_limits", "two_models", "all_words_seen", "secondary")
    assumptions = tuple(Assumption(f"limit.{key}") for key in keys)
    reference = Reference(IZZO, "Theorem 4.1, as secondary sources report it")
    evidence = {"period": period, "alphabet": alphabet, "locality": locality, "bits": model.bits}
    if math.isinf(lipschitz) or hard is None:
        return Claim("limit.theorem", None, "tokens", "predicted", "vacuous", None, assumptions, reference, evidence)
    logs = 2 * math.log10(lipschitz) if lipschitz else 0.0
    logs += 7 * math.log10(period) + 6 * math.log10(alphabet) + 2 * math.log10(locality)
    factor, length = (f"{10.0**log:.3g}" if log < 100 else f"10^{log:.4g}" for log in (logs, math.log10(hard)))
    value = f"C · max({length}, {factor}/eps²), C unknown"
    return Claim("limit.theorem", value, "", "predicted", "unknown", None, assumptions, reference, evidence)


def two_layers_theorem(margin: Number | None) -> Claim:
    """Theorem 5.2 with the positional margin of a limit transformer; without one, only the third power is left."""
    keys = ("constant_unknown", "both_limits", "two_models", "all_words_seen", "secondary")
    assumptions = tuple(Assumption(f"limit.{key}") for key in keys)
    reference = Reference(IZZO, "Theorem 5.2, as secondary sources report it")
    power = 3.0 if margin is None else max(1 / float(margin), 3.0)
    value = f"(C/eps)^{power:.4g}, C unknown"
    given = {"exponent": power}
    return Claim("limit.theorem_two", value, "", "predicted", "unknown", None, assumptions, reference, given)


def _hidden_error(period: int, train_size: int, test_size: int) -> Claim:
    """Shares of words up to N leave gaps of 1/N: what a function of a share can hide between them."""
    hidden = period / train_size / 2 if test_size > train_size else 0.0
    status = "vacuous" if hidden >= 1 else "holds"
    given = (Assumption("limit.one_share"), Assumption("limit.stand_in_length"))
    reference = Reference(IZZO, "simulation argument; the figure is measured here")
    evidence = {"train_size": train_size, "test_size": test_size, "period": period}
    return Claim("limit.hidden_error", hidden, "", "heuristic", status, None, given, reference, evidence)


def two_layer_bound() -> Claim:
    """For C-RASP programs of two layers no computable training length exists."""
    reference = Reference("yang2026bounds", "arXiv:2603.02238: no computable bound for C-RASP from two layers on")
    abstract = (Assumption("limit.abstract"),)
    return Claim("limit.two_layers", None, "tokens", "predicted", "refused", assumptions=abstract, reference=reference)


def dfa_length(states: int, other: int | None = None, key: str = "limit.automata") -> Claim:
    """Automata with n and m states that agree on all words up to n + m - 2 are equal (Moore): 2n - 2 for n = m. Proof
    in docs/explanation/limit.md. The learner must know a bound on the number of states and choose within it."""
    other = states if other is None else other
    if states < 1 or other < 1:
        raise UsageError(f"an automaton must have at least one state, not {min(states, other)}")
    complete = Assumption("limit.complete_automata", values={"one": states, "other": other})
    given = (complete, Assumption("limit.agree_everywhere"))
    reference = Reference("chen2025", "arXiv:2506.03085, 2n - 2 for n states; proof in docs/explanation/limit.md")
    length = max(states + other - 2, 0)
    return Claim(key, length, "tokens", "proved", "holds", None, given, reference, {"states": [states, other]})
