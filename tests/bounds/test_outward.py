"""Certificates include their rounding: weights, tokens and distances so small or so large that squares and products of
them underflow, overflow or cancel. Each of these was certified with too small a constant once, or crashed."""

import math
from fractions import Fraction

import numpy as np
import pytest
import torch

from lengthwise.bounds.lipschitz import (
    AttentionHead,
    Region,
    attention_bound,
    chained,
    gated_mlp_bound,
    l2_attention_bound,
    norm_bound,
    plain_mlp_bound,
    residual,
    spectral_norm,
)
from lengthwise.bounds.lipschitz.layers import normalised_reach
from lengthwise.bounds.lipschitz.mixing import mixing_constant
from lengthwise.errors import UsageError
from lengthwise.probes.lipschitz.parts import region_of

TINY = 5e-324


def test_a_gated_mlp_with_small_weights_is_not_constant():
    """1e-170 is no denormal, but its square is: rows of such weights had the norm 0."""
    small, out = np.full((1, 2), 1e-170), np.array([[1.0], [1e240]])
    bound = gated_mlp_bound(small, small, out, "relu", Region(1e200))
    x, y = np.full(2, 1e199), np.full(2, 5e199)
    seen = 1e240 * abs(float(small[0] @ x) ** 2 - float(small[0] @ y) ** 2) / (math.hypot(1, 1) * 4e199)
    assert 0 < seen <= bound.constant < 1e3 * seen
    assert 1e240 * float(small[0] @ y) ** 2 <= bound.reach


def test_attention_with_small_weights_still_attends():
    """QᵀK underflows to 0, while queries and keys of long tokens are of ordinary size."""
    query, key, value = np.array([[1e-170, 0.0]]), np.array([[0.0, 1e-170]]), np.array([[0.0, 1e-150]])
    head = AttentionHead(query, key, value, np.array([[1e120], [0.0]]))
    bound = attention_bound([head], Region(1e171))

    def out(first):
        x = np.array([[first, 0.0], [0.0, 5e170], [0.0, -5e170]])
        logits = (x @ query.T) @ (x @ key.T).T
        weights = np.exp(logits[0]) / np.exp(logits[0]).sum()
        return 1e120 * float(weights @ (x @ value.T)[:, 0])

    seen = abs(out(1e170) - out(2e170)) / 1e170
    assert 0 < seen <= bound.constant < math.inf
    assert abs(out(1e170)) <= bound.reach


@pytest.mark.parametrize("entries", [[TINY, TINY], [TINY, 3 * TINY, 1e-310], [1.5e308, 1.2e308]])
def test_norms_of_denormal_and_of_huge_matrices(entries):
    exact = sum(Fraction(entry) ** 2 for entry in entries)
    for shape in ((1, -1), (-1, 1)):
        found = spectral_norm(np.array(entries).reshape(shape))
        assert found == math.inf or Fraction(found) ** 2 >= exact


def test_products_of_denormal_weights_are_not_zero():
    small = np.array([[1e-200]])
    for bound in (
        plain_mlp_bound(small, small, "identity", Region(1.0)),
        attention_bound([AttentionHead(small, small, small, small)], Region(1.0)),
        l2_attention_bound(small, small, 4),
    ):
        assert bound.constant > 0
    part = norm_bound("rms", 4, 1.0, Region(1.0), weight=np.full(4, 1e-200))
    assert chained([part, part], "both").constant > 0


def test_a_residual_is_rounded_up():
    part = plain_mlp_bound([[1e-20]], [[1.0]], "identity", Region(1.0))
    assert residual(part, Region(1.0), "sum").constant > 1


def test_norms_of_long_tokens():
    """The square of 1e200 is no float: the reach behind a norm is still √width, and the constant is not 0."""
    assert 2 <= normalised_reach(4, 1e-5, Region(1e200)) < 2.0001
    bound = norm_bound("rms", 4, 1e-5, Region(1e201, size=1e200))
    assert Fraction(bound.constant) * Fraction(1e200) >= 1 and bound.constant < 1.1e-200


@pytest.mark.parametrize("least", [1e-162, 2e-162, 1e-170, 1e-300])
def test_norms_of_tokens_with_a_tiny_spread(least):
    bound = norm_bound("layer", 4, 0.0, Region(1.0, spread=least))
    assert Fraction(bound.constant) * Fraction(least) >= 1


def test_the_spread_of_equal_coordinates_is_zero():
    """0.1 three times has a computed mean that is not 0.1, and a computed spread above 0."""
    for value in (0.1, 0.3, 1e8 + 0.1, 1 / 3):
        for width in (3, 7, 10, 100):
            assert region_of(torch.full((1, 2, width), value, dtype=torch.float64), 0.0).spread == 0


def test_no_region_has_more_spread_than_its_tokens():
    rng = np.random.default_rng(0)
    for _ in range(200):
        width = int(rng.integers(2, 9))
        tokens = 10.0 ** rng.uniform(-6, 9) + 10.0 ** rng.uniform(-12, 2) * rng.normal(size=(1, 3, width))
        region = region_of(torch.from_numpy(tokens), 0.0)
        for token in tokens[0]:
            exact = [Fraction(float(entry)) for entry in token]
            mean = sum(exact) / width
            assert Fraction(region.spread) ** 2 <= sum((entry - mean) ** 2 for entry in exact) / width
            assert Fraction(region.size) ** 2 <= sum(entry**2 for entry in exact) / width
            assert Fraction(region.radius) ** 2 >= sum(entry**2 for entry in exact)


def test_weights_that_cancel_behind_a_norm():
    """Two products that are equal as floats and not as numbers: centred, their difference is below one rounding."""
    rng = np.random.default_rng(1)
    met = 0
    for _ in range(400):
        weight = rng.uniform(1, 2, size=2)
        row = np.array([1.0, weight[0] / weight[1]])
        first, second = (Fraction(float(r)) * Fraction(float(w)) for r, w in zip(row, weight, strict=True))
        head = AttentionHead(*(row[None] for _ in range(3)), np.ones((1, 1))).behind_norm(weight, centred=True)
        assert 2 * Fraction(head.norms.mix) ** 2 >= (first - second) ** 2
        met += float(row[0] * weight[0]) == float(row[1] * weight[1]) and first != second
    assert met > 50, "no products cancelled, so nothing was tested"


def test_tokens_that_hardly_differ_are_not_one():
    """Distances of 1e-200 are distances."""
    values, distances = np.array([[0.0], [1e-100]]), np.array([[0.0, 1e-200], [1e-200, 0.0]])
    assert mixing_constant(np.zeros(2), values, np.eye(2), distances) >= 1e100


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_numbers_that_are_none_are_refused(bad):
    one = np.ones((1, 1))
    for make in (
        lambda: plain_mlp_bound(one, one, "relu", Region(1.0), np.array([bad])),
        lambda: gated_mlp_bound(one, one, one, "relu", Region(1.0), (None, np.array([bad]), None)),
        lambda: norm_bound("layer", 1, 1e-5, Region(1.0), weight=np.array([bad])),
        lambda: norm_bound("layer", 1, 1e-5, Region(1.0), bias=np.array([bad])),
        lambda: attention_bound([AttentionHead(one, one, one, one, np.array([bad]))], Region(1.0)),
        lambda: attention_bound([AttentionHead(one, one, one, one)], Region(1.0), out_bias=np.array([bad])),
    ):
        with pytest.raises(UsageError, match="NaN or infinity"):
            make()
