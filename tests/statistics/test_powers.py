"""Power laws: exact data, coverage of the intervals by simulation, and ratios against a search over them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from lengthwise.errors import UsageError
from lengthwise.statistics.powers import power_law

SIZES = np.repeat([8.0, 16, 32, 64], 3)
VALUES = np.tile([1.0, 2, 4], 4)


def test_exact_powers_are_found() -> None:
    law = power_law(0.5 * SIZES**-1.5 * VALUES**0.75, SIZES, VALUES)
    assert (law.exponent(0), law.exponent(1)) == (pytest.approx(-1.5), pytest.approx(0.75))
    assert law.value(10, 3) == pytest.approx(0.5 * 10**-1.5 * 3**0.75)
    ratio = law.ratio_interval(1, 0)
    assert ratio is not None and ratio.low == pytest.approx(-0.5) == ratio.high


def noisy(seed: int, noise: float):
    generator = np.random.default_rng(seed)
    return power_law(SIZES**-1.0 * VALUES**1.2 * np.exp(noise * generator.normal(size=len(SIZES))), SIZES, VALUES)


def test_intervals_cover_what_they_say() -> None:
    """400 simulated families; the standard error of a coverage of 95 % is 1.1 %."""
    hits = np.zeros(3)
    for seed in range(400):
        law = noisy(seed, 0.3)
        inverse, ratio = law.ratio_interval(None, 0), law.ratio_interval(1, 0)
        assert inverse is not None and ratio is not None
        hits += [-1.0 in law.interval(0), -1.0 in inverse, -1.2 in ratio]
    assert (hits / 400 > 0.92).all() and (hits / 400 < 0.98).all()


def test_the_ratio_is_bounded_by_the_tests_that_do_not_reject() -> None:
    """Fieller's ends are where |a - r b| is exactly t standard errors of itself."""
    from scipy.stats import t

    law = noisy(3, 0.4)
    interval = law.ratio_interval(1, 0)
    assert interval is not None
    for end in (interval.low, interval.high):
        direction = np.array([0.0, -end, 1.0])
        error = math.sqrt(direction @ law.covariance @ direction)
        assert abs(direction @ law.coefficients) == pytest.approx(t.ppf(0.975, law.freedom) * error)


def test_a_flat_law_bounds_no_ratio() -> None:
    generator = np.random.default_rng(1)
    law = power_law(np.exp(generator.normal(size=len(SIZES))), SIZES, VALUES)
    assert 0 in law.interval(0) and law.ratio_interval(1, 0) is None and law.ratio_interval(None, 0) is None


@pytest.mark.parametrize(
    ("values", "variables"),
    [([1.0, 2.0], [[1.0, 2.0]]), ([1.0, 2.0, 0.0], [[1.0, 2.0, 3.0]]), ([1.0, 2.0, 3.0], [[2.0, 2.0, 2.0]])],
)
def test_what_determines_no_law_is_refused(values, variables) -> None:
    with pytest.raises(UsageError):
        power_law(values, *variables)
