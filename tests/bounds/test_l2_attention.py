"""Attention by distance: its constant, and a counterexample to a form of it that is easily misremembered."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize

from lengthwise.bounds.lipschitz import gibbs_mean, l2_attention_bound
from lengthwise.errors import UsageError


def forward(y, scale, causal):
    """Σ_j P_ij y_j with P from distances."""
    logits = -scale * ((y[:, None] - y[None]) ** 2).sum(axis=2)
    if causal:
        logits = np.where(np.tri(len(y), dtype=bool), logits, -np.inf)
    weights = np.exp(logits)
    return (weights / weights.sum(axis=1, keepdims=True)) @ y


def jacobian(y, scale, causal):
    step, columns = 1e-5, []
    for place in np.ndindex(*y.shape):
        moved = np.zeros_like(y)
        moved[place] = step
        columns.append((forward(y + moved, scale, causal) - forward(y - moved, scale, causal)) / (2 * step))
    return np.stack([c.ravel() for c in columns], axis=1)


def test_no_derivative_exceeds_the_bounds():
    rng = np.random.default_rng(0)
    worst = 0.0
    for case in range(80):
        length, width = int(rng.integers(1, 7)), int(rng.integers(1, 4))
        scale, causal = 10 ** rng.uniform(-1, 1), bool(case % 2)
        y = rng.normal(size=(length, width)) * 10 ** rng.uniform(-1, 1)
        derivative = jacobian(y, scale, causal)
        token, frobenius = (
            l2_attention_bound(np.eye(width), np.eye(width), length, norm).constant for norm in ("token", "frobenius")
        )
        assert np.linalg.norm(derivative, 2) <= frobenius + 1e-6
        blocks = derivative.reshape(length, width, length, width)
        for direction in rng.normal(size=(10, width)):
            for rows in blocks:
                for _ in range(5):
                    moves = np.einsum("o,otw->tw", direction, rows)
                    moves /= np.maximum(np.linalg.norm(moves, axis=1, keepdims=True), 1e-300)
                    direction = np.einsum("otw,tw->o", rows, moves)
                worst = max(worst, np.linalg.norm(direction) / token)
        assert worst <= 1 + 1e-6
    assert worst > 0.3


def test_gibbs_mean_is_the_largest():
    """Against a numerical search over unequal energies."""
    for length in (2, 3, 8):
        rng = np.random.default_rng(length)

        def mean(energies):
            energies = np.concatenate([[0.0], np.abs(energies)])
            weights = np.exp(-energies)
            return -float(energies @ weights / weights.sum())

        starts = rng.uniform(0, 4, size=(8, length - 1))
        found = -min(minimize(mean, start, method="Nelder-Mead", options={"maxiter": 4000}).fun for start in starts)
        assert found == pytest.approx(gibbs_mean(length), rel=1e-3) and found <= gibbs_mean(length)
    assert gibbs_mean(1) == 0 and gibbs_mean(100) * math.exp(gibbs_mean(100) + 1) == pytest.approx(99, rel=1e-6)


def test_one_power_of_the_query_norm_is_not_enough():
    """With values scale Q Qᵀ x, as published, the constant grows with ‖Q‖²; a bound with one power of ‖Q‖ is false."""
    length, width = 4, 2
    scale, size = 1 / math.sqrt(width), 100.0
    query = size * np.eye(width)
    at_zero = scale * size**2  # equal weights there: the mean of the values, moved together
    one_power = math.sqrt(length) * scale * (4 * gibbs_mean(length) + 1) * size
    two_powers = l2_attention_bound(query, scale * query, length, "frobenius").constant
    assert one_power < at_zero < two_powers


def test_bad_length():
    with pytest.raises(UsageError, match="at least 1 token"):
        l2_attention_bound(np.eye(2), np.eye(2), 0)
