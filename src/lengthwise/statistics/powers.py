"""Power laws in one or two variables: y = C x^p v^q, fitted to logarithms by least squares, with intervals.

Of the exponents themselves the intervals are Student's; of a ratio of two of them Fieller's (fieller1954), which is
also the set of ratios that a test at this level does not reject, so the profile interval of the ratio.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.records import Interval
from lengthwise.seeds import Floats
from lengthwise.statistics.bootstrap import LEVEL, finite

STUDENT, FIELLER = "least squares on logarithms, Student's t", "least squares on logarithms, Fieller"


@dataclass(frozen=True, eq=False)
class PowerLaw:
    """log y = coefficients[0] + Σ coefficients[k] log x_k, their covariance, and the residuals."""

    coefficients: Floats
    covariance: Floats
    residual: float
    freedom: int

    def exponent(self, place: int) -> float:
        """The exponent of variable `place`, counted from 0."""
        return float(self.coefficients[1 + place])

    def interval(self, place: int, level: float = LEVEL) -> Interval:
        """Student's interval of an exponent."""
        half = self._quantile(level) * math.sqrt(max(float(self.covariance[1 + place, 1 + place]), 0.0))
        middle = self.exponent(place)
        return Interval(middle - half, middle + half, level, STUDENT)

    def value(self, *variables: float) -> float:
        """y at these variables."""
        return math.exp(float(self.coefficients @ [1.0, *map(math.log, variables)]))

    def ratio_interval(self, above: int | None, below: int, level: float = LEVEL) -> Interval | None:
        """Fieller's interval of exponent `above` over exponent `below`, of 1 over it where `above` is None. None where
        the exponent below cannot be told from 0, so that any ratio is possible."""
        t2 = self._quantile(level) ** 2
        b, vbb = self.exponent(below), float(self.covariance[1 + below, 1 + below])
        a, vaa, vab = 1.0, 0.0, 0.0
        if above is not None:
            a, vaa = self.exponent(above), float(self.covariance[1 + above, 1 + above])
            vab = float(self.covariance[1 + above, 1 + below])
        # (a - r b)² <= t² (vaa - 2 r vab + r² vbb) as a quadratic in r
        square, linear, constant = b * b - t2 * vbb, -2 * (a * b - t2 * vab), a * a - t2 * vaa
        if square <= 0:
            return None
        root = math.sqrt(max(linear * linear - 4 * square * constant, 0.0))
        return Interval((-linear - root) / (2 * square), (-linear + root) / (2 * square), level, FIELLER)

    def _quantile(self, level: float) -> float:
        from scipy.stats import t

        return float(t.ppf((1 + level) / 2, self.freedom))


def power_law(y: Sequence[float], *variables: Sequence[float]) -> PowerLaw:
    """The power law of y > 0 in variables > 0. It needs more points than coefficients, and each variable has to take
    two values or more that the others do not explain."""
    columns = [finite(row, "variables") for row in variables]
    values = finite(y, "values")
    if any(len(column) != len(values) for column in columns):
        raise UsageError("every value has one number of each variable")
    if any((row <= 0).any() for row in (values, *columns)):
        raise UsageError("a power law is fitted to numbers above 0")
    design = np.column_stack([np.ones(len(values)), *map(np.log, columns)])
    freedom = len(values) - design.shape[1]
    if freedom < 1 or np.linalg.matrix_rank(design) < design.shape[1]:
        raise UsageError(f"{len(values)} points do not determine a power law in {len(columns)} variables")
    inverse = np.linalg.inv(design.T @ design)
    coefficients = inverse @ design.T @ np.log(values)
    left = np.log(values) - design @ coefficients
    variance = float(left @ left) / freedom
    return PowerLaw(coefficients, inverse * variance, math.sqrt(variance), freedom)
