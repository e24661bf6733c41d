"""Measures of points on a sphere: inner products of pairs, cluster numbers, energies and effective ranks.

cluster number       N_κ = n² / Σ_ij exp(κ (⟨x_i, x_j⟩ − 1)), between 1 and n (leinster2012, order 2)
energy               E_β = 1 / (2 β n²) Σ_ij exp(β ⟨x_i, x_j⟩) (geshkovski2023, section 3); N_κ = e^κ / (2 κ E_κ)
effective rank       exp(− Σ λ log λ), λ the eigenvalues of Xᵀ X divided by their sum (friedman2023); 1 / Σ λ² is the
                     participation ratio (hill1973)

What each one counts, what it does not, and the proofs: docs/geometry.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

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


def cluster_number(points: ArrayLike, kappa: float = 20.0) -> float | Floats:
    """N_κ of unit vectors [..., n, d]; κ >= 0 says how alike two points must be to count as one. O(n² d)."""
    check_kappa(kappa)

    def one(x: Floats) -> float:
        total = sum(_similarity(products, kappa) for _, products in inner_product_slices(x))
        return _number(len(x), total)

    return over_leading(on_sphere(points), one)


def cluster_number_of(products: Floats, kappa: float = 20.0) -> float:
    """N_κ from all inner products [n, n], for those who have them already."""
    check_kappa(kappa)
    return _number(len(products), _similarity(products, kappa))


def _similarity(products: Floats, kappa: float) -> float:
    return float(np.exp(kappa * (np.minimum(products, 1.0) - 1.0)).sum())


def _number(n: int, total: float) -> float:
    return float(np.clip(n**2 / total, 1.0, n))  # rounding must not leave the range that is proved


def check_kappa(kappa: float) -> None:
    """Refuse a κ for which N_κ is no count."""
    if not (np.isfinite(kappa) and kappa >= 0):
        raise UsageError(f"kappa is a finite number of at least 0, not {kappa}")


LARGEST_BETA = 700.0  # e^β must be a number


@dataclass(frozen=True)
class EnergyCourse:
    """How energies change along a sequence: how many steps rise, fall or stay, and the deepest fall."""

    rises: int
    falls: int
    deepest_fall: float

    @property
    def monotone(self) -> bool:
        """Whether the energy never falls by more than the tolerance."""
        return self.falls == 0


def energy(points: ArrayLike, beta: float) -> float | Floats:
    """E_β of unit vectors [..., n, d], for 0 < β <= 700. O(n² d)."""
    if not 0 < beta <= LARGEST_BETA:
        raise UsageError(f"the energy is defined for beta above 0 and computed up to {LARGEST_BETA:g}, not for {beta}")

    def one(x: Floats) -> float:
        slices = inner_product_slices(x)
        return float(sum(np.exp(beta * products).sum() for _, products in slices)) / (2 * beta * len(x) ** 2)

    return over_leading(on_sphere(points), one)


def energy_course(energies: ArrayLike, tolerance: float = 1e-12) -> EnergyCourse:
    """Whether energies [steps] climb. A change of no more than `tolerance` of the larger size is rounding."""
    found = np.asarray(energies, dtype=np.float64)
    if found.ndim != 1 or not np.isfinite(found).all():
        raise UsageError(f"energies are one finite number per step, [steps], not an array of shape {found.shape}")
    change = np.diff(found)
    rounding = tolerance * np.maximum(np.abs(found[1:]), np.abs(found[:-1]))
    deepest = float(max(0.0, (-change).max())) if len(change) else 0.0
    return EnergyCourse(int((change > rounding).sum()), int((change < -rounding).sum()), deepest)


def effective_rank(points: ArrayLike, centred: bool = False) -> float | Floats:
    """exp of the entropy of the eigenvalues, for vectors [..., n, d] of any length. O(n d min(n, d)).

    Centred points that are all equal have no directions: 0.
    """
    return over_leading(vectors(points), lambda x: hill_number(eigenvalues(x, centred), 1))


def participation_ratio(points: ArrayLike, centred: bool = False) -> float | Floats:
    """1 / Σ λ², without eigenvalues: (Σ ‖x‖²)² / ‖Xᵀ X‖², for vectors [..., n, d]. O(n d min(n, d))."""

    def one(x: Floats) -> float:
        moments = _moments(x, centred)
        squares = float(np.square(moments).sum())
        return 0.0 if squares == 0 else float(np.trace(moments)) ** 2 / squares

    return over_leading(vectors(points), one)


def vendi(points: ArrayLike, order: float = 1) -> float | Floats:
    """The Vendi score of unit vectors with the cosine as similarity: the Hill number of the eigenvalues of G / n.

    Order 1 equals the uncentred effective rank, order 2 the participation ratio, order ∞ is 1 / the largest.
    """
    if not order >= 0:
        raise UsageError(f"the order of a Vendi score is a number of at least 0, not {order}")
    return over_leading(on_sphere(points), lambda x: hill_number(eigenvalues(x, False), order))


def rank_cap(n: int, d: int, centred: bool = False) -> int:
    """The most that any of these measures can say of n points in d dimensions."""
    return min(n - 1, d) if centred else min(n, d)


def eigenvalues(x: Floats, centred: bool) -> Floats:
    """The eigenvalues of points [n, d], descending, with sum 1; empty where the points have no spread."""
    found = np.linalg.eigvalsh(_moments(x, centred))[::-1]
    # Rounding makes eigenvalues that are 0 into some 1e-17 of the largest; order 0 would count them.
    kept = found[found > max(x.shape) * np.finfo(np.float64).eps * found[0]] if found[0] > 0 else found[:0]
    return kept / kept.sum()


def hill_number(shares: Floats, order: float) -> float:
    """The number of equal shares that are as diverse (hill1973): (Σ λ^q)^(1 / (1 − q)), its limits at q = 1 and ∞."""
    if len(shares) == 0:
        return 0.0
    if order == 1:
        return math.exp(-float(np.sum(shares * np.log(shares))))
    if math.isinf(order):
        return 1 / float(shares.max())
    return float(np.sum(shares**order)) ** (1 / (1 - order))


def _moments(x: Floats, centred: bool) -> Floats:
    """XᵀX or XXᵀ, whichever is smaller: their eigenvalues other than 0 are the same."""
    largest = float(np.abs(x).max())
    x = x / largest if largest > 0 else x  # squares stay within range
    if centred:
        mean = x.mean(axis=0)
        x = x - mean
        if np.abs(x).max() <= 8 * np.finfo(np.float64).eps * np.abs(mean).max():
            x = np.zeros_like(x)  # equal points: what is left is rounding
    return x.T @ x if x.shape[1] <= x.shape[0] else x @ x.T
