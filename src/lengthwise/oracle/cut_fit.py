"""Two lines through the bits needed at growing sizes: against the size and against its logarithm."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Fit:
    """Least squares of the bits against N and against log2 N: slopes and root mean square residuals.

    `steadiness`: the slope over the larger half of the sizes as a share of that over the smaller half, about 1 for
    linear growth and less for logarithmic. `ratio`: bits needed at the largest size over log2 of that size.
    """

    linear_slope: float
    linear_residual: float
    logarithmic_slope: float
    logarithmic_residual: float
    steadiness: float
    ratio: float

    @property
    def better(self) -> str:
        return "linear" if self.linear_residual < self.logarithmic_residual else "logarithmic"


def fit_growth(sizes: Sequence[int], bits: Sequence[float]) -> Fit:
    lengths, values = np.array(sizes, dtype=float), np.array(bits)
    (linear, spread), (logarithmic, log_spread) = _line(lengths, values), _line(np.log2(lengths), values)
    half = len(lengths) // 2 + 1
    early, late = _line(lengths[:half], values[:half])[0], _line(lengths[-half:], values[-half:])[0]
    steadiness = late / early if early > 0 else 1.0
    ratio = float(values[-1] / max(1.0, np.log2(lengths[-1])))
    return Fit(linear, spread, logarithmic, log_spread, steadiness, ratio)


def _line(x: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Slope and root mean square residual of the least-squares line."""
    slope, intercept = np.polyfit(x, y, 1)
    return float(slope), float(np.sqrt(np.mean((y - slope * x - intercept) ** 2)))
