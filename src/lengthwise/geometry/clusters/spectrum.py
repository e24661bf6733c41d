"""In how many directions points lie: Hill numbers of the eigenvalues of their second moments.

Let λ be the eigenvalues of Xᵀ X, divided by their sum, for the points as rows of X (centred: their mean taken off).

- effective rank: exp(− Σ λ log λ). For unit vectors, uncentred, it is the Vendi score with the cosine as similarity
  (friedman2023, its definition). It is not the effective rank of roy2007, which takes shares of singular values, the
  roots of these eigenvalues; that one is more even, so it is at least as large.
- participation ratio: 1 / Σ λ², the same with order 2. It is never above the effective rank: Hill numbers fall with
  the order (hill1973).

All of them count directions and not clusters. Their cap is min(n, d), or min(n − 1, d) centred, named by `rank_cap`:
five clusters in three dimensions have at most 3. x and −x count as one direction. k orthogonal clusters of equal size
have exactly k uncentred, as λ is 1/k, k times; centred, k − 1 (for k >= 2), as the mean takes one direction away.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from lengthwise.errors import UsageError
from lengthwise.geometry.clusters.points import Floats, on_sphere, over_leading, vectors


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
