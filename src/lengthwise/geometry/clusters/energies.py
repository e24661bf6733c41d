"""The energy that the particle systems climb: E_β = 1 / (2 β n²) Σ_ij exp(β ⟨x_i, x_j⟩) (geshkovski2023, section 3).

USA with Q = K = V = I is its gradient ascent, so E_β never falls along it; along SA it never falls either, as each
particle's velocity is a positive multiple of its own gradient: d/dt E_β = Σ_i ⟨∂_i E, ẋ_i⟩, and ẋ_i = c_i ∂_i E with
c_i = n² / Σ_k exp(β ⟨x_i, x_k⟩) > 0. The greatest energy, e^β / (2 β), belongs to one point. The tokens of a
trained model obey neither system: whether their energy climbs is a measurement.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from lengthwise.errors import UsageError
from lengthwise.geometry.clusters.points import Floats, inner_product_slices, on_sphere, over_leading

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
        raise UsageError(f"energies are one finite number a step, [steps], not an array of shape {found.shape}")
    change = np.diff(found)
    rounding = tolerance * np.maximum(np.abs(found[1:]), np.abs(found[:-1]))
    deepest = float(max(0.0, (-change).max())) if len(change) else 0.0
    return EnergyCourse(int((change > rounding).sum()), int((change < -rounding).sum()), deepest)
