"""The monotone curve nearest to the points, without assuming a shape.

Isotonic regression minimises sum_i w_i (y_i - f_i)^2 over f_1 >= f_2 >= … (or <=, if increasing); barlow1972,
chapter 1. The fit is a step function whose steps are means of neighbouring points.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.seeds import Floats
from lengthwise.statistics.bootstrap import finite


@dataclass(frozen=True, eq=False)
class Isotonic:
    """A monotone fit: sizes in order, the mean of what was measured there, how many points that is, and the fit."""

    x: Floats
    y: Floats
    weights: Floats
    fitted: Floats

    def explained(self) -> float | None:
        """The share of the weighted variance over sizes that the fit explains; None where nothing varies. The fit is
        free, so it explains part of pure noise as well."""
        around = float(self.weights @ (self.y - np.average(self.y, weights=self.weights)) ** 2)
        if around <= 1e-24 * float(self.weights @ self.y**2):  # nothing varies but the last digit
            return None
        return min(1.0, max(0.0, 1 - float(self.weights @ (self.y - self.fitted) ** 2) / around))


def isotonic_fit(x: Sequence[float], y: Sequence[float], increasing: bool = False) -> Isotonic:
    """The monotone fit to points, of which those at the same x are pooled."""
    from scipy.optimize import isotonic_regression

    sizes, values = finite(x, "sizes"), finite(y, "values")
    if not len(sizes) or len(values) != len(sizes):
        raise UsageError(f"a fit needs a point or more, and a value for each, not {len(sizes)} and {len(values)}")
    places, where, counts = np.unique(sizes, return_inverse=True, return_counts=True)
    means = np.bincount(where, values) / counts
    weights = counts.astype(np.float64)
    return Isotonic(places, means, weights, isotonic_regression(means, weights=weights, increasing=increasing).x)
