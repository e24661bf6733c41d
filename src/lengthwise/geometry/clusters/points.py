"""Points on the sphere: their check, their directions, and their inner products a slice of rows at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lengthwise.errors import UsageError

Floats = NDArray[np.float64]

SLICE = 2**22  # inner products held at once: 32 MB
_OFF = 1e-4  # how far from 1 the length of a unit vector may be, so that float32 points are accepted


def directions(points: ArrayLike) -> Floats:
    """Vectors [..., n, d] divided by their lengths; a vector without a direction is refused."""
    found = vectors(points)
    # Dividing by the largest entry first keeps the squares of very long and very short vectors within range.
    largest = np.abs(found).max(axis=-1, keepdims=True)
    if not largest.min() > 0:
        raise UsageError("a point is the zero vector, which has no direction; leave it out")
    scaled = found / largest
    return scaled / np.linalg.norm(scaled, axis=-1, keepdims=True)


def vectors(points: ArrayLike) -> Floats:
    """The points as float64 [..., n, d], finite, with at least one point and one coordinate."""
    found = np.asarray(points, dtype=np.float64)
    if found.ndim < 2 or 0 in found.shape:
        raise UsageError(f"points are an array [..., n, d] with n and d of at least 1, not one of shape {found.shape}")
    if not np.isfinite(found).all():
        raise UsageError("a point has a coordinate that is not finite; points are finite vectors")
    return found


def on_sphere(points: ArrayLike) -> Floats:
    """The points, which must be unit vectors; `directions` makes such of any others."""
    found = vectors(points)
    lengths = np.linalg.norm(found, axis=-1)
    worst = float(np.abs(lengths - 1).max())
    if worst > _OFF:
        raise UsageError(
            f"the points are not on the unit sphere: a length is off by {worst:.2g}; pass directions(points)"
        )
    return found / lengths[..., None]


def inner_product_slices(points: Floats) -> Iterator[tuple[int, Floats]]:
    """For points [n, d]: (first row, inner products of some rows with all points), never more than 32 MB at once."""
    rows = max(1, SLICE // len(points))
    for first in range(0, len(points), rows):
        yield first, points[first : first + rows] @ points.T


def over_leading(points: Floats, measure: Callable[[Floats], float]) -> float | Floats:
    """The measure of each configuration [n, d]; a number for one, an array over the leading dimensions for several."""
    if points.ndim == 2:
        return float(measure(points))
    flat = points.reshape(-1, *points.shape[-2:])
    return np.array([measure(one) for one in flat]).reshape(points.shape[:-2])
