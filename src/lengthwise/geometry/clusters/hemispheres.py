"""Do the points lie in an open hemisphere, and how far inside?

The margin is max over unit vectors w of min_i ⟨w, x_i⟩. Above 0, an open hemisphere holds all points, and the particle
systems of `lengthwise.geometry.particles` with V = I then gather in one point (geshkovski2023, the lemma on
cones in section 6).

Any unit w is a proof from below and any convex combination of the points one from above; they meet at the point of the
convex hull nearest to 0, which is found by non-negative least squares (lawson1974, chapter 23; docs/geometry.md). The
solver is not believed: both bounds are computed again from w and λ.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import nnls

from lengthwise.errors import UsageError
from lengthwise.geometry.clusters.measures import Floats, on_sphere, over_leading

ROUNDING = 1e-9  # a margin closer to 0 than this counts as 0


@dataclass(frozen=True, eq=False)
class Hemisphere:
    """The margin lies in [low, high]: `normal` w proves low = min_i ⟨w, x_i⟩, `weights` λ prove high = ‖Σ λ_i x_i‖.

    Where no open hemisphere holds the points, high is 0 up to rounding; the margin itself, which may be below 0 there,
    is not computed, and low is only what the w at hand gives.
    """

    low: float
    high: float
    normal: Floats  # [d]
    weights: Floats  # [n], >= 0, with sum 1

    @property
    def inside(self) -> bool | None:
        """Whether an open hemisphere holds the points; None where rounding hides it."""
        if self.low > ROUNDING:
            return True
        return False if self.high <= ROUNDING else None


def hemisphere(points: ArrayLike) -> Hemisphere:
    """The margin of unit vectors [n, d] with its proofs."""
    x = on_sphere(points)
    if x.ndim != 2:
        raise UsageError(f"a hemisphere is found for one configuration [n, d], not for an array of shape {x.shape}")
    weights = _nearest_to_zero(x)
    nearest = weights @ x
    length = float(np.linalg.norm(nearest))
    normal = nearest / length if length > 0 else np.eye(x.shape[1])[0]
    normal = normal / np.linalg.norm(normal)
    low = float((x @ normal).min())
    return Hemisphere(low, max(low, length), normal, weights)


def hemisphere_margin(points: ArrayLike) -> float | Floats:
    """The margin of unit vectors [..., n, d] from below; 0 where no open hemisphere holds them."""
    return over_leading(on_sphere(points), lambda x: max(0.0, hemisphere(x).low))


def _nearest_to_zero(x: Floats) -> Floats:
    """Weights of the point of the convex hull of [n, d] that is nearest to 0."""
    n, d = x.shape
    matrix = np.vstack([x.T, np.ones(n)])
    target = np.append(np.zeros(d), 1.0)
    try:
        found, _ = nnls(matrix, target, maxiter=max(300, 30 * n))
    except RuntimeError:  # it gave up: equal weights prove something all the same
        found = np.ones(n)
    total = found.sum()
    return found / total if total > 0 else np.full(n, 1 / n)
