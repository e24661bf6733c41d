"""The pair is of order 5 and 4, and stays so on the sphere."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.integrate import RK45

from lengthwise.geometry.particles.integrate import DIFFERENCE, TABLEAU, field, step
from lengthwise.geometry.particles.starts import uniform
from lengthwise.geometry.particles.system import System


def test_the_tableau_is_the_one_of_scipy() -> None:
    own = np.zeros((6, 6))
    for row, weights in enumerate(TABLEAU):
        own[row, : len(weights)] = weights
    np.testing.assert_allclose(own[:5, :5], RK45.A[1:], atol=1e-15)
    np.testing.assert_allclose(own[5], RK45.B, atol=1e-15)
    np.testing.assert_allclose(DIFFERENCE, -RK45.E, atol=1e-15)  # scipy takes order 4 less order 5


def test_the_field_does_not_see_the_length_of_a_point() -> None:
    x, system = uniform(6, 3, seed=0), System("SA", 3.0)
    lengths = torch.linspace(0.5, 2, 6, dtype=torch.float64)[:, None]
    torch.testing.assert_close(field(system, lengths * x), system.velocity(x), rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("kind,longest", [("SA", 0.2), ("USA", 0.05)])  # USA is faster: its steps must be shorter
def test_halving_the_step_divides_the_local_error_by_64_and_its_estimate_by_32(kind, longest) -> None:
    x, system = uniform(8, 3, seed=4)[None], System(kind, 2.0)
    slope = system.velocity(x)

    def taken(size: float, count: int):
        points, now, error = x, slope, torch.zeros(1)
        for _ in range(count):
            found = step(system, points, now, torch.tensor([size / count], dtype=torch.float64))
            points, now, error = found.points, found.slope, found.error
        return points, float(error)

    errors, estimates = [], []
    for size in (longest, longest / 2, longest / 4):
        points, estimate = taken(size, 1)
        errors.append(float((points - taken(size, 16)[0]).norm(dim=-1).max()))
        estimates.append(estimate)
    orders = np.log2(np.divide(errors[:-1], errors[1:]))
    embedded = np.log2(np.divide(estimates[:-1], estimates[1:]))
    assert (np.abs(orders - 6) < 0.5).all() and (np.abs(embedded - 5) < 0.5).all()
    assert np.less(errors, estimates).all()
