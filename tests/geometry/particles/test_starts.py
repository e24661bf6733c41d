"""Starts: on the sphere, reproducible, and distributed as they say."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from lengthwise.errors import UsageError
from lengthwise.geometry.clusters import hemisphere_margin
from lengthwise.geometry.particles.starts import caps, hemisphere, orthogonal, uniform


def test_all_are_unit_vectors_in_float64() -> None:
    for points in (uniform(9, 4, 1, (2, 3)), orthogonal(3, 5), caps(9, 4, 3, 0.2, 1), hemisphere(9, 4, 1)):
        assert points.dtype == torch.float64
        np.testing.assert_allclose(points.norm(dim=-1).numpy(), 1, atol=1e-15)
    assert uniform(9, 4, 1, (2, 3)).shape == (2, 3, 9, 4) and uniform(9, 4, 1, (0,)).shape == (0, 9, 4)


def test_a_seed_and_a_place_in_the_batch_decide() -> None:
    many = uniform(5, 3, 7, (4,))
    assert torch.equal(many[:2], uniform(5, 3, 7, (2,))) and torch.equal(many[0], uniform(5, 3, 7))
    assert not torch.equal(many[0], many[1]) and not torch.equal(many[0], uniform(5, 3, 8))


def test_uniform_has_the_moments_of_the_sphere() -> None:
    points = uniform(20_000, 3, 0).numpy()
    np.testing.assert_allclose(points.mean(0), 0, atol=0.02)
    np.testing.assert_allclose(points.T @ points / len(points), np.eye(3) / 3, atol=0.02)


def test_a_hemisphere_is_open_and_uniform() -> None:
    assert all(hemisphere_margin(hemisphere(20, 4, seed).numpy()) > 0 for seed in range(5))
    assert hemisphere_margin(uniform(200, 4, 0).numpy()) <= 0  # the chance of the contrary is below 1e-50
    points = hemisphere(20_000, 4, 0).numpy()
    np.testing.assert_allclose(points.T @ points / 20_000, np.eye(4) / 4, atol=0.02)
    assert np.linalg.norm(points.mean(0)) == pytest.approx(4 / (3 * np.pi), abs=0.02)  # the mean of |x_1| on S^3


@pytest.mark.parametrize(
    "n,d,k,greatest", [(7, 3, 1, 1), (9, 3, 2, -1), (12, 5, 6, -0.2), (13, 3, 5, 0), (14, 2, 7, None)]
)
def test_caps_are_separated_as_far_as_can_be(n, d, k, greatest) -> None:
    centres = caps(n, d, k, 0.0, 3).numpy()
    distinct, sizes = np.unique(centres.round(9), axis=0, return_counts=True)
    assert len(distinct) == k and sizes.max() - sizes.min() <= 1
    products = distinct @ distinct.T
    expected = np.cos(2 * np.pi / k) if greatest is None else greatest
    most = products[~np.eye(k, dtype=bool)].max() if k > 1 else 1
    assert most == pytest.approx(expected, abs=1e-8)
    spread = caps(n, d, k, 0.3, 3).numpy()
    angles = np.arccos(np.clip((centres * spread).sum(1), -1, 1))
    assert angles.max() <= 0.3 + 1e-7 and angles.max() > 0.1


def test_caps_are_the_same_whatever_basis_lapack_returns(monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel may flip the columns of Q and turn singular vectors of equal values: neither may move a start."""
    settings = [(9, 3, 3, 0.4, 1), (12, 5, 6, 0.1, 2), (13, 3, 5, 0.1, 3), (14, 2, 7, 0.1, 4)]
    before = [caps(*chosen).numpy() for chosen in settings]
    qr, svd, flips = np.linalg.qr, np.linalg.svd, np.random.default_rng(0)

    def flipped(matrix):
        q, r = qr(matrix)
        signs = np.sign(flips.standard_normal(q.shape[1]))
        return q * signs, signs[:, None] * r

    def turned(matrix):
        """The factors that the matrix has in a turned basis: equal values come with other vectors."""
        turn = flipped(flips.standard_normal((len(matrix), len(matrix))))[0]
        u, values, v = svd(turn.T @ matrix @ turn)
        return turn @ u, values, v @ turn.T

    monkeypatch.setattr(np.linalg, "qr", flipped)
    monkeypatch.setattr(np.linalg, "svd", turned)
    for chosen, expected in zip(settings, before, strict=True):
        np.testing.assert_allclose(caps(*chosen).numpy(), expected, atol=1e-12)


def test_caps_of_a_seed_to_nine_digits() -> None:
    """The same on every machine: from numpy's generator, Helmert's simplex and a QR with a positive diagonal."""
    expected = [
        [0.062491549176, -0.992075171379, 0.109003030304],
        [0.398913317883, 0.6048492155, 0.689221003253],
        [-0.461404867059, 0.387225955879, -0.798224033557],
    ]
    np.testing.assert_allclose(caps(3, 3, 3, 0.0, 1).numpy(), expected, atol=1e-9)


def test_the_turn_of_caps_is_uniform() -> None:
    """The centre of a single cap is as often in one orthant as in another. Without a rule for the signs of Q, LAPACK
    reaches half of the orthants only."""
    poles = np.array([caps(1, 3, 1, 0.0, seed).numpy()[0] for seed in range(400)])
    counts = np.unique(poles > 0, axis=0, return_counts=True)[1]
    assert len(counts) == 8 and counts.min() >= 25, "50 of each are expected, 25 are 3.7 deviations away"


@pytest.mark.parametrize(
    "make,sentence",
    [
        (lambda: uniform(0, 3, 0), "n >= 1 tokens in d >= 2"),
        (lambda: uniform(3, 1, 0), "n >= 1 tokens in d >= 2"),
        (lambda: orthogonal(4, 3), "take d >= n"),
        (lambda: caps(4, 3, 5, 0.1, 0), "from 1 to 4 caps"),
        (lambda: caps(4, 3, 2, 4.0, 0), "from 0 to pi"),
        (lambda: caps(9, 3, 7, 0.1, 0), "at most 2d = 6 caps"),
    ],
)
def test_wrong_input_is_one_sentence(make, sentence) -> None:
    with pytest.raises(UsageError, match=sentence):
        make()
