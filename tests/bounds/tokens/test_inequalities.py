"""The inequalities by themselves: their ends, their grids, and how they stand to each other."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq, minimize_scalar

from lengthwise.bounds.tokens.formulas import best_alpha, loss_ceiling, loss_floor, loss_range, smoothing_cost
from lengthwise.bounds.tokens.inequalities import Freedman, Hoeffding, ProductInequality, step_grid
from lengthwise.bounds.tokens.losses import sample_price, sampled_mean
from lengthwise.errors import UsageError

INEQUALITIES = (Hoeffding(), ProductInequality(), Freedman())


def bound(inequality, x, y, ends, nats, steps=None):
    return min(
        inequality.total(float(inequality.values(x, y, ends, step, nats).mean()), ends, step, nats)
        for step in steps or inequality.steps(nats)
    )


@pytest.mark.parametrize("inequality", INEQUALITIES, ids=lambda inequality: inequality.name)
@settings(max_examples=60, deadline=None)
@given(
    low=st.floats(0, 3),
    spread=st.floats(0.1, 20),
    nats=st.floats(1e-6, 3),
    x=st.floats(0, 1),
    y=st.floats(0, 1),
    place=st.integers(0, 63),
)
def test_no_value_leaves_its_ends(inequality, low, spread, nats, x, y, place):
    ends = (low, low + spread)
    step = inequality.steps(nats)[place % len(inequality.steps(nats))]
    least, most = inequality.value_ends(ends, step, nats)
    value = inequality.values(np.array([low + x * spread]), np.array([y * (low + spread)]), ends, step, nats)[0]
    assert least - 1e-9 * (1 + abs(least)) <= value <= most + 1e-9 * (1 + abs(most))


@pytest.mark.parametrize("nats", [1e-7, 1e-4, 1e-2, 0.3])
@pytest.mark.parametrize("inequality", [ProductInequality(), Freedman()], ids=lambda inequality: inequality.name)
def test_the_grid_is_within_one_percent_of_the_best_step(inequality, nats):
    x = np.minimum(np.random.default_rng(0).exponential(size=3000), 10.0)
    y, ends = np.ones_like(x), (0.0, 10.0)

    def gap(odds):
        step = 1 / (1 + math.exp(-odds))
        return inequality.total(float(inequality.values(x, y, ends, step, nats).mean()), ends, step, nats) - x.mean()

    best = minimize_scalar(gap, bounds=(-12, 9), method="bounded").fun
    assert bound(inequality, x, y, ends, nats) - x.mean() <= 1.01 * best


def test_product_is_never_worse_than_the_kl_inversion_but_for_its_grid():
    rng = np.random.default_rng(1)
    for mean in (0.01, 0.2, 0.5):
        x = (rng.random(400) < mean).astype(float)
        q = x.mean()

        def divergence(p, q=q):
            first = q * math.log(q / p) if q else 0.0
            return first + (1 - q) * math.log((1 - q) / (1 - p))

        inverse = brentq(lambda p: divergence(p) - 0.02, q, 1 - 1e-12)
        assert inverse - 1e-9 <= bound(ProductInequality(), x, x, (0.0, 1.0), 0.02) <= q + 1.02 * (inverse - q)


def test_a_sample_of_a_population_is_bounded_without_replacement():
    """The expectation in the proof, exactly: all samples of three of a small population."""
    rng = np.random.default_rng(2)
    for _ in range(50):
        population = rng.beta(0.3, 0.3, 7)
        for t in (0.1, 0.5, 0.99):
            mean = np.mean([np.prod(1 - t * np.array(some)) for some in itertools.combinations(population, 3)])
            assert mean <= (1 - t * population.mean()) ** 3 + 1e-12


def test_a_sample_of_equal_values_says_nearly_what_they_are():
    few, many = (sampled_mean(np.full(m, 2.0), (0.0, 10.0), sample_price(m, 0.05, 1)) for m in (100, 100_000))
    assert 2.0 < many < 2.002 < few < 3.0


def misses(price: float, draws: int = 400) -> float:
    """How often the mean of a population that is hardest to sample (few ones among zeros) exceeds its bound."""
    rng, worst = np.random.default_rng(3), 0.0
    for ones in (4, 8, 12, 16, 24, 40, 80):
        population = np.arange(200) < ones
        found = [sampled_mean(rng.permutation(population)[:60].astype(float), (0.0, 1.0), price) for _ in range(draws)]
        worst = max(worst, float(np.mean(np.array(found) < ones / 200)))
    return worst


def test_a_sample_is_rarely_misleading_and_an_unpaid_one_is_caught():
    price = sample_price(60, 0.05, 1)
    assert misses(price) <= 0.05 < 0.08 < misses(price / 10)


def test_smoothing():
    assert loss_range(0.1, 100) == pytest.approx(loss_ceiling(0.1, 100) - loss_floor(0.1, 100))
    grid = np.logspace(-9, 3, 400)
    ratios = [smoothing_cost(c) / math.sqrt(2 * c) for c in grid]
    assert max(ratios) <= math.sqrt(2) * math.log(2) == pytest.approx(smoothing_cost(1.0) / math.sqrt(2.0))
    for c in (1e-6, 1 / 9, 2.0):
        least = minimize_scalar(
            lambda a, c=c: -math.log1p(-a) - c * math.log(a), bounds=(1e-12, 1 - 1e-9), method="bounded"
        )
        assert least.fun >= smoothing_cost(c) - 1e-6
        a = best_alpha(c)
        assert -math.log1p(-a) - c * math.log(a) == pytest.approx(smoothing_cost(c))
    with pytest.raises(UsageError, match="finite number"):
        smoothing_cost(-1)


def test_steps_ascend_between_0_and_1():
    for nats in (1e-12, 1e-3, 5.0):
        steps = step_grid(nats, 64)
        assert all(0 < a < b < 1 for a, b in itertools.pairwise(steps))
        assert steps[0] <= max(math.sqrt(nats), 0.5)
