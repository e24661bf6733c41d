"""Hoeffding's inequality, and Azuma's for tokens that depend on each other: the range of a loss is all that counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from lengthwise.bounds.risk import Term
from lengthwise.bounds.tokens.formulas import hoeffding_gap
from lengthwise.bounds.tokens.inequalities.inequality import Ends, Inequality, Step
from lengthwise.seeds import Floats


@dataclass(frozen=True)
class Hoeffding(Inequality):
    """risk <= mean loss + Δ √(C / 2): statement G2 for documents, G4 for tokens."""

    name: ClassVar[str] = "hoeffding"

    def steps(self, complexity: float) -> tuple[Step, ...]:  # noqa: ARG002
        return (None,)

    def values(self, x: Floats, y: Floats, ends: Ends, step: Step | Floats, complexity: float) -> Floats:  # noqa: ARG002
        return x

    def value_ends(self, ends: Ends, step: Step, complexity: float) -> Ends:  # noqa: ARG002
        return ends

    def total(self, mean: float, ends: Ends, step: Step, complexity: float) -> float:  # noqa: ARG002
        return mean + hoeffding_gap(ends[1] - ends[0], complexity)

    def terms(self, loss: float, total: float, ends: Ends, complexity: float) -> list[Term]:  # noqa: ARG002
        return [Term("complexity", total - loss, f"Δ √(C / 2), C = {complexity:.4g}")]
