"""A density that moves as infinitely many tokens would: a conservative finite-volume scheme on the cells of a sphere.

The equation is d rho / dt + div(rho X) = 0 with X = grad psi, where Z(x) = integral of e^(beta <x, y>) d mu(y) and
psi = (Z - 1) / beta for USA, psi = (log Z) / beta for SA (geshkovski2023, section 3). Mass that crosses a face is
length * rho_up * (psi_second - psi_first) / distance, rho_up being the density on the side the mass comes from. So

- mass is kept, as what leaves a cell enters its neighbour;
- no mass becomes negative if no cell loses more than it holds in a step, which is the condition on the step (checked);
- order 1 (upwind, Euler) never lowers the energy E = (1 / 2 beta) sum m_i m_j e^(beta <x_i, x_j>): along a face the
  flux has the sign of the difference of psi and so of Z, hence sum (dm_i / dt) Z_i >= 0; and E is convex in m, as the
  kernel is positive definite, so E(m + dm) >= E(m) + sum dm_i Z_i / beta, whatever the step.

Order 2 (linear reconstruction with the minmod limiter, Heun's rule) needs a ring of cells; mass and positivity hold as
before, that the energy does not fall is tested and not proved. Measured orders: docs/theorems-particles.md.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from lengthwise.errors import UsageError
from lengthwise.geometry.mean_field.mesh import Floats, Ints, Mesh

SAFETY = 0.5  # of the step at which some cell would lose all it holds, or at which mass could pass a whole cell


@dataclass(frozen=True, eq=False)
class DensityPath:
    """The masses of the cells at the times asked for, and how many steps that took."""

    mesh: Mesh
    kind: str
    beta: float
    times: Floats  # [K]
    masses: Floats  # [K, cells], each row sums to 1
    steps: int

    @property
    def density(self) -> Floats:
        """Mass per arc length or area, [K, cells]."""
        return self.masses / self.mesh.areas

    @property
    def energy(self) -> Floats:
        """(1 / 2 beta) times the double sum of m_i m_j (e^(beta <x_i, x_j>) - 1), [K]; at beta 0 its limit.

        The constant 1 / (2 beta) is left out, which is what makes the limit finite.
        """
        return 0.5 * np.einsum("ki,ij,kj->k", self.masses, interaction(self.mesh, self.beta), self.masses)


def interaction(mesh: Mesh, beta: float) -> Floats:
    """(e^(beta <x_i, x_j>) - 1) / beta between all cells; at beta 0 its limit <x_i, x_j>."""
    products = mesh.centres @ mesh.centres.T
    return np.expm1(beta * products) / beta if beta else products


def flow(
    mesh: Mesh,
    masses: ArrayLike,
    kind: Literal["SA", "USA"],
    beta: float,
    times: ArrayLike,
    order: Literal[1, 2] = 1,
    progress: Callable[[str, int, int], None] | None = None,
) -> DensityPath:
    """The density at each of `times` (ascending, from 0 on), from masses that sum to 1."""
    start = np.asarray(masses, dtype=np.float64)
    clock = np.asarray(times, dtype=np.float64)
    _refuse(mesh, start, kind, beta, clock, order)
    scheme = _Scheme(mesh, kind, float(beta), order)
    now, held, steps = 0.0, start.copy(), 0
    kept = np.empty((len(clock), len(start)))
    for row, until in enumerate(clock):
        while now < until:
            held, step = scheme.step(held, until - now)
            now = until if step == until - now else now + step
            steps += 1
            if progress:
                progress(f"t = {now:.4g} of {clock[-1]:g}", row, len(clock))
        kept[row] = held
    return DensityPath(mesh, kind, float(beta), clock, kept, steps)


class _Scheme:
    """One step of the scheme; the interaction between cells is computed once."""

    def __init__(self, mesh: Mesh, kind: str, beta: float, order: int) -> None:
        self.mesh, self.kind, self.beta, self.order = mesh, kind, beta, order
        self.between = interaction(mesh, beta)

    def step(self, masses: Floats, longest: float) -> tuple[Floats, float]:
        """The masses after a step of at most `longest`, and its length."""
        flux, leaving = self._flux(masses)
        step = min(longest, SAFETY * _emptying_time(masses, leaving), SAFETY * self._passing_time(masses))
        if self.order == 1:
            return masses + step * self._gain(flux), step
        while True:
            after = masses + step * self._gain(flux)
            flux_after, leaving_after = self._flux(after)
            if step <= _emptying_time(after, leaving_after):  # else the second stage could take more than a cell holds
                return 0.5 * (masses + after + step * self._gain(flux_after)), step
            step /= 2

    def _passing_time(self, masses: Floats) -> float:
        """The least time in which mass could pass from a cell to the next: no speed exceeds 1 in SA or max Z in USA.

        Near the uniform density all speeds are small, and a step bounded by them alone would be too long to be exact.
        """
        speed = 1.0 if self.kind == "SA" else 1 + self.beta * float(np.max(self.between @ masses))
        return float(self.mesh.distances.min()) / speed

    def _flux(self, masses: Floats) -> tuple[Floats, Floats]:
        """The mass that crosses each face in a unit of time, and what leaves each cell."""
        mesh = self.mesh
        potential = self.between @ masses
        if self.kind == "SA":
            potential = np.log1p(self.beta * potential) / self.beta if self.beta else potential
        speed = (potential[mesh.second] - potential[mesh.first]) / mesh.distances
        behind, ahead = self._at_faces(masses / mesh.areas)
        flux = mesh.lengths * np.where(speed > 0, behind, ahead) * speed
        source = np.where(speed > 0, mesh.first, mesh.second)
        return flux, _summed(source, np.abs(flux), len(masses))

    def _at_faces(self, density: Floats) -> tuple[Floats, Floats]:
        """The density just before and just after each face."""
        if self.order == 1:
            return density[self.mesh.first], density[self.mesh.second]
        rise = np.roll(density, -1) - density
        fall = np.roll(rise, 1)
        slope = np.where(rise * fall > 0, np.sign(rise) * np.minimum(np.abs(rise), np.abs(fall)), 0.0)
        return density + slope / 2, np.roll(density - slope / 2, -1)

    def _gain(self, flux: Floats) -> Floats:
        cells = len(self.mesh.areas)
        return _summed(self.mesh.second, flux, cells) - _summed(self.mesh.first, flux, cells)


def _summed(places: Ints, amounts: Floats, cells: int) -> Floats:
    """The amounts that fall on each cell."""
    return np.asarray(np.bincount(places, amounts, cells), dtype=np.float64)


def _emptying_time(masses: Floats, leaving: Floats) -> float:
    """After what time the first cell would have lost all it holds, at the present flux."""
    losing = leaving > 0
    return float(np.min(masses[losing] / leaving[losing])) if losing.any() else np.inf


def _refuse(mesh: Mesh, masses: Floats, kind: str, beta: float, times: Floats, order: int) -> None:
    if kind not in ("SA", "USA"):
        raise UsageError(f"the dynamics is SA or USA, not {kind!r}")
    if not 0 <= beta < 700:
        raise UsageError(f"beta lies between 0 and 700 here, as e^beta must be a number; it is {beta}")
    if masses.shape != mesh.areas.shape or np.any(masses < 0) or not abs(masses.sum() - 1) < 1e-9:
        raise UsageError(f"the masses are {len(mesh.areas)} numbers, none negative, with the sum 1")
    if times.ndim != 1 or not len(times) or times[0] < 0 or np.any(np.diff(times) < 0):
        raise UsageError("the times are a list that ascends from 0 or later")
    if order not in (1, 2) or (order == 2 and not mesh.ring):
        raise UsageError("the order is 1 on any mesh or 2 on a circle")
