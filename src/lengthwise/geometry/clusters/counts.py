"""How many clusters: N_κ, which counts points that are alike as one.

N_κ = n² / Σ_ij exp(κ (⟨x_i, x_j⟩ − 1)) is a diversity of order 2 that takes similarity into account (leinster2012,
the definition with q = 2, uniform weights and similarity exp(κ (⟨x, y⟩ − 1))). Facts, each with its proof:

- 1 <= N_κ <= n. Every term lies in (0, 1], and the n terms i = j are 1.
- N_κ = 1 exactly where all points are equal (κ > 0): only then all terms are 1.
- k clusters of equal size, orthogonal to one another: N_κ = k / (1 + (k − 1) e^−κ). Of n² pairs, n²/k are within a
  cluster and give 1, the others give e^−κ. So κ = 20 gives k to eight digits and κ = 5 does not: 9.428 for ten.
- Clusters of shares p_1, …, p_k that are far apart: N_κ → 1 / Σ p_a² as κ → ∞. A split of 90 to 10 counts as 1.22.
- N_κ = e^κ / (2 κ E_κ) with the energy of `energies.py`. So along dynamics in which E_κ never falls, N_κ never rises.

It is no count of well-separated groups: points that are spread evenly get a number too, which grows with κ.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from lengthwise.errors import UsageError
from lengthwise.geometry.clusters.points import Floats, inner_product_slices, on_sphere, over_leading


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
