"""Groups of points: the connected components of the graph in which two points with ⟨x_i, x_j⟩ > threshold are joined.

The components for all thresholds at once come from a spanning tree of greatest inner products: points are in one
component at a threshold exactly where the tree joins them by edges above it (gower1969). So the number of components
is 1 + the number of tree edges at or below the threshold, and a sweep costs no more than one threshold. The tree is
grown a point at a time (prim1957), O(n² d), and no more than 32 MB of inner products are held.

A chain of points, each near the next, is one component however far its ends are apart.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lengthwise.errors import UsageError
from lengthwise.geometry.clusters.measures import SLICE, Floats, on_sphere, over_leading

THRESHOLDS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)


def components(points: ArrayLike, threshold: float = 0.95) -> float | Floats:
    """How many components unit vectors [..., n, d] have at this threshold."""
    _check(threshold)
    return over_leading(on_sphere(points), lambda x: 1 + int((joins(x) <= threshold).sum()))


def component_sweep(points: ArrayLike, thresholds: Sequence[float] = THRESHOLDS) -> Floats:
    """The numbers of components [..., thresholds] of unit vectors [..., n, d]; they never fall as thresholds rise."""
    for threshold in thresholds:
        _check(threshold)
    x = on_sphere(points)
    edges = np.asarray(thresholds, dtype=np.float64)
    flat = x.reshape(-1, *x.shape[-2:])
    counted = [1 + (joins(one)[:, None] <= edges).sum(axis=0) for one in flat]
    return np.array(counted, dtype=np.float64).reshape(*x.shape[:-2], len(edges))


def joins(x: Floats) -> Floats:
    """The n − 1 inner products of the spanning tree of points [n, d], ascending."""
    if len(x) ** 2 <= SLICE:
        return joins_of(x @ x.T)
    return _grown(len(x), lambda point: x @ x[point])


def joins_of(products: Floats) -> Floats:
    """The same from all inner products [n, n], for those who have them already."""
    return _grown(len(products), lambda point: products[point])


def component_count(products: Floats, threshold: float = 0.95) -> int:
    """How many components there are, from all inner products [n, n]."""
    return 1 + int((joins_of(products) <= threshold).sum())


def labels(points: ArrayLike, threshold: float = 0.95) -> NDArray[np.int64]:
    """Which component each of the unit vectors [n, d] is in, numbered by their first points."""
    _check(threshold)
    x = on_sphere(points)
    if x.ndim != 2:
        raise UsageError(f"labels are given to one configuration [n, d], not to an array of shape {x.shape}")
    found = np.full(len(x), -1, dtype=np.int64)
    for first in range(len(x)):
        if found[first] < 0:
            _spread(x, first, threshold, found)
    return found


def _spread(x: Floats, first: int, threshold: float, found: NDArray[np.int64]) -> None:
    """Give the component of `first` the next number."""
    number = found.max() + 1
    found[first] = number
    waiting = [first]
    while waiting:
        near = np.flatnonzero((found < 0) & (x @ x[waiting.pop()] > threshold))
        found[near] = number
        waiting.extend(near.tolist())


def _grown(n: int, row: Callable[[int], Floats]) -> Floats:
    """Join the point outside the tree that is nearest to it, n − 1 times; `row` gives a point's inner products."""
    nearest = np.array(row(0), dtype=np.float64)
    outside = np.ones(n, dtype=bool)
    outside[0] = False
    nearest[0] = -np.inf
    found = np.empty(n - 1)
    for step in range(n - 1):
        point = int(nearest.argmax())
        found[step] = nearest[point]
        outside[point] = False
        np.maximum(nearest, row(point), out=nearest, where=outside)
        nearest[point] = -np.inf
    return np.sort(found)


def _check(threshold: float) -> None:
    if not -1 <= threshold <= 1:
        raise UsageError(f"a threshold is an inner product of unit vectors, from -1 to 1, not {threshold}")
