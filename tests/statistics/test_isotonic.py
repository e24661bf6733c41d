"""Monotone fits: against a bounded quadratic programme, against the max-min formula, and against pure noise."""

import itertools
import json
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


def violated(claim) -> dict:
    return {a.key: dict(a.values) for a in claim.assumptions if a.check == "violated"}


@given(points, st.booleans())
@quick
def test_fit_solves_the_quadratic_programme(rows, increasing) -> None:
    """f is a start plus steps of one sign, so the programme is least squares with bounds on the steps."""
    y, w = np.array(rows, dtype=float).T
    fit = isotonic_fit(range(len(y)), y.tolist(), w.tolist(), increasing)
    steps = np.tril(np.ones((len(y), len(y))))
    steps[:, 1:] *= 1 if increasing else -1
    low = np.array([-np.inf] + [0.0] * (len(y) - 1))
    solved = lsq_linear(np.sqrt(w)[:, None] * steps, np.sqrt(w) * y, (low, np.inf), method="bvls", tol=1e-12).x
    assert fit.fitted == pytest.approx(steps @ solved, abs=1e-6)


@given(points)
@quick
def test_fit_is_the_max_min_formula(rows) -> None:
    y, w = np.array(rows, dtype=float).T
    fit = isotonic_fit(range(len(y)), y.tolist(), w.tolist(), increasing=True)
    for i in range(len(y)):
        inner = [min(np.average(y[s : t + 1], weights=w[s : t + 1]) for t in range(i, len(y))) for s in range(i + 1)]
        assert fit.fitted[i] == pytest.approx(max(inner), abs=1e-9)


@given(points, st.integers(-100, 100), st.randoms())
@quick
def test_invariances(rows, shift, random) -> None:
    y, w = np.array(rows, dtype=float).T
    x = np.arange(len(y)) * 2.0
    fit = isotonic_fit(x.tolist(), y.tolist(), w.tolist())
    assert isotonic_fit(x.tolist(), (y + shift).tolist(), w.tolist()).fitted == pytest.approx(fit.fitted + shift)
    mirrored = isotonic_fit(x.tolist(), (-y).tolist(), w.tolist(), increasing=True)
    assert mirrored.fitted == pytest.approx(-fit.fitted)
    order = list(range(len(y)))
    random.shuffle(order)
    assert isotonic_fit(x[order].tolist(), y[order].tolist(), w[order].tolist()).fitted == pytest.approx(fit.fitted)


def test_points_at_one_size_are_pooled() -> None:
    fit = isotonic_fit([2, 1, 2], [0.0, 1.0, 0.6], [1, 1, 2])
    assert fit.x.tolist() == [1, 2] and fit.y == pytest.approx([1.0, 0.4]) and fit.weights.tolist() == [1, 3]


def test_a_fit_by_hand() -> None:
    fit = isotonic_fit([10, 20, 30, 40], [1.0, 0.9, 1.0, 0.2])
    assert fit.fitted == pytest.approx([1.0, 0.95, 0.95, 0.2]) and fit.levels == 3
    claim = fit.claim("c")
    assert claim.kind == "heuristic" and claim.interval is None
    assert violated(claim) == {"statistics.one": {"noun": "curve"}}
    json.dumps(claim.plain(), allow_nan=False)


def test_a_claim_over_seeds_names_them() -> None:
    sizes = list(range(1, 21))
    curves = {seed: [1.0 if size <= 6 + 4 * seed else 0.0 for size in sizes] for seed in range(3)}
    claim = isotonic_fit(sizes, curves, discarded=[9], rule="learned").claim("c")
    assert claim.interval and claim.value in claim.interval
    assert claim.evidence["seeds"] == [0, 1, 2] and claim.evidence["discarded"] == [9]
    assert violated(claim)["statistics.covers_less"] == {"n": 3, "noun": "seed", "percent": 95.0}


def test_which_seed_has_which_curve_is_no_matter() -> None:
    generator = np.random.default_rng(0)
    curves = {seed: generator.random(6).tolist() for seed in range(8)}
    renamed = {50 - seed: curve for seed, curve in curves.items()}
    one, two = isotonic_fit(range(6), curves), isotonic_fit(range(6), renamed)
    assert one.claim("c").interval == two.claim("c").interval
    same = isotonic_fit(range(6), dict.fromkeys(range(3), curves[0])).claim("c")
    assert violated(same)["statistics.equal"] == {"n": 3, "noun": "curve"}


def test_share_explained_of_a_fall_and_of_its_opposite() -> None:
    sizes = list(range(12))
    falling = isotonic_fit(sizes, [1 / (1 + n) for n in sizes]).claim("monotone")
    assert falling.value == pytest.approx(1) and falling.evidence["p_value"] == 1 / 1000
    rising = isotonic_fit(sizes, [float(n) for n in sizes]).claim("monotone")
    assert rising.value == pytest.approx(0) and rising.evidence["p_value"] == 1 and rising.evidence["levels"] == 1
    flat = isotonic_fit(sizes, [0.1] * 12).claim("monotone")
    assert flat.status == "unknown" and flat.value is None
    assert isotonic_fit([1, 2], [1.0, 0.0]).claim("monotone").status == "unknown"
    json.dumps(falling.plain(), allow_nan=False)


def test_share_explained_of_noise_is_the_published_one() -> None:
    """For n normal points the mean share is (H_n - 1) / (n - 1), H_n the harmonic number (barlow1972, chapter 3)."""
    generator = np.random.default_rng(4)
    n = 15
    shares = [isotonic_fit(range(n), generator.normal(size=n).tolist()).explained() for _ in range(1500)]
    expected = (math.fsum(1 / i for i in range(1, n + 1)) - 1) / (n - 1)
    assert np.mean(shares) == pytest.approx(expected, abs=0.015)
    claim = isotonic_fit(range(n), generator.normal(size=n).tolist()).claim("noise")
    assert claim.evidence["share_if_shuffled"] == pytest.approx(expected, abs=0.05)


def test_weights_go_with_their_points_when_shuffled() -> None:
    """A heavy point carries its weight wherever it goes; all 24 orders of four points are the witness."""
    y, w = np.array([4.0, 1.0, 0.0, 1.0]), np.array([1.0, 50.0, 1.0, 50.0])
    orders = [list(order) for order in itertools.permutations(range(4))]
    shares = [isotonic_fit(range(4), y[order].tolist(), w[order].tolist()).explained() for order in orders]
    claim = isotonic_fit(range(4), y.tolist(), w.tolist()).claim("c")
    assert claim.evidence["share_if_shuffled"] == pytest.approx(np.mean(shares), abs=0.04)
    assert claim.evidence["p_value"] == pytest.approx(np.mean(np.array(shares) >= claim.value - 1e-9), abs=0.05)


@pytest.mark.parametrize(
    "call, sentence",
    [
        (lambda: isotonic_fit([], []), "at least one point"),
        (lambda: isotonic_fit([1], {}), "one curve"),
        (lambda: isotonic_fit([1, 2], [1.0]), "as many values"),
        (lambda: isotonic_fit([1, 2], {0: [1.0, 2.0], 1: [1.0]}), "as many values"),
        (lambda: isotonic_fit([1, 2], [1.0, 2.0], [1.0]), "as many values and weights"),
        (lambda: isotonic_fit([1, 2], [1.0, 2.0], [1.0, 0.0]), "above 0"),
        (lambda: isotonic_fit([1, 2], [1.0, float("nan")]), "finite"),
        (lambda: isotonic_fit([1, 2], [1.0, 2.0], discarded=[1]), "without a rule"),
        (lambda: isotonic_fit([1, 2], [1.0, 2.0]).claim("c", level=0), "between 0 and 1"),
    ],
)
def test_wrong_input_gets_a_sentence(call, sentence) -> None:
    with pytest.raises(UsageError, match=sentence):
        call()
