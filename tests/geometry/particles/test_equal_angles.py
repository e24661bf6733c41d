"""gamma(t): tabled values, closed forms, and the particles themselves."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from lengthwise.errors import UsageError
from lengthwise.geometry.particles.equal_angles import distance, gamma
from lengthwise.geometry.particles.integrate import simulate
from lengthwise.geometry.particles.starts import orthogonal
from lengthwise.geometry.particles.system import System


@pytest.mark.parametrize(
    "kind,beta,times,expected",
    [
        ("SA", 1.0, (0.5, 1, 2, 4), (0.140778, 0.362587, 0.816342, 0.995902)),
        ("SA", 4.0, (0.5, 1, 2, 4), (0.017593, 0.038379, 0.093652, 0.331684)),
        ("USA", 1.0, (0.5, 1, 2), (0.198110, 0.600585, 0.995409)),
    ],
)
def test_eight_orthogonal_tokens_to_six_digits(kind, beta, times, expected) -> None:
    """The figures come from fourth-order integration of the particles with steps of 0.002."""
    found = gamma(kind, 8, beta, times)
    np.testing.assert_allclose(found, expected, atol=5.1e-7)
    path = simulate(System(kind, beta), orthogonal(8, 8), (0.0, *times), tolerance=1e-11)
    products = path.points[1:] @ path.points[1:].swapaxes(-1, -2)
    apart = ~np.eye(8, dtype=bool)
    np.testing.assert_allclose(products[:, apart], np.repeat(found[:, None], 56, axis=1), atol=1e-10)


def test_two_tokens_without_temperature_are_tanh() -> None:
    times = np.linspace(0, 15, 40)
    for kind in ("SA", "USA"):
        np.testing.assert_allclose(gamma(kind, 2, 0.0, times), np.tanh(times), atol=1e-12)
    late = [20.0, 40.0]
    np.testing.assert_allclose(distance("SA", 2, 0.0, late), 2 / (np.exp(2 * np.array(late)) + 1), rtol=1e-9)


@pytest.mark.parametrize("n,start", [(3, -0.4), (6, 0.3)])
@pytest.mark.parametrize("kind,beta", [("SA", 3.0), ("USA", 1.5)])
def test_any_equal_angles_stay_equal(kind, beta, n, start) -> None:
    products = torch.full((n, n), start, dtype=torch.float64).fill_diagonal_(1.0)
    points = torch.linalg.cholesky(products)
    path = simulate(System(kind, beta), points, (0.0, 0.7, 1.5), tolerance=1e-10)
    found = (path.points[1:] @ path.points[1:].swapaxes(-1, -2))[:, ~np.eye(n, dtype=bool)]
    np.testing.assert_allclose(found, gamma(kind, n, beta, (0.7, 1.5), start)[:, None] + 0 * found, atol=1e-9)


def test_the_ends_are_at_rest_and_a_great_beta_is_no_trouble() -> None:
    np.testing.assert_allclose(gamma("SA", 4, 2.0, [0.0, 5.0], start=-1 / 3), -1 / 3, atol=1e-12)
    frozen = gamma("SA", 4, 1e4, [0.0, 1.0, 100.0])
    np.testing.assert_allclose(frozen, 0, atol=1e-12)
    assert gamma("SA", 4, 1.0, []).shape == (0,)


@pytest.mark.parametrize(
    "settings,sentence",
    [
        (("XA", 4, 1.0, [1.0]), "SA or USA"),
        (("SA", 1, 1.0, [1.0]), "at least two tokens"),
        (("SA", 4, -1.0, [1.0]), "beta >= 0"),
        (("USA", 4, 800.0, [1.0]), "at most 700"),
        (("SA", 4, 1.0, [1.0, 0.5]), "ascending"),
        (("SA", 4, 1.0, [-1.0]), "not negative"),
        (("SA", 4, 1.0, [1.0], -0.5), "from -0.3333 to below 1"),
        (("SA", 4, 1.0, [1.0], 1.0), "to below 1"),
    ],
)
def test_wrong_input_is_one_sentence(settings, sentence) -> None:
    with pytest.raises(UsageError, match=sentence):
        gamma(*settings)
