"""The certificate finds what is wrong with a plan or its potentials, and its sandwich holds the true value."""

from __future__ import annotations

import dataclasses
from fractions import Fraction

import numpy as np
import pytest

from lengthwise.errors import UsageError
from lengthwise.transport.problem import Solution, TransportProblem, VectorCost
from lengthwise.transport.solving import solve
from lengthwise.transport.verify import verify
from transport.instances import highs, instance


@pytest.fixture
def problem() -> TransportProblem:
    r = np.random.default_rng(3)
    return TransportProblem(VectorCost(r.normal(size=(30, 3)), r.normal(size=(40, 3)) + 1))


@pytest.fixture
def solution(problem: TransportProblem) -> Solution:
    return solve(problem, "dense").solution


def test_an_optimum_holds(problem: TransportProblem, solution: Solution) -> None:
    found = verify(problem, solution)
    assert found.status == "holds" and found.why == ""
    assert found.primal == pytest.approx(highs(problem), rel=1e-9)
    assert found.lower <= found.dual + 1e-12 and found.upper >= found.primal and found.relative_gap < 1e-12


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("mass", lambda mass: mass * 0.999),
        ("mass", lambda mass: mass * 1.001),
        ("f", lambda f: f * 1.01),
        ("g", lambda g: np.where(np.arange(len(g)) == 5, g + 0.5, g)),
        ("f", lambda f: f - 1e-3),
        ("columns", lambda columns: columns[::-1].copy()),
        ("mass", lambda mass: np.where(np.arange(len(mass)) == 0, np.nan, mass)),
        ("mass", lambda mass: -mass),
        ("rows", lambda rows: rows + 1),
        ("f", lambda f: f[:-1]),
        ("finished", lambda finished: False),
    ],
)
def test_a_spoilt_solution_is_refused(problem: TransportProblem, solution: Solution, name: str, change) -> None:
    spoilt = dataclasses.replace(solution, **{name: change(getattr(solution, name))})
    found = verify(problem, spoilt)
    assert found.status == "refused" and found.why
    assert found.lower <= highs(problem) * (1 + 1e-9) and found.upper >= highs(problem) * (1 - 1e-9)


def test_the_sandwich_holds_for_any_plan_and_potentials() -> None:
    """Attack: random plans with wrong marginals and random potentials must never exclude the true value."""
    for seed in range(60):
        problem = instance(seed, largest=12)
        r = np.random.default_rng(seed)
        n, m = problem.cost.shape
        value, good = highs(problem), solve(problem).solution
        for noise in (1e-6, 1e-2, 1.0):
            size = len(good.mass)
            worse = dataclasses.replace(
                good,
                mass=good.mass * np.exp(noise * r.normal(size=size)),
                rows=np.where(r.random(size) < noise / 2, r.integers(n, size=size), good.rows),
                f=good.f + noise * r.normal(size=n),
                g=good.g + noise * r.normal(size=m),
            )
            found = verify(problem, worse)
            slack = 1e-9 * max(value, 1e-3 * problem.cost.ceiling())
            assert found.lower <= value + slack and found.upper >= value - slack, seed


def test_on_a_line_the_quick_check_sees_what_the_full_one_sees() -> None:
    r = np.random.default_rng(0)
    for _ in range(50):
        n, m = r.integers(1, 20, size=2)
        x, y = r.integers(0, 6, size=(n, 1)) / 1.0, r.integers(0, 6, size=(m, 1)) / 1.0
        f, g = r.normal(size=n), r.normal(size=m)
        nothing = (np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))
        guess = Solution(*nothing, f, g, "guess", True, True)
        line = verify(TransportProblem(VectorCost(x, y)), guess)
        # A second coordinate that is always 0 leaves the costs as they are and makes the check look at all pairs.
        plane = verify(TransportProblem(VectorCost(np.pad(x, ((0, 0), (0, 1))), np.pad(y, ((0, 0), (0, 1))))), guess)
        assert line.dual_violation == pytest.approx(plane.dual_violation, abs=1e-12)
        assert line.upper == pytest.approx(plane.upper)


def test_equal_samples_are_at_distance_zero() -> None:
    r = np.random.default_rng(1)
    x = r.normal(size=(50, 4))
    found = solve(TransportProblem(VectorCost(x, x[::-1]))).certificate
    assert found.status == "holds" and found.primal == pytest.approx(0, abs=1e-12)
    same = solve(TransportProblem(VectorCost(np.zeros((5, 2)), np.zeros((7, 2))))).certificate
    assert same.status == "holds" and same.primal == same.relative_gap == 0


@pytest.mark.parametrize("scale", [1e-200, 1e-170, 1e-310, 5e-324, 1e200, 1e300])
@pytest.mark.parametrize("dimension", [1, 3])
def test_distances_whose_squares_are_no_floats(scale: float, dimension: int) -> None:
    """A distance of 1e-200 was certified to be 0, and one of 1e200 crashed."""
    x, y = np.zeros((2, dimension)), np.zeros((2, dimension))
    x[:, 0], y[:, 0] = (scale, 2 * scale), (3 * scale, 5 * scale)
    found = solve(TransportProblem(VectorCost(x, y))).certificate
    assert found.status == "holds" and found.lower <= 2.5 * scale <= found.upper and found.upper > 0
    direct = verify(TransportProblem(VectorCost(x, y)), solve(TransportProblem(VectorCost(x, y))).solution)
    assert direct.lower <= 2.5 * scale <= direct.upper


def test_a_distance_that_is_lost_next_to_large_ones_is_in_the_interval() -> None:
    x, y = np.array([[1.0, 0.0], [0.0, 0.0]]), np.array([[1.0, 0.0], [1e-200, 1e-200]])
    found = solve(TransportProblem(VectorCost(x, y))).certificate
    assert found.lower <= 0.5 * 2**0.5 * 1e-200 <= found.upper
    alone = solve(TransportProblem(VectorCost([[1.0, 0.0]], [[1.0, 1e-200]]))).certificate
    assert alone.lower <= 1e-200 <= alone.upper


@pytest.mark.parametrize("weight", [1e-310, 5e-324, 1e-200])
@pytest.mark.parametrize("dimension", [1, 2])
def test_weights_so_small_that_they_are_hardly_floats(weight: float, dimension: int) -> None:
    """A weight of 1e-310 at a distance of 1e300 is no less than 1e-10 of the distance."""
    x, y = np.zeros((2, dimension)), np.zeros((1, dimension))
    x[1, 0] = 1e300
    true = Fraction(weight) * Fraction(1e300) / (1 + Fraction(weight))
    found = solve(TransportProblem(VectorCost(x, y), [1.0, weight])).certificate
    assert Fraction(found.lower) <= true <= Fraction(found.upper)


def test_the_interval_includes_the_rounding_of_costs_and_weights() -> None:
    """Items of three weigh 1/3, which is no float, and are √2 apart, which is none either."""
    x, y = np.array([[0.0, 0.0]] * 3), np.array([[1.0, 1.0]] * 3)
    found = solve(TransportProblem(VectorCost(x, y))).certificate
    assert Fraction(found.lower) ** 2 <= 2 <= Fraction(found.upper) ** 2 and found.relative_gap < 1e-13


def test_distances_beyond_floats_are_refused() -> None:
    with pytest.raises(UsageError, match="beyond the range"):
        VectorCost([[1e308, 0.0]], [[-1e308, 0.0]])


def test_places_far_from_the_origin_are_certified() -> None:
    r = np.random.default_rng(2)
    x, y = 1e8 + r.random((40, 1)), 1e8 + r.random((50, 1))
    assert solve(TransportProblem(VectorCost(x, y))).certificate.status == "holds"
