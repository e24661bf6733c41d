"""Widths: Barron's bound is kept by the networks of its own proof, which are right in the mean; rates with depth."""

from __future__ import annotations

import math

import numpy as np
import pytest

from lengthwise.errors import UsageError
from lengthwise.oracle.width import barron_width, check_barron, deep_width, gaussian_constant, sampled_gaussian


@pytest.mark.parametrize("dimension", [1, 3, 10])
@pytest.mark.parametrize("units", [20, 320])
@pytest.mark.parametrize("radius", [1.0, 3.0])
def test_drawn_networks_keep_the_bound(dimension: int, units: int, radius: float) -> None:
    found = check_barron(dimension, units, radius)
    assert 0 < found.error <= found.bound
    assert min(found.errors) <= found.bound


def test_the_error_falls_with_the_root_of_the_width() -> None:
    errors = [check_barron(3, units, draws=24).error for units in (25, 100, 400)]
    assert errors[0] / errors[1] == pytest.approx(2, rel=0.3) and errors[1] / errors[2] == pytest.approx(2, rel=0.3)


def test_the_mean_network_is_the_function() -> None:
    """Many units are the mean: a wrong weight or law would leave an error that no width takes away."""
    points = np.random.default_rng(0).uniform(-1, 1, (200, 2))
    wide = sampled_gaussian(2, 400_000, radius=1.5)
    wanted = np.exp(-(points**2).sum(axis=1) / 2)
    for begin in range(0, 200, 20):
        some = slice(begin, begin + 20)
        assert np.abs(wide(points[some]) - wanted[some]).max() < 0.02


def test_the_constant_is_the_mean_length_of_a_normal_vector() -> None:
    normal = np.random.default_rng(0).standard_normal((200_000, 3))
    assert gaussian_constant(3) == pytest.approx(np.linalg.norm(normal, axis=1).mean(), rel=0.01)
    assert gaussian_constant(1) == pytest.approx(math.sqrt(2 / math.pi))


def test_widths() -> None:
    claim = barron_width(0.1, constant=2.0, radius=1.5)
    assert claim.value == 3600 and claim.kind == "proved"
    assert barron_width(0.05, constant=2.0, radius=1.5).value == 4 * 3600
    shallow, deep = deep_width(0.1, 0.1, 1), deep_width(0.1, 0.1, 4)
    assert shallow.evidence["exponent"] == pytest.approx(10) and deep.evidence["exponent"] == pytest.approx(2.5)
    assert deep.kind == "heuristic" and any("recalled" in a.statement for a in deep.assumptions)
    assert deep_width(0.1, 0.3, 2).status == "refused"
    for bad in (lambda: barron_width(0, 1), lambda: deep_width(0.1, 0, 1), lambda: check_barron(0, 1)):
        with pytest.raises(UsageError):
            bad()
