"""What theory says of the training length that an error needs, as exponents: for the families that have a theory."""

from __future__ import annotations

from dataclasses import dataclass

from lengthwise.messages import explain, sentence
from lengthwise.records import Reference

IZZO = "izzo2026"
explain(
    {
        "lengths.theorem_4_1": "Theorem 4.1: L² Δ⁷ / error², L ~ omega",
        "lengths.theorem_4_1_hard": "Theorem 4.1, hard attention: Δ L² / error²",
        "lengths.theorem_4_2": "Theorem 4.2: error^(-2 - 2/alpha), alpha 1",
        "lengths.stand_in": "stand-ins: about Δ omega / error",
        "lengths.corollary_5_2": "Theorem 5.2, k-grams: error^(-Θ(k²))",
        "lengths.reported": "upper bound, as reported",
        "lengths.proved": "proved",
        "lengths.derived": "derived",
        "lengths.measured": "measured",
        "lengths.this_study": "this study",
    }
)


@dataclass(frozen=True)
class TheoryLine:
    """A statement about one family: the exponent of 1/error and of its parameters; None where no number is known."""

    key: str
    kind: str  # the key of how well it is known
    error: float | None
    parameters: dict[str, float]
    reference: Reference

    @property
    def statement(self) -> str:
        return sentence(self.key)

    @property
    def known(self) -> str:
        return sentence(self.kind)


def _reported(key: str, error: float | None, parameters: dict[str, float], place: str) -> TheoryLine:
    return TheoryLine(f"lengths.{key}", "lengths.reported", error, parameters, Reference(IZZO, place))


_STAND_IN = Reference("docs/explanation/limit.md", "statement 5")
THEORY = {
    "simple_task": (
        _reported("theorem_4_1", 2.0, {"omega": 2.0}, "Theorem 4.1"),
        TheoryLine("lengths.stand_in", "lengths.proved", 1.0, {"omega": 1.0}, _STAND_IN),
    ),
    "modp_task": (
        _reported("theorem_4_1", 2.0, {"period": 7.0}, "Theorem 4.1"),
        _reported("theorem_4_1_hard", 2.0, {"period": 1.0}, "remark on Theorem 4.1"),
        TheoryLine("lengths.stand_in", "lengths.derived", 1.0, {"period": 1.0}, _STAND_IN),
    ),
    "kgram_law": (_reported("corollary_5_2", None, {}, "Theorem 5.2, corollary on k-grams"),),
}
_DIRICHLET = _reported("theorem_4_2", 4.0, {}, "Theorem 4.2")


def theory_of(family: str, measure: str) -> tuple[TheoryLine, ...]:
    """The statements about a family; of an average over Dirichlet prompts Theorem 4.2 in place of 4.1."""
    lines = THEORY.get(family, ())
    if measure != "dirichlet" or family not in ("simple_task", "modp_task"):
        return lines
    return (_DIRICHLET, *(line for line in lines if "theorem" not in line.key))
