"""How fast the first waves grow on the uniform density, from which the number of clusters to come can be guessed."""

from __future__ import annotations

from typing import Literal

from lengthwise.errors import UsageError


def growth_rate(kind: Literal["SA", "USA"], beta: float, degree: int, d: int = 2) -> float:
    """The exponential rate at which a small spherical harmonic of a degree grows on the uniform density of S^(d-1).

    Take mu = (1 + a Y) sigma, sigma uniform, Y a harmonic of degree l. By the theorem of Funk and Hecke the integral of
    e^(beta <x, y>) Y(y) d sigma(y) is c_l Y(x), with c_l = Gamma(d/2) (2 / beta)^(d/2 - 1) I_(l + d/2 - 1)(beta). To
    first order in a, psi = const + a c_l Y / beta (USA) or const + a c_l Y / (beta c_0) (SA), and the density changes
    by -sigma Laplace(psi), where Laplace(Y) = -l (l + d - 2) Y. So the rate is l (l + d - 2) c_l / beta for USA, and
    that divided by c_0 for SA. On the circle (d = 2) USA has l^2 I_l(beta) / beta; at beta = 0 only l = 1 grows, at
    the rate (d - 1) / d.
    """
    from scipy.special import gamma, iv, ive

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
