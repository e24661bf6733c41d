"""Attention as a function of token frequencies: no pair of mixtures exceeds the constant, and some come near it."""

import numpy as np
import pytest
from scipy.optimize import linprog

from lengthwise.bounds.lipschitz.mixing import mixed, mixing_constant
from lengthwise.errors import UsageError


def exact_w1(distances, p, q):
    """By linear programming, which the package does not use."""
    size = len(p)
    sums = np.zeros((2 * size, size * size))
    for k in range(size):
        sums[k, k * size : (k + 1) * size] = 1
        sums[size + k, k::size] = 1
    return float(linprog(distances.ravel(), A_eq=sums, b_eq=np.concatenate([p, q])).fun)


def test_no_two_mixtures_exceed_the_constant():
    rng, closest = np.random.default_rng(0), 0.0
    for case in range(40):
        tokens, width = int(rng.integers(2, 5)), 3
        points, logits = rng.normal(size=(tokens, width)), rng.normal(size=tokens) * rng.choice([0.0, 0.5, 3.0])
        values = points @ rng.normal(size=(width, width)) if case % 2 else rng.normal(size=(tokens, width))
        distances = np.linalg.norm(points[:, None] - points[None], axis=2)
        shares = rng.dirichlet(np.full(tokens, 0.4), size=5)
        if case % 4 == 0:
            shares = np.eye(tokens)  # all measures
        constant = mixing_constant(logits, values, shares, distances)
        for _ in range(15):
            corners = rng.dirichlet(np.full(len(shares), 0.3), size=2)
            p = corners[0] @ shares
            q = p + rng.choice([1.0, 0.01]) * (corners[1] @ shares - p)
            moved = exact_w1(distances, p, q)
            if moved > 1e-7:
                ratio = np.linalg.norm(np.diff(mixed(logits, values, np.stack([p, q]))[0], axis=0)) / moved
                assert ratio <= constant * (1 + 1e-6)
                closest = max(closest, ratio / constant)
    assert closest > 0.9


def test_even_attention_over_two_tokens_attains_it():
    values, distances = np.array([[0.0, 0.0], [3.0, 4.0]]), np.array([[0.0, 2.0], [2.0, 0.0]])
    assert mixing_constant(np.zeros(2), values, np.eye(2), distances) == pytest.approx(2.5)


def test_shares_are_shares():
    with pytest.raises(UsageError):
        mixing_constant(np.zeros(2), np.eye(2), np.ones((1, 2)), 1 - np.eye(2))
