"""Masses on a circle for tests: densities by formula, quantiles, and the distance to points."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from lengthwise.errors import UsageError
from lengthwise.geometry.mean_field import cell_angles
from lengthwise.seeds import Floats


def masses_of(cells: int, density: ArrayLike) -> Floats:
    """The masses of cells from values of a density at their centres, scaled to a total of 1."""
    values = np.asarray(density, dtype=np.float64)
    if values.shape != (cells,) or not np.all(np.isfinite(values)) or np.any(values < 0) or not values.sum() > 0:
        raise UsageError(f"a density on {cells} cells is {cells} numbers, none negative and not all 0")
    return values / values.sum()


def quantile_angles(masses: ArrayLike, count: int) -> Floats:
    """`count` angles that stand for a density: its quantiles at (i + 1/2) / count, the mass spread over each cell.

    Points so placed differ from the density by O(1 / count) in W1, where independent draws differ by O(count^-1/2).
    """
    masses = np.asarray(masses, dtype=np.float64)
    edges = np.linspace(0, 2 * np.pi, len(masses) + 1)
    cumulated = np.concatenate([[0.0], np.cumsum(masses)])
    return np.interp((np.arange(count) + 0.5) / count * cumulated[-1], cumulated, edges)


def circle_distance(masses: ArrayLike, angles: ArrayLike) -> float:
    """W1 (arc length, radians) between masses at the centres of cells and equally weighted angles.

    On a circle W1 is the least integral of |F - G - c| over the constants c, F and G being the cumulated masses from
    any cut, and a weighted median of F - G is the best c (rabin2011, section 2). Moving the mass of a cell to its
    centre changes W1 by at most a quarter of the width of a cell.
    """
    masses = np.asarray(masses, dtype=np.float64)
    points = np.mod(np.asarray(angles, dtype=np.float64), 2 * np.pi)
    places = np.concatenate([cell_angles(len(masses)), points])
    jumps = np.concatenate([masses / masses.sum(), np.full(len(points), -1.0 / len(points))])
    order = np.argsort(places, kind="stable")
    difference = np.cumsum(jumps[order])  # F - G just after each place; it is 0 after the last one
    spans = np.diff(np.append(places[order], places[order][0] + 2 * np.pi))
    ranked = np.argsort(difference)
    half = np.searchsorted(np.cumsum(spans[ranked]), np.pi)
    median = difference[ranked][min(half, len(ranked) - 1)]
    return float(np.sum(np.abs(difference - median) * spans))
