"""The length bounds of Izzo, Nichani and Lee as scalings: their constants are unknown, so no number here is a length.

Two limit transformers that agree (to eps) on all words up to N agree (to a multiple of eps) on all words, where

    Theorem 4.1  one layer, finite precision      N = O(max(2^(p/gamma), L² Δ⁷ |Σ|⁶ τ² / eps²))
    Theorem 4.2  the same, for average errors     N = Õ(eps^(-2 - 2/alpha)), and eps becomes sqrt(eps)
    Theorem 5.2  two layers, infinite precision   N <~ (C / eps)^max(1/gamma(f), 1/gamma(g), 3)

What does have a meaning: exponents, and ratios between two settings of one theorem (`ratio`). The theorems compare
limit transformers with each other. They do not say that training finds one, and nothing about rotary encodings or
linear biases.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from lengthwise.errors import UsageError
from lengthwise.oracle.limit.margin import IZZO, SECONDARY
from lengthwise.records import Assumption, Claim, Reference

UNKNOWN = Assumption("the constant in front is unknown: exponents and ratios have a meaning, the number alone has none")
SPEAKS_OF = Assumption(
    "both functions are limit transformers that agree on all words up to N; training may find neither"
)


@dataclass(frozen=True)
class Scaling:
    """What a theorem gives at one setting: a formula and the binary logarithm of its value with constant 1."""

    theorem: str
    formula: str
    log2: float
    setting: dict[str, float] = field(default_factory=dict)
    assumptions: tuple[Assumption, ...] = ()

    def claim(self) -> Claim:
        assumptions = (UNKNOWN, SPEAKS_OF, *self.assumptions, SECONDARY)
        evidence = {"formula": self.formula, "log2_with_constant_1": self.log2, **self.setting}
        name = f"agreement length, {self.theorem}"
        value = f"C · {size(self.log2)}, C unknown"
        reference = Reference(IZZO, f"{self.theorem}, as secondary sources report it")
        return Claim(name, value, "tokens", "predicted", "holds", None, assumptions, reference, evidence)

    def explain(self) -> list[str]:
        return [f"{self.theorem}: N grows like {self.formula}; with these settings C · {size(self.log2)}, C unknown"]

    def plain(self) -> dict[str, Any]:
        setting = dict(self.setting)
        return {"theorem": self.theorem, "formula": self.formula, "log2_with_constant_1": self.log2, "setting": setting}


def size(log2: float) -> str:
    """A number that may be too large to write, from its binary logarithm."""
    return f"{2**log2:.3g}" if log2 < 100 else f"2^{log2:.4g}"


def ratio(one: Scaling, other: Scaling) -> float:
    """How many times longer N is in one setting than in the other; the unknown constant drops out."""
    if one.theorem != other.theorem:
        raise UsageError(f"a ratio is between settings of one theorem, not of {one.theorem} and {other.theorem}")
    difference = one.log2 - other.log2
    return math.inf if difference > 1023 else 2.0**difference


def theorem_4_1(
    *, lipschitz: float, period: int, alphabet: int, locality: int, error: float, bits: int, margin: float | None
) -> Scaling:
    """max(2^(p/gamma), L² Δ⁷ |Σ|⁶ τ² / eps²). A locality of 0 is read as 1; margin None: attention is always hard."""
    _check(error, lipschitz=lipschitz, period=period, alphabet=alphabet, bits=bits)
    if locality < 0 or (margin is not None and not margin > 0):
        raise UsageError(f"a locality is 0 or more and a margin above 0, not {locality} and {margin}")
    counting = 2 * math.log2(lipschitz) + counting_part(period, alphabet, locality) - 2 * math.log2(error)
    hard = 0.0 if margin is None else bits / margin
    larger = "the hardmax term is the larger" if hard > counting else "the counting term is the larger"
    setting = {"L": lipschitz, "period": period, "alphabet": alphabet, "locality": locality, "eps": error, "bits": bits}
    return Scaling(
        "Theorem 4.1",
        "max(2^(p/gamma), L² Δ⁷ |Σ|⁶ τ² / eps²)",
        max(hard, counting),
        {**setting, "gamma": math.inf if margin is None else margin, "log2_hardmax": hard, "log2_counting": counting},
        (Assumption(larger, "checked"),),
    )


def counting_part(period: int, alphabet: int, locality: int) -> float:
    """log2 of Δ⁷ |Σ|⁶ τ²; a locality of 0 is read as 1."""
    return 7 * math.log2(period) + 6 * math.log2(alphabet) + 2 * math.log2(max(locality, 1))


def theorem_4_2(*, error: float, concentration: float) -> Scaling:
    """eps^(-2 - 2/alpha), alpha the smallest parameter of the Dirichlet law of the symbols' probabilities."""
    _check(error, concentration=concentration)
    power = 2 + 2 / concentration
    return Scaling(
        "Theorem 4.2",
        f"eps^-{power:.4g} (times a polynomial in L, Δ, τ, |Σ| and logarithms)",
        -power * math.log2(error),
        {"eps": error, "alpha": concentration, "exponent": power},
        (
            Assumption("symbols are independent given probabilities drawn from a Dirichlet law with full support"),
            Assumption("an average error of eps up to N becomes one of order sqrt(eps) beyond"),
        ),
    )


def theorem_5_2(*, error: float, margin: float | None, other_margin: float | None = None) -> Scaling:
    """(C/eps)^max(1/gamma(f), 1/gamma(g), 3); margins None: nothing has to vanish, and the exponent is 3."""
    _check(error)
    margins = [value for value in (margin, other_margin) if value is not None]
    if not all(value > 0 for value in margins):
        raise UsageError(f"a positional margin is above 0, not {min(margins)}")
    power = max([1 / value for value in margins] + [3.0])
    return Scaling(
        "Theorem 5.2",
        f"(C/eps)^{power:.4g}",
        -power * math.log2(error),
        {"eps": error, "exponent": power},
        (
            Assumption("C is exp(polynomial in the norms of layer 1 and of KᵀQ of layer 2); the polynomial is unknown"),
            Assumption(
                "sources differ on whether C is inside the power; this form follows from the parts of the proof"
            ),
        ),
    )


def kgram_exponent(k: int) -> Claim:
    """In-context k-grams: C = eps^-Theta(k²) and gamma >= 1, so N = eps^-Theta(k²)."""
    if k < 1:
        raise UsageError(f"k is at least 1, not {k}")
    reference = Reference(IZZO, "corollary of Theorem 5.2, as secondary sources report it")
    assumptions = (UNKNOWN, SPEAKS_OF, SECONDARY)
    value = f"eps^-Theta(k²), k² = {k * k}"
    return Claim("agreement length of k-grams", value, "tokens", "predicted", "holds", None, assumptions, reference)


def _check(error: float, **positive: float) -> None:
    if not 0 < error < 1:
        raise UsageError(f"an error lies between 0 and 1, not at {error}")
    for name, value in positive.items():
        if not 0 < value < math.inf:
            raise UsageError(f"{name} is above 0 and finite, not {value}")
