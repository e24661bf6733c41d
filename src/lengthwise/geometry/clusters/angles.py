"""Inner products of pairs of points: their mean, their least and their histogram."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lengthwise.errors import UsageError
from lengthwise.geometry.clusters.points import Floats, inner_product_slices, on_sphere, over_leading


@dataclass(frozen=True, eq=False)
class Histogram:
    """How many pairs i < j have an inner product in each bin: counts [..., bins] between edges [bins + 1]."""

    edges: Floats
    counts: NDArray[np.int64]


def inner_products(points: ArrayLike, bins: int = 40) -> Histogram:
    """The histogram over [−1, 1] of the inner products of unit vectors [..., n, d], each pair once. O(n² d)."""
    if bins < 1:
        raise UsageError(f"a histogram has at least 1 bin, not {bins}")
    x = on_sphere(points)
    edges = np.linspace(-1, 1, bins + 1)
    flat = x.reshape(-1, *x.shape[-2:])
    counts = np.array([_counted(one, edges) for one in flat])
    return Histogram(edges, counts.reshape(*x.shape[:-2], bins))


def _counted(x: Floats, edges: Floats) -> NDArray[np.int64]:
    total = np.zeros(len(edges) - 1, dtype=np.int64)
    for first, products in inner_product_slices(x):
        pairs = products[np.triu(np.ones(products.shape, dtype=bool), k=first + 1)]
        total += np.histogram(np.clip(pairs, -1, 1), edges)[0]
    return total


def mean_inner_product(points: ArrayLike) -> float | Floats:
    """The mean of ⟨x_i, x_j⟩ over pairs of different points: (‖Σ x‖² − n) / (n (n − 1)). O(n d).

    For independent points it does not depend on how many there are, unlike every count of clusters.
    """
    x = on_sphere(points)
    n = x.shape[-2]
    if n < 2:
        raise UsageError("a mean over pairs needs two points, and there is one")
    mean = (np.square(x.sum(axis=-2)).sum(axis=-1) - n) / (n * (n - 1))
    return float(mean) if x.ndim == 2 else mean


def least_inner_product(points: ArrayLike) -> float | Floats:
    """The least ⟨x_i, x_j⟩: that of the two points farthest apart. O(n² d)."""
    return over_leading(
        on_sphere(points), lambda x: min(float(products.min()) for _, products in inner_product_slices(x))
    )
