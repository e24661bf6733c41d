"""The inequalities that bounds are made from: Hoeffding (and Azuma), the product inequality, and empirical Freedman.

Hoeffding   only the range of a loss matters; Azuma's, for tokens that depend on each other, has the same form
Product     as tight as Chernoff's bound for errors, tighter where losses vary less than errors do
Freedman    what matters is how far losses are from what the model itself expected
"""

from __future__ import annotations

import abc
import functools
import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from lengthwise.bounds.risk import BoundTerm
from lengthwise.bounds.tokens.formulas import hoeffding_gap
from lengthwise.messages import explain
from lengthwise.seeds import Floats

Ends = tuple[float, float]  # the least and the most that something can be
Step = float | None  # None for an inequality that has none
STEPS = 64  # measured: 64 steps are within 1 % of the best step there is (tests/bounds/tokens/test_inequalities.py)


explain({"term.complexity": "complexity", "term.variation": "variation"})


class Inequality(abc.ABC):
    """An inequality of the shape: the risk is at most `total` of a mean of `values`.

    x, the losses, lie between their `ends`; y is what the model expected of them, known before they were seen. For
    every step of `steps` the inequality holds with a probability that `complexity` pays for, so the best step may be
    searched for. The mean is over all data: where only a sample is available, the caller bounds that mean, for which
    `value_ends` gives the range of a value.
    """

    name: ClassVar[str]

    def steps(self, complexity: float) -> tuple[Step, ...]:
        """The settings to choose from after the data were seen. Their number is fixed, as it is paid for."""
        return step_grid(complexity, STEPS)

    @abc.abstractmethod
    def values(self, x: Floats, y: Floats, ends: Ends, step: Step | Floats, complexity: float) -> Floats:
        """What is to be averaged, for each loss; many steps at once give a column each to a column of losses."""

    @abc.abstractmethod
    def value_ends(self, ends: Ends, step: Step, complexity: float) -> Ends:
        """The least and the most that a value can be, whatever the losses."""

    @abc.abstractmethod
    def total(self, mean: float, ends: Ends, step: Step, complexity: float) -> float:
        """The bound of the risk, from the mean of the values (or from more than it: it never falls with the mean)."""

    @abc.abstractmethod
    def terms(self, loss: float, total: float, ends: Ends, complexity: float) -> list[BoundTerm]:
        """What is added to the mean loss to give the total, by name."""


@functools.lru_cache(maxsize=64)
def step_grid(complexity: float, count: int) -> tuple[float, ...]:
    """`count` steps between 0 and 1, evenly spaced in ln(s / (1 - s)), from about √C / 2 up to 0.999.

    A best step is about √(2C / variance) with a variance of at most 1 and cannot be much below √C.
    """
    least = min(math.sqrt(complexity) / 2, 0.5)
    first, last = math.log(least / (1 - least)), math.log(999.0)
    return tuple(1 / (1 + math.exp(-(first + (last - first) * i / (count - 1)))) for i in range(count))


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

    def terms(self, loss: float, total: float, ends: Ends, complexity: float) -> list[BoundTerm]:  # noqa: ARG002
        return [BoundTerm("complexity", total - loss, f"Δ √(C / 2), C = {complexity:.4g}")]


@dataclass(frozen=True)
class ProductInequality(Inequality):
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

    def terms(self, loss: float, total: float, ends: Ends, complexity: float) -> list[BoundTerm]:  # noqa: ARG002
        return [BoundTerm("complexity", total - loss, f"C / t and the variance of the losses, C = {complexity:.4g}")]


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

    def terms(self, loss: float, total: float, ends: Ends, complexity: float) -> list[BoundTerm]:
        first = -(ends[1] - ends[0]) * math.expm1(-complexity)
        return [
            BoundTerm("complexity", first, f"Δ (1 - e^-C), C = {complexity:.4g}"),
            BoundTerm("variation", total - loss - first, "how far losses were from what the model expected"),
        ]
