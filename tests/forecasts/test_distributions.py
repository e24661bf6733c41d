"""Distributions on a grid and their scores, compared with direct computations."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad

from lengthwise.forecasts.distributions import GRID, auroc, brier, crps, log_score, mean, middle, quantile, steps

VALUES = np.array([0.0, 0.0, 0.3, 1.0])
F = steps(VALUES).mean(axis=0)


def test_a_certain_forecast_has_the_absolute_error_as_its_crps():
    outcomes = np.array([0.0, 0.25, 0.95, 1.0])
    assert crps(steps(np.full(4, 0.4)), outcomes) == pytest.approx(np.abs(outcomes - 0.4))


@pytest.mark.parametrize("outcome", [0.0, 0.17, 0.3, 1.0])
def test_crps_is_the_area_of_the_squared_difference(outcome):
    def squared(x: float) -> float:
        return (np.mean(x >= VALUES) - (x >= outcome)) ** 2

    area = quad(squared, 0, 1, points=[0.3, outcome], limit=200)[0]
    assert float(crps(F[None], np.array([outcome]))[0]) == pytest.approx(area, abs=1e-6)


def test_mean_quantile_and_middle_of_a_two_peaked_distribution():
    assert float(mean(F)) == pytest.approx(VALUES.mean())
    assert [float(quantile(F, level)) for level in (0.1, 0.5, 0.6, 0.9)] == [0.0, 0.0, 0.3, 1.0]
    assert middle(F)[[0, 30, 100]] == pytest.approx([0.25, 0.625, 0.875])
    assert len(GRID) == F.shape[-1]


def test_a_missing_value_has_no_distribution():
    assert np.isnan(steps(np.array([np.nan, 0.5]))).all(axis=1).tolist() == [True, False]


def test_scores_of_probabilities():
    held = np.array([1.0, 0.0])
    assert brier(np.array([0.8, 0.3]), held) == pytest.approx([0.04, 0.09])
    assert log_score(np.array([0.8, 0.3]), held) == pytest.approx(-np.log([0.8, 0.7]))
    assert np.isfinite(log_score(np.array([0.0, 1.0]), held)).all()


def test_auroc_counts_pairs():
    chances, held = np.array([0.9, 0.5, 0.5, 0.1, 0.7]), np.array([1.0, 1.0, 0.0, 0.0, 0.0])
    pairs = [(a > b) + (a == b) / 2 for a in chances[held > 0] for b in chances[held == 0]]
    assert auroc(chances, held) == pytest.approx(np.mean(pairs))
    assert auroc(chances, np.ones(5)) is None
