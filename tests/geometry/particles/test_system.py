"""Velocities agree with their definition, lie in the tangent space, and survive large beta."""

from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
import pytest
import torch
from scipy.special import softmax

from lengthwise.errors import UsageError
from lengthwise.geometry.particles import system as module
from lengthwise.geometry.particles.starts import uniform
from lengthwise.geometry.particles.system import System, kuramoto


def matrices(d: int, seed: int = 0) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(d, d, generator=generator, dtype=torch.float64) for _ in range(3)]


def defined(kind: str, beta: float, x: np.ndarray, query: np.ndarray, key: np.ndarray, value: np.ndarray) -> np.ndarray:
    """The definition, token by token."""
    velocity = np.zeros_like(x)
    for i, token in enumerate(x):
        scores = np.array([beta * (query @ token) @ (key @ other) for other in x])
        weights = softmax(scores) if kind == "SA" else np.exp(scores) / len(x)
        pull = sum(weight * (value @ other) for weight, other in zip(weights, x, strict=True))
        velocity[i] = pull - (token @ pull) * token
    return velocity


@pytest.mark.parametrize("kind", ["SA", "USA"])
@pytest.mark.parametrize("n,d,beta", [(1, 2, 1.0), (5, 3, 0.0), (7, 4, 2.5)])
def test_the_velocity_is_the_definition(kind, n, d, beta) -> None:
    x, (query, key, value) = uniform(n, d, seed=3), matrices(d)
    found = System(kind, beta, query, key, value).velocity(x).numpy()
    expected = defined(kind, beta, x.numpy(), query.numpy(), key.numpy(), value.numpy())
    np.testing.assert_allclose(found, expected, atol=1e-12 * max(1, np.abs(expected).max()))
    plain = System(kind, beta).velocity(x).numpy()
    np.testing.assert_allclose(plain, defined(kind, beta, x.numpy(), *[np.eye(d)] * 3), atol=1e-13)
    assert np.abs((plain * x.numpy()).sum(-1)).max() < 1e-14


@pytest.mark.parametrize("kind", ["SA", "USA"])
def test_a_batch_with_a_beta_each_is_its_systems_one_by_one(kind) -> None:
    x, betas = uniform(6, 3, seed=1, batch=(2, 4)), torch.arange(8, dtype=torch.float64).reshape(2, 4)
    together = System(kind, betas).velocity(x)
    for i in range(2):
        for j in range(4):
            alone = System(kind, float(betas[i, j])).velocity(x[i, j])
            torch.testing.assert_close(together[i, j], alone, rtol=1e-13, atol=1e-13)
    shared = System(kind, 2.0).velocity(x)
    torch.testing.assert_close(shared[1, 2], System(kind, 2.0).velocity(x[1, 2]), rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("kind", ["SA", "USA"])
def test_a_turn_of_the_sphere_turns_the_velocities(kind) -> None:
    x, turn = uniform(9, 4, seed=2), torch.linalg.qr(matrices(4)[0])[0]
    system = System(kind, 3.0)
    torch.testing.assert_close(system.velocity(x @ turn), system.velocity(x) @ turn, rtol=1e-12, atol=1e-12)


def test_blocks_of_scores_do_not_change_usa(monkeypatch) -> None:
    x, system = uniform(50, 3, seed=0, batch=(2,)), System("USA", 2.0)
    whole = system.velocity(x)
    monkeypatch.setattr(module, "_BLOCK", 700)  # seven rows at a time, the last block of one
    torch.testing.assert_close(system.velocity(x), whole, rtol=1e-14, atol=1e-14)


@pytest.mark.parametrize("dtype,tolerance", [(torch.float64, 1e-11), (torch.float32, 2e-3)])
def test_sa_holds_for_beta_up_to_ten_thousand(dtype, tolerance) -> None:
    """Also where every score is far below 0, so that nothing but the greatest score saves the exponentials."""
    x = uniform(40, 3, seed=0)
    for query in (torch.eye(3, dtype=torch.float64), -torch.eye(3, dtype=torch.float64)):
        found = System("SA", 1e4, query=query).velocity(x.to(dtype)).double().numpy()
        points = x.to(dtype).double().numpy()
        expected = defined("SA", 1e4, points, query.numpy(), np.eye(3), np.eye(3))
        assert np.isfinite(found).all()
        np.testing.assert_allclose(found, expected, atol=tolerance)


def test_usa_is_refused_where_it_overflows_and_only_there() -> None:
    x = uniform(4, 3, seed=0)
    assert bool(torch.isfinite(System("USA", 700.0).velocity(x)).all())
    with pytest.raises(UsageError, match=r"must stay below 710 in float64.*SA"):
        System("USA", 720.0).velocity(x)
    with pytest.raises(UsageError, match="must stay below 89 in float32"):
        System("USA", 100.0).velocity(x.float())


@pytest.mark.parametrize(
    "make,sentence",
    [
        (lambda x: System("XA", 1.0), "SA or USA"),  # pyright: ignore[reportArgumentType]
        (lambda x: System("SA", -1.0), "not negative"),
        (lambda x: System("SA", torch.tensor([1.0, math.nan])), "not negative"),
        (lambda x: System("SA", np.ones(2)), "beta must be a torch tensor, not of type ndarray"),  # pyright: ignore
        (lambda x: System("SA", 1.0, key=np.eye(3)), "key must be a torch tensor, not of type ndarray"),  # pyright: ignore
        (
            lambda x: System("SA", 1.0, query=torch.ones(2, 3)),
            r"query must be a square matrix \[d, d\], not .*\[2, 3\]",
        ),
        (
            lambda x: System("SA", 1.0, value=torch.eye(2)).velocity(x),
            "value is for 2 dimensions, and the points have 3",
        ),
        (
            lambda x: System("SA", torch.ones(3)).velocity(x),
            r"one number for each system of the batch, \[2\], not \[3\]",
        ),
        (lambda x: System("SA", 1.0).velocity(x[0, 0]), r"real vectors \[..., n, d\]"),
        (lambda x: System("SA", 1.0).velocity(x.long()), r"real vectors \[..., n, d\]"),
    ],
)
def test_wrong_input_is_one_sentence(make, sentence) -> None:
    with pytest.raises(UsageError, match=sentence):
        make(uniform(4, 3, seed=0, batch=(2,)))


def test_usa_on_the_circle_tends_to_kuramoto_as_beta_falls() -> None:
    """Linearly, and never beyond e^beta - 1; at a fixed beta it is another model."""
    angles = torch.rand(5, 30, generator=torch.Generator().manual_seed(0), dtype=torch.float64) * 2 * math.pi
    circle, across = torch.stack([angles.cos(), angles.sin()], -1), torch.stack([-angles.sin(), angles.cos()], -1)
    by_definition = (angles[:, None, :] - angles[:, :, None]).sin().mean(-1)
    torch.testing.assert_close(kuramoto(angles), by_definition, rtol=1e-12, atol=1e-12)
    apart = []
    for beta in (1e-1, 1e-3, 1e-5):
        turning = (System("USA", beta).velocity(circle) * across).sum(-1)
        apart.append(float((turning - kuramoto(angles)).abs().max()))
        assert apart[-1] <= math.expm1(beta)
    assert 50 < apart[0] / apart[1] < 200 and 50 < apart[1] / apart[2] < 200


def test_what_reports_use_is_imported_without_torch() -> None:
    names = ("particles.equal_angles", "particles.metastable", "mean_field", "clusters")
    imports = ", ".join(f"lengthwise.geometry.{name}" for name in names)
    done = subprocess.run(
        [sys.executable, "-c", f"import sys, {imports}; sys.exit('torch' in sys.modules)"], check=False
    )
    assert done.returncode == 0
