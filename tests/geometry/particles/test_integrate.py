"""Trajectories: closed forms, the honesty of the error, batches, times, interruption."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from scipy.integrate import solve_ivp

from lengthwise.errors import LengthwiseError, UsageError
from lengthwise.geometry.particles.integrate import ParticleTrajectory, simulate
from lengthwise.geometry.particles.starts import caps, orthogonal, uniform
from lengthwise.geometry.particles.system import System, kuramoto


def angle(one: np.ndarray, other: np.ndarray) -> float:
    """The greatest angle between points of two arrays, exact for small ones."""
    return float(2 * np.arcsin(np.minimum(1, np.linalg.norm(one - other, axis=-1) / 2)).max())


def test_two_tokens_are_tanh_and_the_error_covers_the_difference() -> None:
    times = np.linspace(0, 6, 13)
    for tolerance in (1e-5, 1e-8, 1e-11):
        path = simulate(System("SA", 0.0), orthogonal(2, 3), times, tolerance)
        inner = (path.points[:, 0] * path.points[:, 1]).sum(-1)
        # the angle between two tokens moves by at most twice the error of one
        wrong = np.abs(np.arccos(np.clip(inner, -1, 1)) - np.arccos(np.tanh(times)))[:-4].max()
        assert wrong <= 2 * path.error + 1e-12 and path.error < 1000 * tolerance


CASES = [
    ("SA", 9.0, uniform(16, 3, 0), 12.0),
    ("SA", 100.0, uniform(16, 3, 2), 5.0),
    ("USA", 2.0, uniform(8, 3, 4), 2.0),
    pytest.param("SA", 9.0, uniform(24, 3, 0), 20.0, marks=pytest.mark.slow),
    pytest.param("SA", 4.0, uniform(12, 2, 1), 30.0, marks=pytest.mark.slow),
    pytest.param("SA", 0.0, uniform(10, 3, 3), 20.0, marks=pytest.mark.slow),
    pytest.param("USA", 3.0, uniform(16, 3, 4), 2.0, marks=pytest.mark.slow),
    pytest.param("SA", 6.0, caps(16, 4, 4, 0.4, 5), 20.0, marks=pytest.mark.slow),
]


@pytest.mark.parametrize("kind,beta,start,end", CASES)
def test_the_error_is_what_a_much_finer_run_shows(kind, beta, start, end) -> None:
    """Never above the estimate, which in turn is no more than some hundreds of the tolerance."""
    times, system = [0.0, end / 4, end], System(kind, beta)
    exact = simulate(system, start, times, 1e-11)
    assert exact.error < 1e-9
    for tolerance in (1e-5, 1e-8):
        path = simulate(system, start, times, tolerance)
        assert angle(path.points, exact.points) <= path.error < 1000 * tolerance
        np.testing.assert_allclose(np.linalg.norm(path.points, axis=-1), 1, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["SA", "USA"])
def test_no_start_is_found_whose_error_exceeds_the_estimate(kind) -> None:
    """2 x 40 random systems: dimensions, numbers, betas and general matrices are drawn too.

    Scores of general matrices are kept below beta, as those of the identity are: tokens that USA turns for ever at a
    speed of e^15 are followed to time 3 in hours.
    """
    generator, worst = np.random.default_rng(0), 0.0
    for trial in range(40):
        n, d, beta = int(generator.integers(2, 20)), int(generator.integers(2, 6)), float(generator.uniform(0, 4))
        drawn = [torch.from_numpy(generator.normal(size=(d, d)) / math.sqrt(d)) for _ in range(3)]
        largest = float(torch.linalg.matrix_norm(drawn[0].mT @ drawn[1], 2))
        system = System(kind, beta / max(1.0, largest), *drawn) if trial % 2 else System(kind, beta)
        start, times = uniform(n, d, trial), [0.0, 1.0, 3.0]
        path = simulate(system, start, times, 1e-7)
        exact = simulate(system, start, times, 1e-12)
        worst = max(worst, angle(path.points, exact.points) / path.error)
    assert worst < 1


@pytest.mark.parametrize(
    "aside,tolerance,end",
    [(1e-3, 1e-2, 7.5), pytest.param(1e-3, 1e-2, 40.0, marks=pytest.mark.slow), (1e-9, 1e-8, 80.0)],
)
def test_the_error_holds_for_long_steps_near_an_unstable_balance(aside, tolerance, end) -> None:
    """Nearly antipodal tokens hardly move, so steps are long; what is wrong in them grows with the distance."""
    start = torch.tensor([[1.0, 0.0], [-math.cos(aside), math.sin(aside)]], dtype=torch.float64)
    path, exact = (simulate(System("SA", 1.0), start, [0.0, end], accuracy) for accuracy in (tolerance, 1e-12))
    assert angle(path.points, exact.points) <= path.error


def test_a_batch_gives_what_its_systems_give_alone() -> None:
    """Each has its own steps, so slow and fast ones do not disturb each other."""
    starts, betas = uniform(10, 3, 0, (2, 3)), torch.tensor([[0.0, 1.0, 9.0], [2.0, 5.0, 100.0]], dtype=torch.float64)
    times = [0.0, 1.0, 6.0]
    together = simulate(System("SA", betas), starts, times)
    assert together.points.shape == (3, 2, 3, 10, 3)
    steps = 0
    for i in range(2):
        for j in range(3):
            alone = simulate(System("SA", float(betas[i, j])), starts[i, j], times)
            assert angle(together.points[:, i, j], alone.points) < 1e-11
            steps += alone.steps
    assert together.steps == pytest.approx(steps, rel=0.05)


def test_chosen_times_do_not_change_the_solution() -> None:
    start, system = uniform(8, 3, 0), System("SA", 4.0)
    few, many = simulate(system, start, [0.0, 8.0]), simulate(system, start, np.linspace(0, 8, 81))
    assert angle(few.points[-1], many.points[-1]) <= few.error + many.error
    assert many.times[40] == 4.0 and many.points.shape == (81, 8, 3)
    shifted = simulate(system, start, [5.0, 13.0])  # the system does not know what time it is
    assert angle(few.final, shifted.final) < 1e-10
    np.testing.assert_allclose(simulate(system, start, [0.0]).points[0], start.numpy(), atol=1e-15)


def test_a_small_beta_on_the_circle_is_kuramoto() -> None:
    angles = np.random.default_rng(0).uniform(0, 2 * math.pi, 12)
    flow = solve_ivp(lambda _, a: kuramoto(torch.from_numpy(a)).numpy(), (0, 5), angles, rtol=1e-10, atol=1e-10)
    expected = np.stack([np.cos(flow.y[:, -1]), np.sin(flow.y[:, -1])], -1)
    start = np.stack([np.cos(angles), np.sin(angles)], -1)
    apart = [angle(simulate(System("USA", beta), start, [0.0, 5.0]).final, expected) for beta in (1e-2, 1e-4)]
    assert apart[1] < 1e-3 and 50 < apart[0] / apart[1] < 200


def test_tokens_at_rest_stay() -> None:
    start = torch.tensor([[1.0, 0.0], [-1.0, 0.0]], dtype=torch.float64)
    path = simulate(System("SA", 3.0), start, [0.0, 100.0])
    assert angle(path.final, start.numpy()) < 1e-12 and path.steps < 40
    assert isinstance(simulate(System("SA", 3.0), start[:1], [0.0, 5.0]), ParticleTrajectory)  # one token alone


def test_progress_rises_to_the_end_and_may_stop_the_work() -> None:
    heard: list[float] = []

    def hear(done: str, step: int, steps: int) -> None:
        assert 0 <= step < steps == 2
        heard.append(float(done.split()[2]))

    start = uniform(8, 3, 0, (2,))
    before = start.clone()
    simulate(System("SA", torch.tensor([1.0, 9.0])), start, [0.0, 2.0, 5.0], progress=hear)
    assert heard == sorted(heard) and heard[-1] == 5.0 and 2.0 in heard and len(heard) > 5

    def interrupt(done: str, _step: int, _steps: int) -> None:
        if float(done.split()[2]) > 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        simulate(System("SA", 1.0), start, [0.0, 5.0], progress=interrupt)
    assert torch.equal(start, before)


@pytest.mark.parametrize(
    "settings,sentence",
    [
        ({"times": []}, "times must be a list"),
        ({"times": [0.0, 0.0]}, "each greater than the one before"),
        ({"times": [0.0, math.inf]}, "finite"),
        ({"tolerance": 0.0}, "tolerance must lie between"),
        ({"tolerance": math.nan}, "tolerance must lie between"),
        ({"start": 2 * uniform(4, 3, 0)}, "divide each token by its length"),
        ({"start": uniform(4, 3, 0) * math.nan}, "divide each token by its length"),
        ({"start": torch.ones(3)}, "at least one token"),
        ({"start": uniform(4, 3, 0, (0,))}, "at least one token"),
        ({"system": System("SA", torch.ones(2))}, "one number for each system"),
        ({"system": System("USA", 800.0)}, "USA overflows"),
    ],
)
def test_wrong_input_is_one_sentence(settings, sentence) -> None:
    given = {"system": System("SA", 1.0), "start": uniform(4, 3, 0), "times": [0.0, 1.0], "tolerance": 1e-8, **settings}
    with pytest.raises(UsageError, match=sentence):
        simulate(given["system"], given["start"], given["times"], given["tolerance"])


def test_too_many_steps_are_refused_with_the_time_reached() -> None:
    with pytest.raises(LengthwiseError, match=r"200 steps reached only time .*e\^beta"):
        simulate(System("USA", 12.0), uniform(8, 3, 0), [0.0, 50.0], most_steps=200)
