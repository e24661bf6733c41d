"""Monotone fits: against a bounded quadratic programme, against the max-min formula, and against pure noise."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import lsq_linear

from lengthwise.errors import UsageError
from lengthwise.statistics.isotonic import isotonic_fit

quick = settings(max_examples=40, deadline=None)  # a busy machine is no counterexample

points = st.lists(st.tuples(st.integers(-20, 20), st.integers(1, 5)), min_size=1, max_size=9)


def fitted(x, y, w, increasing=False):
    """The fit to points that weigh a whole number each: so many points at one place."""
    places, values = (np.repeat(np.asarray(row, dtype=float), np.asarray(w, dtype=int)) for row in (x, y))
    return isotonic_fit(places.tolist(), values.tolist(), increasing)


@given(points, st.booleans())
@quick
def test_fit_solves_the_quadratic_programme(rows, increasing) -> None:
    """f is a start plus steps of one sign, so the programme is least squares with bounds on the steps."""
    y, w = np.array(rows, dtype=float).T
    fit = fitted(range(len(y)), y, w, increasing)
    steps = np.tril(np.ones((len(y), len(y))))
    steps[:, 1:] *= 1 if increasing else -1
    low = np.array([-np.inf] + [0.0] * (len(y) - 1))
    solved = lsq_linear(np.sqrt(w)[:, None] * steps, np.sqrt(w) * y, (low, np.inf), method="bvls", tol=1e-12).x
    assert fit.fitted == pytest.approx(steps @ solved, abs=1e-6)


@given(points)
@quick
def test_fit_is_the_max_min_formula(rows) -> None:
    y, w = np.array(rows, dtype=float).T
    fit = fitted(range(len(y)), y, w, increasing=True)
    for i in range(len(y)):
        inner = [min(np.average(y[s : t + 1], weights=w[s : t + 1]) for t in range(i, len(y))) for s in range(i + 1)]
        assert fit.fitted[i] == pytest.approx(max(inner), abs=1e-9)


@given(points, st.integers(-100, 100), st.randoms())
@quick
def test_invariances(rows, shift, random) -> None:
    y, w = np.array(rows, dtype=float).T
    x = np.arange(len(y)) * 2.0
    fit = fitted(x, y, w)
    assert fitted(x, y + shift, w).fitted == pytest.approx(fit.fitted + shift)
    mirrored = fitted(x, -y, w, increasing=True)
    assert mirrored.fitted == pytest.approx(-fit.fitted)
    order = list(range(len(y)))
    random.shuffle(order)
    assert fitted(x[order], y[order], w[order]).fitted == pytest.approx(fit.fitted)


def test_points_at_one_size_are_pooled() -> None:
    fit = isotonic_fit([2, 1, 2, 2], [0.0, 1.0, 0.6, 0.6])
    assert fit.x.tolist() == [1, 2] and fit.y == pytest.approx([1.0, 0.4]) and fit.weights.tolist() == [1, 3]


def test_a_fit_by_hand() -> None:
    assert isotonic_fit([10, 20, 30, 40], [1.0, 0.9, 1.0, 0.2]).fitted == pytest.approx([1.0, 0.95, 0.95, 0.2])


def test_share_explained_of_a_fall_and_of_its_opposite() -> None:
    sizes = list(range(12))
    assert isotonic_fit(sizes, [1 / (1 + n) for n in sizes]).explained() == pytest.approx(1)
    rising = isotonic_fit(sizes, [float(n) for n in sizes])
    assert rising.explained() == pytest.approx(0) and len(set(rising.fitted)) == 1
    assert isotonic_fit(sizes, [0.1] * 12).explained() is None


def test_share_explained_of_noise_is_the_published_one() -> None:
    """For n normal points the mean share is (H_n - 1) / (n - 1), H_n the harmonic number (barlow1972, chapter 3)."""
    generator = np.random.default_rng(4)
    n = 15
    shares = [isotonic_fit(range(n), generator.normal(size=n).tolist()).explained() for _ in range(1500)]
    expected = (math.fsum(1 / i for i in range(1, n + 1)) - 1) / (n - 1)
    assert np.mean(shares) == pytest.approx(expected, abs=0.015)


@pytest.mark.parametrize(
    "call, sentence",
    [
        (lambda: isotonic_fit([], []), "a point or more"),
        (lambda: isotonic_fit([1, 2], [1.0]), "a value for each"),
        (lambda: isotonic_fit([1, 2], [1.0, float("nan")]), "finite"),
    ],
)
def test_wrong_input_gets_a_sentence(call, sentence) -> None:
    with pytest.raises(UsageError, match=sentence):
        call()
