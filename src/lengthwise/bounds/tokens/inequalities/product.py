"""The product inequality: as tight as Chernoff's bound for errors, tighter where losses vary less than errors do."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from lengthwise.bounds.risk import Term
from lengthwise.bounds.tokens.inequalities.inequality import Ends, Inequality, Step
from lengthwise.seeds import Floats


@dataclass(frozen=True)
class Product(Inequality):
    """With x scaled to [0, 1]: risk <= (1 - exp(mean ln(1 - t x) - C)) / t, for every t of the steps.

    Statement G3 for documents and samples, G5 for tokens. It expands to mean + C / t + t variance / 2: only the
    variance of the losses counts, and the range only in second order.
    """

    name: ClassVar[str] = "product"

    def values(self, x: Floats, y: Floats, ends: Ends, step: Step | Floats, complexity: float) -> Floats:  # noqa: ARG002
        assert step is not None
        return -np.log1p(-step / (ends[1] - ends[0]) * (x - ends[0]))

    def value_ends(self, ends: Ends, step: Step, complexity: float) -> Ends:  # noqa: ARG002
        assert step is not None
        return 0.0, -math.log1p(-step)

    def total(self, mean: float, ends: Ends, step: Step, complexity: float) -> float:
        assert step is not None
        share = -math.expm1(-mean - complexity) / step
        return ends[0] + (ends[1] - ends[0]) * min(1.0, share)

    def terms(self, loss: float, total: float, ends: Ends, complexity: float) -> list[Term]:  # noqa: ARG002
        return [Term("complexity", total - loss, f"C / t and the variance of the losses, C = {complexity:.4g}")]
