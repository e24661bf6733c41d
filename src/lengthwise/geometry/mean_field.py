"""Infinitely many tokens: a density that moves on a circle or a sphere, by a conservative finite-volume scheme.

The equation is d rho / dt + div(rho X) = 0 with X = grad psi, where Z(x) = integral of e^(beta <x, y>) d mu(y) and
psi = (Z - 1) / beta for USA, psi = (log Z) / beta for SA (geshkovski2023, section 3). Mass that crosses a face is
length * rho_up * (psi_second - psi_first) / distance, rho_up being the density on the side the mass comes from. So

- mass is kept, as what leaves a cell enters its neighbour;
- no mass becomes negative if no cell loses more than it holds in a step, which is the condition on the step (checked);
- order 1 (upwind, Euler) never lowers the energy E = (1 / 2 beta) sum m_i m_j e^(beta <x_i, x_j>): along a face the
  flux has the sign of the difference of psi and so of Z, hence sum (dm_i / dt) Z_i >= 0; and E is convex in m, as the
  kernel is positive definite, so E(m + dm) >= E(m) + sum dm_i Z_i / beta, whatever the step.

Order 2 (linear reconstruction with the minmod limiter, Heun's rule) needs a ring of cells; mass and positivity hold as
before, that the energy does not fall is tested and not proved. Measured orders: docs/explanation/theorems-particles.md.

The cells of S^2 are the Voronoi cells of an icosahedron whose triangles are divided: hexagons and twelve pentagons of
nearly equal sizes. A grid of longitudes and latitudes has cells that shrink towards the poles, which forces tiny steps
there and makes two points of the sphere special.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import ConvexHull, SphericalVoronoi
from scipy.special import gamma, gammaln, iv, ive, logsumexp

from lengthwise.errors import UsageError
from lengthwise.geometry.particles.equal_angles import Kind
from lengthwise.seeds import Floats, Seeds

Ints = NDArray[np.intp]

LEVELS = 5  # 10,242 cells; the kernel between all pairs of them takes 0.8 GiB
SAFETY = 0.5  # of the step at which some cell would lose all it holds, or at which mass could pass a whole cell
HEIGHT = 2.0  # times the uniform density, above which a place counts as part of a peak
MOST_NOISE = 0.2


@dataclass(frozen=True, eq=False)
class Mesh:
    """Cells with their centres and areas, and faces between the cells `first[e]` and `second[e]`.

    `lengths[e]` is the measure of the face (1 on a circle, where a face is a point) and `distances[e]` the geodesic
    distance of the two centres. `ring` says that cell i has the neighbours i - 1 and i + 1 and face i lies between
    i and i + 1, which is what a reconstruction of second order needs.
    """

    centres: Floats  # [cells, d], unit vectors
    areas: Floats  # [cells]
    first: Ints  # [faces]
    second: Ints  # [faces]
    lengths: Floats  # [faces]
    distances: Floats  # [faces]
    ring: bool = False

    def uniform(self) -> Floats:
        """The masses of the uniform density."""
        return self.areas / self.areas.sum()


def circle(cells: int) -> Mesh:
    """The circle cut into equal arcs; the centre of arc i is at the angle (i + 1/2) 2 pi / cells."""
    if cells < 4:
        raise UsageError(f"a circle needs at least 4 cells, not {cells}")
    angles, step, here = cell_angles(cells), 2 * np.pi / cells, np.arange(cells)
    return Mesh(
        centres=np.stack([np.cos(angles), np.sin(angles)], axis=1),
        areas=np.full(cells, step),
        first=here,
        second=(here + 1) % cells,
        lengths=np.ones(cells),
        distances=np.full(cells, step),
        ring=True,
    )


def cell_angles(cells: int) -> Floats:
    """The angles of the centres of the cells."""
    return (np.arange(cells, dtype=np.float64) + 0.5) * (2 * np.pi / cells)


@functools.lru_cache(maxsize=2)
def sphere(level: int) -> Mesh:
    """S^2 cut into 10 * 4^level + 2 cells: level 2 has 162, level 3 has 642, level 4 has 2,562."""
    if not 0 <= level <= LEVELS:
        raise UsageError(f"a sphere must have a level from 0 to {LEVELS}, not {level}")
    points, triangles = _icosahedron()
    for _ in range(level):
        points, triangles = _divided(points, triangles)
    return _voronoi(points)


def _icosahedron() -> tuple[Floats, Ints]:
    golden = (1 + np.sqrt(5)) / 2
    corners = [(0, a, b * golden) for a in (-1, 1) for b in (-1, 1)]
    points = np.array([np.roll(corner, turn) for turn in range(3) for corner in corners], dtype=np.float64)
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    return points, ConvexHull(points).simplices.astype(np.intp)


def _divided(points: Floats, triangles: Ints) -> tuple[Floats, Ints]:
    """Each triangle cut into four at the middles of its sides, which are put on the sphere."""
    sides = np.sort(np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]]), axis=1)
    unique, place = np.unique(sides, axis=0, return_inverse=True)
    middles = points[unique[:, 0]] + points[unique[:, 1]]
    middles /= np.linalg.norm(middles, axis=1, keepdims=True)
    ab, bc, ca = (place.reshape(-1) + len(points)).reshape(3, -1)
    a, b, c = triangles.T
    parts = np.concatenate([np.stack(t, axis=1) for t in ((a, ab, ca), (b, bc, ab), (c, ca, bc), (ab, bc, ca))])
    return np.concatenate([points, middles]), parts


def _voronoi(points: Floats) -> Mesh:
    """The Voronoi cells of points: two cells share a face where their regions share two corners."""
    cells = SphericalVoronoi(points)
    cells.sort_vertices_of_regions()
    faces: dict[tuple[int, int], list[int]] = {}
    for cell, region in enumerate(cells.regions):
        for one, other in zip(region, [*region[1:], region[0]], strict=True):
            faces.setdefault((min(one, other), max(one, other)), []).append(cell)
    corners, pairs = np.array(list(faces)), np.array(list(faces.values()))
    return Mesh(
        centres=points,
        areas=np.asarray(cells.calculate_areas(), dtype=np.float64),
        first=pairs[:, 0],
        second=pairs[:, 1],
        lengths=_angle(cells.vertices[corners[:, 0]], cells.vertices[corners[:, 1]]),
        distances=_angle(points[pairs[:, 0]], points[pairs[:, 1]]),
    )


def _angle(one: Floats, other: Floats) -> Floats:
    """The angle between unit vectors, exact also where it is small."""
    return 2 * np.arcsin(np.minimum(np.linalg.norm(one - other, axis=-1) / 2, 1))


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
        """(1 / 2 beta) times the double sum of m_i m_j (e^(beta <x_i, x_j>) - 1), [K]: without the constant
        1 / (2 beta), so that beta 0 has a finite limit."""
        return 0.5 * np.einsum("ki,ij,kj->k", self.masses, interaction(self.mesh, self.beta), self.masses)


def interaction(mesh: Mesh, beta: float) -> Floats:
    """(e^(beta <x_i, x_j>) - 1) / beta between all cells; at beta 0 its limit <x_i, x_j>."""
    products = mesh.centres @ mesh.centres.T
    return np.expm1(beta * products) / beta if beta else products


def flow(
    mesh: Mesh,
    masses: ArrayLike,
    kind: Kind,
    beta: float,
    times: ArrayLike,
    order: Literal[1, 2] = 1,
    progress: Callable[[str, int, int], None] | None = None,
) -> DensityPath:
    """The density at each of `times` (ascending, from 0 on), from masses that sum to 1."""
    start, clock = np.asarray(masses, dtype=np.float64), np.asarray(times, dtype=np.float64)
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
        raise UsageError(f"the dynamics must be SA or USA, not {kind!r}")
    if not 0 <= beta < 700:
        raise UsageError(f"beta must lie between 0 and 700, because e^beta must be finite, not {beta}")
    if masses.shape != mesh.areas.shape or np.any(masses < 0) or not abs(masses.sum() - 1) < 1e-9:
        raise UsageError(f"the masses are {len(mesh.areas)} numbers, none negative, with the sum 1")
    if times.ndim != 1 or not len(times) or times[0] < 0 or np.any(np.diff(times) < 0):
        raise UsageError("the times are a list that ascends from 0 or later")
    if order not in (1, 2) or (order == 2 and not mesh.ring):
        raise UsageError("the order is 1 on any mesh or 2 on a circle")


def growth_rate(kind: Kind, beta: float, degree: int, d: int = 2) -> float:
    """The exponential rate at which a small spherical harmonic of a degree grows on the uniform density of S^(d-1).

    Take mu = (1 + a Y) sigma, sigma uniform, Y a harmonic of degree l. By the theorem of Funk and Hecke the integral of
    e^(beta <x, y>) Y(y) d sigma(y) is c_l Y(x), with c_l = Gamma(d/2) (2 / beta)^(d/2 - 1) I_(l + d/2 - 1)(beta). To
    first order in a, psi = const + a c_l Y / beta (USA) or const + a c_l Y / (beta c_0) (SA), and the density changes
    by -sigma Laplace(psi), where Laplace(Y) = -l (l + d - 2) Y. So the rate is l (l + d - 2) c_l / beta for USA, and
    that divided by c_0 for SA. On the circle (d = 2) USA has l^2 I_l(beta) / beta; at beta = 0 only l = 1 grows, at
    the rate (d - 1) / d.
    """
    if beta < 0 or degree < 1 or d < 2:
        raise UsageError(f"a growth rate needs beta >= 0, degree >= 1 and d >= 2, not {beta}, {degree} and {d}")
    if beta == 0:
        return (d - 1) / d if degree == 1 else 0.0
    order, laplace = d / 2 - 1, degree * (degree + d - 2)
    if beta <= 1000 and (
        d > 340 or not iv(degree + order, beta) >= 1e-290
    ):  # functions of Bessel and Gamma are no floats
        whole = _log_mean(beta, 0, d) if kind == "SA" else 0.0
        return float(laplace * np.exp(_log_mean(beta, degree, d) - whole - np.log(beta)))
    if kind == "SA":
        return float(laplace / beta * ive(degree + order, beta) / ive(order, beta))
    return float(laplace / beta * gamma(d / 2) * (2 / beta) ** order * iv(degree + order, beta))


def _log_mean(beta: float, degree: int, d: int) -> float:
    """ln c_l by its power series, c_l = sum_k Gamma(d/2) (beta/2)^(2k + l) / (k! Gamma(d/2 + l + k)), whose terms fall
    from k = beta/2 on."""
    k, half = np.arange(int(beta) + 60), np.log(beta) - np.log(2)
    terms = (2 * k + degree) * half - gammaln(k + 1) - gammaln(d / 2 + degree + k)
    return float(gammaln(d / 2) + logsumexp(terms))


def fastest_degree(kind: Kind, beta: float, d: int = 2) -> int:
    """The degree that grows fastest from the uniform density; on the circle, about how many clusters show first."""
    degrees = range(1, int(2 * beta) + 8)
    return max(degrees, key=lambda degree: growth_rate(kind, beta, degree, d))


def peaks(mesh: Mesh, masses: ArrayLike, height: float = HEIGHT) -> int:
    """The number of connected sets of cells whose density is above `height` times the uniform one.

    A threshold is used and not local maxima, of which noise has many.
    """
    held = np.asarray(masses, dtype=np.float64)
    if held.shape != mesh.areas.shape:
        raise UsageError(f"peaks are counted in the masses of {len(mesh.areas)} cells, not in {list(held.shape)}")
    high = held > height * mesh.uniform()
    joined = high[mesh.first] & high[mesh.second]
    faces = mesh.first[joined], mesh.second[joined]
    graph = coo_array((np.ones(joined.sum()), faces), shape=(len(held), len(held)))
    found, _ = connected_components(graph, directed=False)
    return int(found) - int((~high).sum())  # a cell outside of all peaks is a component of its own


def noisy(mesh: Mesh, noise: float, seed: int) -> Floats:
    """The masses of the uniform density, each cell's density disturbed by a normal share of deviation `noise`."""
    if not 0 < noise <= MOST_NOISE:
        raise UsageError(f"the noise must be above 0 and at most {MOST_NOISE:g} of the uniform density, not {noise:g}")
    drawn = np.random.default_rng(Seeds(seed).key("density")).standard_normal(len(mesh.areas))
    masses = mesh.areas * np.maximum(0.0, 1 + noise * drawn)
    return masses / masses.sum()
