"""MLPs: the slopes of activations are proved, and no derivative exceeds a bound."""

import math

import numpy as np
import pytest
from scipy.special import expit, ndtr

from lengthwise.bounds.lipschitz import SLOPES, Region, gated_mlp_bound, plain_mlp_bound
from lengthwise.errors import UsageError

ROOT = math.sqrt(2 / math.pi)


def gelu_tanh_slope(x):
    bent = np.tanh(ROOT * (x + 0.044715 * x**3))
    return 0.5 * (1 + bent) + 0.5 * x * (1 - bent**2) * ROOT * (1 + 3 * 0.044715 * x**2)


ACTIVATIONS = {
    "identity": (lambda x: x, np.ones_like),
    "relu": (lambda x: np.maximum(x, 0), lambda x: (x > 0).astype(float)),
    "tanh": (np.tanh, lambda x: 1 - np.tanh(x) ** 2),
    "gelu": (lambda x: x * ndtr(x), lambda x: ndtr(x) + x * np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi)),
    "gelu_tanh": (lambda x: 0.5 * x * (1 + np.tanh(ROOT * (x + 0.044715 * x**3))), gelu_tanh_slope),
    "silu": (lambda x: x * expit(x), lambda x: expit(x) * (1 + x * (1 - expit(x)))),
}


@pytest.mark.parametrize("name", SLOPES)
def test_slopes(name):
    """On a grid of width h the slope can exceed what is seen by at most h²/8 times the largest third derivative, which
    is below 10 for all of these; beyond |x| = 12 they are within 1e-4 of 0 and 1 (silu; the others sooner)."""
    function, slope = ACTIVATIONS[name]
    grid = np.linspace(-12, 12, 960_001)
    seen = slope(grid)
    low, high = SLOPES[name]
    missed = (grid[1] - grid[0]) ** 2 / 8 * 10
    assert missed < 1e-9
    if name == "relu":
        missed = 0.0
    assert seen.max() + missed <= high + 1e-9 and seen.min() - missed >= low - 1e-9
    assert seen.max() >= high - 1e-7 and seen.min() <= low + 1e-7, "the table is no larger than it need be"
    assert np.all(np.abs(function(grid)) <= np.abs(grid)) and function(np.zeros(1))[0] == 0
    numeric = (function(grid + 1e-5) - function(grid - 1e-5)) / 2e-5
    assert np.abs(numeric - seen)[np.abs(grid) > 2e-5].max() < 1e-5


@pytest.mark.parametrize("name", SLOPES)
def test_no_derivative_exceeds_the_bounds(name):
    function, slope = ACTIVATIONS[name]
    rng = np.random.default_rng(0)
    worst = {"plain": 0.0, "gated": 0.0}
    for _ in range(60):
        width, inner = int(rng.integers(1, 5)), int(rng.integers(1, 7))
        w_in, w_gate, w_out = (
            rng.normal(size=(inner, width)),
            rng.normal(size=(inner, width)),
            rng.normal(size=(width, inner)),
        )
        b_in, b_gate, b_out = rng.normal(size=inner), rng.normal(size=inner), rng.normal(size=width)
        center, radius = rng.normal(size=width), float(rng.uniform(0.1, 3))
        region = Region(radius, center=center)
        plain = plain_mlp_bound(w_in, w_out, name, region, b_in, b_out)
        gated = gated_mlp_bound(w_in, w_gate, w_out, name, region, (b_in, b_gate, b_out))
        for _ in range(10):
            step = rng.normal(size=width)
            x = center + radius * step / np.linalg.norm(step) * rng.choice([1.0, rng.random()])
            u, g = w_in @ x + b_in, w_gate @ x + b_gate
            of_plain = w_out @ (slope(u)[:, None] * w_in)
            of_gated = w_out @ ((u * slope(g))[:, None] * w_gate + function(g)[:, None] * w_in)
            for kind, bound, derivative, value in (
                ("plain", plain, of_plain, w_out @ function(u) + b_out),
                ("gated", gated, of_gated, w_out @ (function(g) * u) + b_out),
            ):
                share = np.linalg.norm(derivative, 2) / bound.constant
                assert share <= 1 and np.linalg.norm(value) <= bound.reach
                worst[kind] = max(worst[kind], share)
    assert worst["plain"] > 0.7 and worst["gated"] > 0.3


def test_product_of_matrices_that_cancel_is_seen():
    w_in, w_out = np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([[1.0, 1.0], [-1.0, -1.0]]) @ np.diag([1.0, -1.0])
    relu, identity = (plain_mlp_bound(w_in, w_out, name, Region(1.0)).constant for name in ("relu", "identity"))
    assert relu == pytest.approx(2.0) and identity == pytest.approx(2.0)
    assert plain_mlp_bound(np.array([[1.0], [1.0]]), np.array([[1.0, -1.0]]), "relu", Region(1.0)).constant == (
        pytest.approx(1.0)
    ), "half of ‖w_out‖ ‖w_in‖ = 2, as the product is 0"


def test_known_largest_coordinates_sharpen_the_gated_bound():
    rng = np.random.default_rng(1)
    w_in, w_gate, w_out = rng.normal(size=(4, 3)), rng.normal(size=(4, 3)), rng.normal(size=(3, 4))
    wide = gated_mlp_bound(w_in, w_gate, w_out, "silu", Region(5.0)).constant
    near = gated_mlp_bound(w_in, w_gate, w_out, "silu", Region(5.0), largest=(0.5, 0.5)).constant
    assert near < wide / 3


def test_unknown_activation():
    with pytest.raises(UsageError, match=r"slopes of the activation .* are not known"):
        plain_mlp_bound(np.eye(2), np.eye(2), "swish9", Region(1.0))
