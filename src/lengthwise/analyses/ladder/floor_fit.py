"""The fit risk(width) = floor + b width^-c, with floor in [0, 1] and b >= 0, for a grid of exponents c in [1/4, 1].

Three widths and three parameters determine each other, so no exponent can be chosen by the data: every exponent of the
grid is fitted, and the floors they give are the range that is reported. The best of them is shown as the curve.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lengthwise.records import Interval
from lengthwise.seeds import Floats
from lengthwise.statistics.bootstrap import percentile_ends, resampling

EXPONENTS = tuple(0.25 + 0.125 * step for step in range(7))
FEWEST_WIDTHS = 3


@dataclass(frozen=True)
class FloorFit:
    """The best fit, its root mean square residual, and the least and largest floor over exponents."""

    floor: float
    scale: float
    exponent: float
    residual: float
    low: float
    high: float

    def risk_at(self, width: float) -> float:
        """The fitted curve."""
        return self.floor + self.scale * width**-self.exponent


def fit_floor(widths: Sequence[int], risks: Sequence[float]) -> FloorFit:
    """The fit to one risk per width."""
    row = np.array([risks], dtype=np.float64)
    fits = [(c, *(values[0] for values in fit_lines(powers(widths, c), row))) for c in EXPONENTS]
    exponent, floor, scale, squares = min(fits, key=lambda fit: fit[3])
    floors = [fit[1] for fit in fits]
    residual = float(np.sqrt(squares / len(widths)))
    return FloorFit(float(floor), float(scale), exponent, residual, float(min(floors)), float(max(floors)))


def floor_interval(widths: Sequence[int], by_seed: Floats, level: float = 0.95) -> Interval | None:
    """The floors that resampled seeds and any exponent give: for each exponent the percentile bootstrap over seeds,
    and of these intervals the hull. `by_seed` is [seeds, widths]; None with one seed.

    A seed is drawn with all its widths, so what they share through the seed stays shared.
    """
    seeds = len(by_seed)
    if seeds < 2:
        return None
    drawn = resampling(seeds)
    curves = drawn.counts @ np.array(sorted(by_seed.tolist())) / seeds
    ends = []
    for exponent in EXPONENTS:
        floors, _, _ = fit_lines(powers(widths, exponent), curves)
        ends.append(percentile_ends(floors, drawn.probabilities, level))
    own = fit_floor(widths, by_seed.mean(axis=0).tolist())
    low, high = min(low for low, _ in ends), max(high for _, high in ends)
    method = f"percentile bootstrap over seeds, {drawn}, and all exponents from 1/4 to 1"
    return Interval(min(low, own.low), max(high, own.high), level, method)


def powers(widths: Sequence[int], exponent: float) -> Floats:
    return np.array(widths, dtype=np.float64) ** -exponent


def fit_lines(x: Floats, rows: Floats) -> tuple[Floats, Floats, Floats]:
    """Least squares of rows [n, points] by floor + b x with 0 <= floor <= 1 and b >= 0: floors, scales, squares.

    The optimum is the free one if it is allowed; else it lies on an edge: b = 0, where the floor is the mean, or
    floor = 0. Risks are at most 1 and so is their mean, so the edge floor = 1 adds nothing.
    """
    centred = x - x.mean()
    free = rows @ centred / (centred @ centred)
    candidates = [
        (rows.mean(axis=1) - free * x.mean(), free),
        (rows.mean(axis=1), np.zeros(len(rows))),
        (np.zeros(len(rows)), np.maximum(0.0, rows @ x / (x @ x))),
    ]
    floors, scales = (np.array(values) for values in zip(*candidates, strict=True))  # [3, n]
    left = ((rows - floors[:, :, None] - scales[:, :, None] * x) ** 2).sum(axis=2)
    squares = np.where((floors >= 0) & (floors <= 1) & (scales >= 0), left, np.inf)
    best = np.argmin(squares, axis=0), np.arange(len(rows))
    return floors[best], scales[best], squares[best]
