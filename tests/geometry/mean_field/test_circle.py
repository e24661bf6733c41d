"""W1 on the circle, and the density as the limit of many tokens."""

import numpy as np
import pytest
from scipy.optimize import linprog

from circle_masses import circle_distance, masses_of, quantile_angles
from lengthwise.geometry.mean_field import cell_angles, circle, flow
from lengthwise.geometry.particles.integrate import simulate
from lengthwise.geometry.particles.system import System


def start(cells: int) -> np.ndarray:
    angles = cell_angles(cells)
    return masses_of(cells, 1 + 0.6 * np.cos(angles) + 0.3 * np.sin(2 * angles))


def test_distance_takes_the_short_way_round():
    masses = np.zeros(100)
    masses[99] = 1.0  # at the angle 2 pi - pi / 100
    assert circle_distance(masses, [0.1]) == pytest.approx(0.1 + np.pi / 100)
    assert circle_distance(masses, [np.pi]) == pytest.approx(np.pi * 0.99)
    assert circle_distance(masses, [cell_angles(100)[99]] * 3) == pytest.approx(0, abs=1e-15)


def test_distance_agrees_with_a_solver_that_knows_nothing_of_circles():
    generator = np.random.default_rng(5)
    rows, columns = np.kron(np.eye(12), np.ones(7)), np.kron(np.ones(12), np.eye(7))
    for _ in range(10):
        masses = generator.random(12) ** 4
        masses /= masses.sum()
        angles = generator.random(7) * 20 - 5
        gap = np.abs(np.mod(cell_angles(12)[:, None] - angles[None, :], 2 * np.pi))
        cost = np.minimum(gap, 2 * np.pi - gap).ravel()
        exact = linprog(cost, A_eq=np.vstack([rows, columns]), b_eq=np.concatenate([masses, np.full(7, 1 / 7)]))
        assert circle_distance(masses, angles) == pytest.approx(
            exact.fun, abs=1e-6
        )  # HiGHS lets constraints slip by 1e-7


def test_quantiles_stand_for_the_density():
    masses = start(2000)
    assert circle_distance(masses, quantile_angles(masses, 400)) < 2 * np.pi / 400
    assert circle_distance(masses, quantile_angles(masses, 10)) > 0.05


def particle_gap(kind: str, beta: float, count: int, time: float, cells: int) -> float:
    """W1 between the density and tokens that began at its quantiles."""
    density = flow(circle(cells), start(cells), kind, beta, [time], order=2)  # pyright: ignore
    angles = quantile_angles(start(cells), count)
    points = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    after = simulate(System(kind, beta), points, [0.0, time], tolerance=1e-6).points[-1]  # pyright: ignore
    return circle_distance(density.masses[0], np.arctan2(after[:, 1], after[:, 0]))


@pytest.mark.parametrize(("kind", "beta", "time"), [("SA", 4.0, 1.0), ("USA", 1.0, 0.5)])
def test_tokens_come_near_the_density_as_they_grow_many(kind, beta, time):
    gaps = [particle_gap(kind, beta, count, time, 400) for count in (8, 32, 128)]
    assert gaps[0] > 2.5 * gaps[1] > 2.5**2 * gaps[2]
    assert gaps[2] < 0.02


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["SA", "USA"])
def test_two_thousand_tokens(kind):
    gaps = [particle_gap(kind, 4.0, count, 1.0 if kind == "SA" else 0.1, 1500) for count in (125, 500, 2000)]
    assert gaps[0] > 2 * gaps[1] > 4 * gaps[2]
    assert gaps[2] < 0.004
