"""The floor of risk(width) = floor + b width^-a with an exponent that the data choose, for four widths and more.

All seeds of all widths are points of one least squares problem with three parameters, 0 <= floor, b >= 0 and a between
0.1 and 3. The interval is the profile of the floor: every floor whose best fit is not worse than the best of all by
more than F(1, points - 3) allows at the level. A slow decay and a floor look alike over a few widths; where both fit,
the interval reaches down to 0 and no floor is claimed.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import stats

from lengthwise.analyses.ladder.floor_fit import FloorFit, powers
from lengthwise.records import Interval
from lengthwise.seeds import Floats

FREE_WIDTHS = 4
EXPONENTS = tuple(float(a) for a in np.geomspace(0.1, 3.0, 100))
_STEPS = 400  # of the grid of floors


def profile_floor(widths: Sequence[int], by_seed: Floats, level: float = 0.95) -> tuple[FloorFit, Interval | None]:
    """The best fit to risks [seeds, widths] and the profile interval of its floor; no interval with one seed. `low` and
    `high` of the fit are the ends of the interval, or the floor itself."""
    seeds, count = by_seed.shape
    mean = by_seed.mean(axis=0)
    grid = np.linspace(0.0, max(float(by_seed.max()), 1e-9), _STEPS + 1)
    squares, scales = _squares(widths, mean, grid)  # of means, [exponents, floors]
    own = float(((by_seed - mean) ** 2).sum())  # what no curve through the means takes away
    place = np.unravel_index(int(squares.argmin()), squares.shape)
    exponent, floor = EXPONENTS[int(place[0])], float(grid[place[1]])
    least = float(squares[place])
    residual, interval, low, high = float(np.sqrt(least / count)), None, floor, floor
    if seeds > 1:
        freedom = seeds * count - 3
        every = own + seeds * squares.min(axis=0)
        allowed = (own + seeds * least) * (1 + float(stats.f.ppf(level, 1, freedom)) / freedom)
        inside = np.flatnonzero(every <= allowed + 1e-15)
        low = float(grid[max(int(inside[0]) - 1, 0)])
        high = float(grid[min(int(inside[-1]) + 1, _STEPS)])
        method = f"profile of the floor, {seeds * count} points, exponents from 0.1 to 3"
        interval = Interval(low, min(high, 1.0), level, method)
    return FloorFit(floor, float(scales[place]), exponent, residual, low, min(high, 1.0)), interval


def _squares(widths: Sequence[int], mean: Floats, grid: Floats) -> tuple[Floats, Floats]:
    """For each exponent and floor the least sum of squares over scales b >= 0, and that b, [exponents, floors]."""
    x = np.array([powers(widths, a) for a in EXPONENTS])  # [exponents, widths]
    above = mean[None, :] - grid[:, None]  # [floors, widths]
    scales = np.maximum(0.0, x @ above.T / (x**2).sum(axis=1, keepdims=True))
    squares = (above**2).sum(axis=1)[None, :] - 2 * scales * (x @ above.T)
    squares += scales**2 * (x**2).sum(axis=1, keepdims=True)
    return np.maximum(squares, 0.0), scales
