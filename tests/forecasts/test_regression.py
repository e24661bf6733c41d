"""Regressions on features, many at once, and the distributions that come of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize

from lengthwise.forecasts.baselines import BaseRate
from lengthwise.forecasts.cases import cases_of, family_of, holds_at, reach_of, seen_to
from lengthwise.forecasts.distributions import GRID, steps
from lengthwise.forecasts.predicting import outlook
from lengthwise.forecasts.regression import _INTERCEPT, RIDGE, Regression, fitted, matrix
from lengthwise.forecasts.similar import Cases, distance, mixtures
from synthetic_atlas import SIZES, TRAIN_SIZE, synthetic_atlas


def planted(tasks: int = 40) -> Cases:
    """Holding depends on `kind` and not on `noise`."""
    drawn = np.random.default_rng(0)
    kind, noise = drawn.choice(["a", "b"], tasks), drawn.normal(size=tasks)
    held = (drawn.random(tasks) < np.where(kind == "a", 0.9, 0.1)).astype(float)
    features = {"kind": kind, "noise": noise}
    return Cases(np.arange(tasks), np.full(tasks, ""), features, np.ones(tasks), steps(held)[:, None], held[:, None])


def test_coefficients_are_where_the_penalised_likelihood_is_largest() -> None:
    """Compared with a general optimiser, for cases that a plane separates too, where there is no maximum without a
    ridge. Cases with equal features have outcomes and weights of their own."""
    drawn = np.random.default_rng(1)
    X = np.c_[np.ones(60), drawn.normal(size=(30, 3)).repeat(2, axis=0)]
    ridge = np.array([_INTERCEPT, *[RIDGE] * 3])
    weights = drawn.random((3, 60))
    for y in ((X[:, 1] > 0).astype(float), drawn.random(60)):
        for found, own in zip(fitted(X, [y], weights)[:, 0], weights, strict=True):

            def loss(b: np.ndarray, y: np.ndarray = y, own: np.ndarray = own) -> float:
                z = X @ b
                return float(own @ (np.logaddexp(0, z) - y * z) + (ridge * b * b).sum() / 2)

            assert found == pytest.approx(minimize(loss, np.zeros(4), tol=1e-10).x, abs=1e-3)


def test_a_feature_that_decides_is_found_and_one_that_does_not_counts_little() -> None:
    cases = planted(200)
    found = outlook(Regression(("kind", "noise")), cases, replace(cases, task=cases.task + 1000), 0)
    kinds = cases.features["kind"]
    assert found.holds[kinds == "a"].mean() > 0.8 > 0.2 > found.holds[kinds == "b"].mean()
    assert np.ptp(found.holds[kinds == "a"]) < 0.3  # what `noise` changes
    assert (np.diff(found.outcomes, axis=1) >= -1e-12).all() and found.outcomes[:, -1] == pytest.approx(1.0)


def test_a_fit_without_a_task_is_the_fit_of_the_others() -> None:
    cases, method = planted(12), Regression(("kind", "noise"))
    without = np.ones(12)
    without[3] = 0
    together = method.fit(cases, 0, np.stack([np.ones(12), without]))
    alone = method.fit(cases.part(without > 0), 0, np.ones((1, 11)))
    one, two = together.at(cases, np.full(12, 1)), alone.at(cases, np.zeros(12, dtype=int))
    assert one[0] == pytest.approx(two[0], abs=1e-3) and one[1] == pytest.approx(two[1], abs=1e-3)


def test_a_level_without_cases_and_a_text_that_is_not_known_make_no_fault() -> None:
    cases = planted(12)
    asked = replace(cases, features={"kind": np.full(12, "c"), "noise": np.full(12, np.nan)})
    none_held = replace(cases, holds=np.zeros((12, 1)), outcomes=steps(np.full((12, 1), 0.3)))
    chance, F = Regression(("kind", "noise")).fit(none_held, 0, np.ones((1, 12))).at(asked, np.zeros(12, dtype=int))
    assert (chance < 0.1).all() and (np.diff(F, axis=1) >= -1e-12).all()
    assert matrix(asked, cases, ("kind", "noise"), 0).tolist() == [[1, 0, 0, 0, 1]] * 12


def test_what_was_not_measured_at_a_horizon_is_left_out() -> None:
    cases = planted(30)
    missing = np.arange(30) % 3 == 0
    holed = replace(
        cases,
        holds=np.where(missing[:, None], np.nan, cases.holds),
        outcomes=np.where(missing[:, None, None], np.nan, cases.outcomes),
    )
    asked = cases.part(np.arange(3))
    one, two = (outlook(Regression(("kind",)), asked, known, 0) for known in (holed, cases.part(~missing)))
    assert one.holds == pytest.approx(two.holds) and one.intervals == two.intervals


def test_the_base_rate_is_the_mean_of_its_cell_and_a_little_of_all() -> None:
    cases = cases_of(synthetic_atlas(12).runs)
    chance, F = BaseRate().fit(cases, 1, cases.weight[None]).at(cases, np.zeros(len(cases), dtype=int))
    own, design = cases.features["oracle_class"], cases.features["design"]
    for place in (0, 17, 101):
        weights = ((own == own[place]) & (design == design[place])) + 1 / len(cases)
        assert chance[place] == pytest.approx(np.average(cases.holds[:, 1], weights=weights))
    assert F.shape == (len(cases), len(GRID))


def test_distances_of_missing_numbers() -> None:
    first, second = np.array([1.0, np.nan]), np.array([1.5, np.nan, 9.0])
    assert distance(first, second).tolist() == [[0.5, 1.0, 3.0], [1.0, 0.0, 1.0]]
    assert distance(np.array(["a", "b"]), np.array(["b"])).tolist() == [[1.0], [0.0]]


def test_what_was_not_measured_is_left_out_of_a_mixture() -> None:
    found = mixtures(np.array([[1.0, 3.0, 1.0]]), np.array([[0.0], [np.nan], [1.0]]))
    assert found.tolist() == [[0.5]]


def test_holding_needs_every_size_up_to_there() -> None:
    run = synthetic_atlas(3).runs[0]
    run = replace(run, exact=tuple(0.9 if size == 32 else 1.0 for size in SIZES))
    assert (holds_at(run, 1), holds_at(run, 2), holds_at(run, 8), holds_at(run, 20)) == (True, False, False, None)
    assert reach_of(run) == 25
    assert seen_to(run, 1).sizes[-1] == TRAIN_SIZE and len(seen_to(run, 1).signals["margin"]) == 6


def test_families_keep_their_wrappers_and_models_are_their_own() -> None:
    names = ("alibi", "kerple", "learned", "learned:rows=60+offset", "rope:base=500", "none", "lstm:width=32")
    families = ["bias", "bias", "absolute", "absolute+offset", "rope", "none", "lstm"]
    assert [family_of(name) for name in names] == families
