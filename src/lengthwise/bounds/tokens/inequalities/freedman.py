"""The empirical Freedman inequality: what counts is how far losses are from what the model itself expected."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from lengthwise.bounds.risk import Term
from lengthwise.bounds.tokens.inequalities.inequality import Ends, Inequality, Step
from lengthwise.seeds import Floats


@dataclass(frozen=True)
class Freedman(Inequality):
    """risk <= mean y + (Δ / s) (1 - e^-C (1 + mean ln(1 + s A))), A = (y - x) / Δ, y at least the least loss.

    Statement G6. y may be anything that is known before x is. finzi2025 have C - mean ln(1 + s A) in the place of
    1 - e^-C (1 + mean ln(1 + s A)), which is the same to first order in C and grows without end.
    """

    name: ClassVar[str] = "freedman"

    def values(self, x: Floats, y: Floats, ends: Ends, step: Step | Floats, complexity: float) -> Floats:
        assert step is not None
        low, high = ends
        y = np.maximum(y, low)
        scale = step / (high - low)
        return y - math.exp(-complexity) / scale * np.log1p(scale * (y - x))

    def value_ends(self, ends: Ends, step: Step, complexity: float) -> Ends:
        # A value grows with x. At the least x it is least where y is least; at the greatest x it is convex in y.
        assert step is not None
        low, high = ends
        return low, max(high, low - math.exp(-complexity) * (high - low) / step * math.log1p(-step))

    def total(self, mean: float, ends: Ends, step: Step, complexity: float) -> float:
        assert step is not None
        return mean - (ends[1] - ends[0]) / step * math.expm1(-complexity)

    def terms(self, loss: float, total: float, ends: Ends, complexity: float) -> list[Term]:
        first = -(ends[1] - ends[0]) * math.expm1(-complexity)
        return [
            Term("complexity", first, f"Δ (1 - e^-C), C = {complexity:.4g}"),
            Term("variation", total - loss - first, "how far losses were from what the model expected"),
        ]
