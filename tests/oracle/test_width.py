"""Widths: Barron's bound is kept by the networks of its own proof, which are right in the mean; rates with depth."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest

from lengthwise.errors import UsageError
from lengthwise.oracle.depth import barron_error, barron_width, deep_width
from lengthwise.seeds import Floats, Seeds


def gaussian_constant(dimension: int) -> float:
    """C of exp(-|x|²/2) in this many dimensions: the mean length of a standard normal vector."""
    return math.sqrt(2) * math.exp(math.lgamma((dimension + 1) / 2) - math.lgamma(dimension / 2))


@dataclass(frozen=True)
class StepNetwork:
    """f(x) = 1 + sum over units of weight · [direction · x > threshold]."""

    directions: Floats
    thresholds: Floats
    weights: Floats

    def __call__(self, points: Floats) -> Floats:
        return 1.0 + (points @ self.directions.T > self.thresholds) @ self.weights


@dataclass(frozen=True)
class BarronCheck:
    """Root mean square errors of networks drawn at random, their root mean square, and Barron's bound."""

    errors: tuple[float, ...]
    bound: float

    @property
    def error(self) -> float:
        return math.sqrt(sum(error**2 for error in self.errors) / len(self.errors))


def check_barron(dimension: int, units: int, radius: float = 1.0, draws: int = 8, points: int = 2000) -> BarronCheck:
    """Draw networks for exp(-|x|²/2) and measure their errors on points uniform in the ball."""
    random = np.random.default_rng(Seeds(0).key("ball", dimension, points))
    normal = random.standard_normal((points, dimension))
    lengths = radius * random.random(points) ** (1 / dimension)
    x = normal / np.linalg.norm(normal, axis=1, keepdims=True) * lengths[:, None]
    wanted = np.exp(-(x**2).sum(axis=1) / 2)
    errors = [
        float(np.sqrt(np.mean((sampled_gaussian(dimension, units, radius, seed)(x) - wanted) ** 2)))
        for seed in range(draws)
    ]
    bound = 2 * radius * gaussian_constant(dimension) / math.sqrt(units)
    return BarronCheck(tuple(errors), bound)


def sampled_gaussian(dimension: int, units: int, radius: float, seed: int = 0) -> StepNetwork:
    """The network of Barron's proof for exp(-|x|²/2): its mean over draws is the function itself on the ball.

    A frequency w is drawn with density |w| times the normal density over C, a threshold u uniform on [0, r], a sign;
    the unit is -(2 r C / n) sin(|w| u) [± w·x/|w| > u]. |w| then has the chi law of dimension + 1.
    """
    random = np.random.default_rng(Seeds(seed).key("units", dimension, units))
    length = np.sqrt(random.chisquare(dimension + 1, units))
    normal = random.standard_normal((units, dimension))
    sign = random.choice([-1.0, 1.0], units)
    directions = sign[:, None] * normal / np.linalg.norm(normal, axis=1, keepdims=True)
    thresholds = radius * random.random(units)
    weights = -2 * radius * gaussian_constant(dimension) * np.sin(length * thresholds) / units
    return StepNetwork(directions, thresholds, weights)


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
    assert deep.kind == "heuristic" and any(a.key == "width.recalled" for a in deep.assumptions)
    assert deep_width(0.1, 0.3, 2).status == "refused"
    extreme = (lambda: barron_width(1e-200, 1e200), lambda: barron_error(4, 1e200), lambda: deep_width(0.1, 1e-4, 2))
    for bad in (lambda: barron_width(0, 1), lambda: deep_width(0.1, 0, 1), *extreme):
        with pytest.raises(UsageError):
            bad()


def test_errors_of_a_width() -> None:
    error, wrong = barron_error(3600, constant=2.0, radius=1.5)
    assert error.value == pytest.approx(0.1) and wrong.value == pytest.approx(0.04)
    assert barron_width(0.1, constant=2.0, radius=1.5).value == 3600
    assert barron_error(1, constant=2.0)[1].status == "vacuous"


def test_no_drawn_network_answers_wrongly_more_often_than_its_squared_error_allows() -> None:
    """Targets 0 and 1 and any estimate: the share of wrong answers is at most four times the mean square."""
    rng = np.random.default_rng(0)
    for _ in range(500):
        target = rng.integers(0, 2, 50)
        estimate = target + rng.normal(0, rng.uniform(0.05, 1.5), 50) * (rng.random(50) < rng.random())
        wrong = np.mean((estimate > 0.5) != (target == 1))
        assert wrong <= 4 * np.mean((estimate - target) ** 2) + 1e-12


def test_what_is_proved_is_not_rounded_to_nothing() -> None:
    """An error of 0 needs a target that is constant, and no error is kept by no unit at all."""
    tiny, share = barron_error(100, 5e-324)
    assert isinstance(tiny.value, float) and tiny.value > 0 and isinstance(share.value, float) and share.value > 0
    assert barron_width(1e308, 3.0).value == 1
    for units in range(1, 400, 7):
        error = barron_error(units, 0.3, 0.7)[0].value
        assert Fraction(error) ** 2 * units >= (2 * Fraction(0.3) * Fraction(0.7)) ** 2
