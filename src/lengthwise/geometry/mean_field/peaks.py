"""How fast the first waves grow on the uniform density, and in how many separate places a density has gathered."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.special import gamma, iv, ive

from lengthwise.errors import UsageError
from lengthwise.geometry.mean_field.mesh import Floats, Mesh
from lengthwise.seeds import Seeds


def growth_rate(kind: Literal["SA", "USA"], beta: float, degree: int, d: int = 2) -> float:
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
    order = d / 2 - 1
    laplace = degree * (degree + d - 2)
    if kind == "SA":
        return float(laplace / beta * ive(degree + order, beta) / ive(order, beta))
    return float(laplace / beta * gamma(d / 2) * (2 / beta) ** order * iv(degree + order, beta))


def fastest_degree(kind: Literal["SA", "USA"], beta: float, d: int = 2) -> int:
    """The degree that grows fastest from the uniform density; on the circle, about how many clusters show first."""
    degrees = range(1, int(2 * beta) + 8)
    return max(degrees, key=lambda degree: growth_rate(kind, beta, degree, d))


HEIGHT = 2.0  # times the uniform density, above which a place counts as part of a peak
MOST_NOISE = 0.2


def peaks(mesh: Mesh, masses: ArrayLike, height: float = HEIGHT) -> int:
    """The number of connected sets of cells whose density is above `height` times the uniform one.

    A threshold is used and not local maxima, of which noise has many.
    """
    held = np.asarray(masses, dtype=np.float64)
    if held.shape != mesh.areas.shape:
        raise UsageError(f"peaks are counted in the masses of {len(mesh.areas)} cells, not in {list(held.shape)}")
    high = held > height * mesh.uniform()
    kept = high[mesh.first] & high[mesh.second]
    first, second = mesh.first[kept], mesh.second[kept]
    graph = coo_array((np.ones(len(first)), (first, second)), shape=(len(held), len(held)))
    found, _ = connected_components(graph, directed=False)
    return int(found) - int((~high).sum())  # a cell outside of all peaks is a component of its own


def noisy(mesh: Mesh, noise: float, seed: int) -> Floats:
    """The masses of the uniform density, each cell's density disturbed by a normal share of deviation `noise`."""
    if not 0 < noise <= MOST_NOISE:
        raise UsageError(f"the noise lies above 0 and is at most {MOST_NOISE:g} of the uniform density, not {noise:g}")
    drawn = np.random.default_rng(Seeds(seed).key("density")).standard_normal(len(mesh.areas))
    masses = mesh.areas * np.maximum(0.0, 1 + noise * drawn)
    return masses / masses.sum()
