"""The interval from held-out items: how often it holds a distance that is known, and the inequalities behind it."""

import numpy as np
import pytest

from lengthwise.shift.ground import ground
from lengthwise.shift.sampling_error import _exchanged, _extended, held_out_interval
from lengthwise.transport.metrics import metrics
from lengthwise.transport.solving import solve
from lengthwise.transport.trajectories import Sample, Trajectory


def numbered(points: np.ndarray) -> Sample:
    names = [f"x{at}" for at in range(points.shape[1])]
    return Sample.of([Trajectory(("a",), features=tuple(zip(names, map(float, p), strict=True))) for p in points])


def normal(rng: np.random.Generator, items: int, dimension: int, shift: float) -> Sample:
    return numbered(rng.normal(size=(items, dimension)) + shift * (np.arange(dimension) == 0))


def unscaled(dimension: int):
    """The Euclidean metric of the numbers, each divided by 1."""
    names = "+".join(f"x{at}" for at in range(dimension))
    metric = metrics.make(f"features:use={names}")
    signs = np.array([[1.0], [-1.0]]) * np.ones(dimension)
    return metric, metric.fit(numbered(signs))


def intervals(dimension: int, shift: float, items: int, times: int, seed: int):
    rng, (metric, fitted) = np.random.default_rng(seed), unscaled(dimension)
    for _ in range(times):
        one, two, again, other = (normal(rng, items, dimension, at) for at in (0, shift, 0, shift))
        placed = ground(metric, fitted, one, two)
        yield held_out_interval(placed, solve(placed.problem), again, other)


@pytest.mark.parametrize("dimension, shift, items", [(1, 2.0, 60), (3, 1.0, 60)])
def test_it_holds_the_distance_of_the_distributions(dimension, shift, items):
    """At a level of 95 %, 42 of 50 or more; fewer would have a chance of 0.3 % where 94 % are held."""
    found = list(intervals(dimension, shift, items, 50, seed=2))
    assert sum(shift in interval for interval in found) >= 42
    assert np.mean([i.high - i.low for i in found]) < 1.6, "an interval that holds everything is none"


def test_what_moved_is_told_from_what_did_not():
    assert all(interval.low > 1 for interval in intervals(3, 2.5, 60, 6, seed=3))
    assert sum(interval.low > 0 for interval in intervals(3, 0.0, 60, 25, seed=3)) <= 3


def test_exchanging_an_item_moves_the_distance_by_what_the_potential_says():
    """The inequality under Efron and Stein's: searched for a violation by solving every exchanged problem again."""
    rng, (metric, fitted) = np.random.default_rng(4), unscaled(2)
    for _ in range(5):
        x, y, fresh = rng.normal(size=(8, 2)), rng.normal(size=(8, 2)) + 1, rng.normal(size=(6, 2))
        placed = ground(metric, fitted, numbered(x), numbered(y))
        found = solve(placed.problem)
        two = placed.second
        phi = _extended(fitted.distances(numbered(fresh), two.sample)[:, two.shown], found.solution.g)
        worst = 0.0
        for point, f in enumerate(found.solution.f):
            at = int(placed.first.shown[point])
            for new, value in zip(fresh, phi, strict=True):
                changed = x.copy()
                changed[at] = new
                moved = solve(ground(metric, fitted, numbered(changed), numbered(y)).problem).certificate.primal
                allowed = (f - value) / 8
                assert found.certificate.primal - moved <= allowed + 1e-9
                worst = max(worst, (found.certificate.primal - moved) / allowed if allowed > 0.01 else 0.0)
        assert worst > 0.9, "a bound that is never near says little"


def test_the_variance_is_bounded():
    """Efron and Stein's bound, averaged, is no smaller than the variance of W1 over fresh samples, and of its order."""
    rng, (metric, fitted) = np.random.default_rng(5), unscaled(2)
    values, bounds = [], []
    for _ in range(80):
        one, two, again, other = (normal(rng, 30, 2, at) for at in (0, 1, 0, 1))
        placed = ground(metric, fitted, one, two)
        found = solve(placed.problem)
        f, g = found.solution.f, found.solution.g
        phi = _extended(fitted.distances(again, two)[:, placed.second.shown], g)
        psi = _extended(fitted.distances(other, one)[:, placed.first.shown], f)
        moved = _exchanged(f, placed.first.weights, phi, again.weights)
        bounds.append((moved + _exchanged(g, placed.second.weights, psi, other.weights)) / 30)
        values.append(found.certificate.primal)
    assert 0.75 * np.var(values, ddof=1) < np.mean(bounds) < 4 * np.var(values, ddof=1)


@pytest.mark.slow
@pytest.mark.parametrize(
    "dimension, shift, items, least", [(1, 0.5, 50, 0.89), (1, 2, 50, 0.89), (5, 3, 200, 0.95), (11, 1, 200, 0.95)]
)
def test_the_table_of_the_module(dimension, shift, items, least):
    found = list(intervals(dimension, shift, items, 150, seed=6))
    assert np.mean([shift in interval for interval in found]) >= least
