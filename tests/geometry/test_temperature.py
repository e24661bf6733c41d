"""The fit of an inverse temperature: exact where attention is of the model, the least of all, and honest elsewhere."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import softmax

from lengthwise.errors import UsageError
from lengthwise.geometry.temperature import STEEPEST, fit_beta


def points(n: int = 20, d: int = 5, seed: int = 0, batch: int = 3) -> np.ndarray:
    drawn = np.random.default_rng(seed).normal(size=(batch, n, d))
    return drawn / np.linalg.norm(drawn, axis=-1, keepdims=True)


def spread(products: np.ndarray, visible: np.ndarray, beta: float) -> np.ndarray:
    return softmax(np.where(visible, beta * products, -np.inf), axis=-1)


CAUSAL, ALL = np.tri(20, dtype=bool), np.ones((20, 20), dtype=bool)


@pytest.mark.parametrize("visible", [CAUSAL, ALL])
@pytest.mark.parametrize("beta", [-3.0, 0.2, 1.0, 9.0, 80.0])
def test_a_known_beta_is_found(beta: float, visible: np.ndarray) -> None:
    x = points()
    products = x @ x.transpose(0, 2, 1)
    found = fit_beta(products, spread(products, visible, beta), visible)
    assert found.beta == pytest.approx(beta, rel=1e-5) and found.bounded
    assert found.explained == pytest.approx(1, abs=1e-6)


def test_no_other_beta_has_less_deviance() -> None:
    draw = np.random.default_rng(1)
    for seed in range(5):
        x = points(seed=seed, batch=1)
        products = x @ x.transpose(0, 2, 1)
        weights = spread(draw.normal(size=products.shape) * 2 + products, CAUSAL, 1.0)
        found = fit_beta(products, weights, CAUSAL)
        rows = slice(1, None)  # the first query sees one key

        def deviance(beta: float, products=products, weights=weights, rows=rows) -> float:
            model = spread(products, CAUSAL, beta)[:, rows]
            held, spent = (np.where(CAUSAL[rows], one, 1.0) for one in (model, weights[:, rows]))
            return float((spent * np.log(spent / held)).sum()) / model.shape[1]

        assert found.deviance == pytest.approx(deviance(found.beta)) and found.null == pytest.approx(deviance(0.0))
        for other in (*draw.uniform(-20, 20, 50), found.beta + 1e-3, found.beta - 1e-3):
            assert deviance(float(other)) >= found.deviance - 1e-12


def test_attention_that_is_not_of_the_model_is_not_explained() -> None:
    x, y = points(), points(seed=9)
    products = x @ x.transpose(0, 2, 1)
    found = fit_beta(products, spread(y @ y.transpose(0, 2, 1), ALL, 9.0), ALL)
    assert found.explained is not None and 0 <= found.explained < 0.6  # every token sees itself best in both


def test_even_attention_has_nothing_to_explain() -> None:
    x = points()
    products = x @ x.transpose(0, 2, 1)
    found = fit_beta(products, spread(products, CAUSAL, 0.0), CAUSAL)
    assert found.explained is None and found.beta == pytest.approx(0, abs=1e-6)


def test_hard_attention_has_no_finite_beta() -> None:
    x = points()
    products = x @ x.transpose(0, 2, 1)
    found = fit_beta(products, np.broadcast_to(np.eye(20), products.shape), ALL)
    assert found.beta == STEEPEST and not found.bounded and found.explained == pytest.approx(1, abs=1e-6)


def test_shapes_are_checked() -> None:
    with pytest.raises(UsageError):
        fit_beta(np.zeros((2, 3, 3)), np.zeros((2, 3, 4)), np.ones((3, 3), dtype=bool))
    one = fit_beta(np.zeros((1, 1)), np.ones((1, 1)), np.ones((1, 1), dtype=bool))
    assert one.beta == 0 and one.explained is None
