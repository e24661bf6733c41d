"""Noise on the sphere: laws that are known, the order of the method, the check of the step, and when order sets in."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import torch

from lengthwise.errors import LengthwiseError, UsageError
from lengthwise.geometry.particles.dynamics import ManyHeads
from lengthwise.geometry.particles.integrate import simulate
from lengthwise.geometry.particles.kuramoto import Kuramoto
from lengthwise.geometry.particles.noise import STEP_CHECK, simulate_noisy, step_claim
from lengthwise.geometry.particles.shaken import NOISE_ONSET, check_heads, noise_onset, with_noise
from lengthwise.geometry.particles.starts import caps, hemisphere, uniform
from lengthwise.geometry.particles.synchrony import order_parameter
from lengthwise.geometry.particles.system import System
from lengthwise.geometry.particles.theorems import check


class Free:
    """Tokens that feel nothing."""

    def check(self, x: torch.Tensor) -> None: ...

    def velocity(self, x: torch.Tensor) -> torch.Tensor:
        return torch.zeros_like(x)

    def only(self, rows: object) -> Free:
        return self

    def flat(self) -> Free:
        return self


@pytest.mark.parametrize("d", [2, 3, 6])
def test_free_tokens_forget_their_start_as_brownian_motion_does(d: int) -> None:
    """The mean of <x_t, x_0> is e^(-(d - 1) D t), and that of the square of a coordinate tends to 1 / d."""
    n, noise, times = 3000, 0.2, [0.0, 0.5, 2.0]
    start = torch.eye(1, d, dtype=torch.float64).expand(n, d).clone()
    path = simulate_noisy(Free(), start, times, noise, 0, 0.02)
    for time, points in zip(times, path.points, strict=True):
        kept = math.exp(-(d - 1) * noise * time)
        assert points[:, 0].mean() == pytest.approx(kept, abs=4 / math.sqrt(n))
        second = 1 / d + (1 - 1 / d) * math.exp(-2 * d * noise * time)  # a harmonic of degree 2
        assert np.square(points[:, 0]).mean() == pytest.approx(second, abs=4 / math.sqrt(n))
    np.testing.assert_allclose(np.linalg.norm(path.points, axis=-1), 1, atol=1e-12)


def test_without_noise_it_is_the_method_of_euler() -> None:
    system, start, times = System("SA", 2.0), uniform(8, 3, 0), [0.0, 1.0, 2.0]
    exact = simulate(system, start, times, 1e-11).points
    wrong = []
    for step in (0.02, 0.01, 0.005):
        path = simulate_noisy(system, start, times, 0.0, 0, step)
        wrong.append(np.linalg.norm(path.points - exact, axis=-1).max())
        assert wrong[-1] <= 1.5 * path.error
    assert wrong[0] / wrong[1] == pytest.approx(2, abs=0.3) and wrong[1] / wrong[2] == pytest.approx(2, abs=0.3)


@pytest.mark.system
@pytest.mark.parametrize(("d", "ratio"), [(2, 2.0), (3, math.sqrt(2))])
def test_paths_converge_at_the_order_that_is_said(d: int, ratio: float) -> None:
    """Where steps are halved the distance to the companion falls by 2 on the circle, by about sqrt(2) on the sphere."""
    system, start = System("SA", 1.0), caps(400, d, 1, 0.5, 0)
    apart = []
    for step in (0.08, 0.02, 0.005):
        path = simulate_noisy(system, start, [0.0, 1.6], 0.1, 0, step)
        scale = 1.0 if d == 2 else math.sqrt(2) - 1
        apart.append(path.error * scale)
    for first, second in itertools.pairwise(apart):
        assert 0.6 * ratio**2 < first / second < 1.7 * ratio**2


def test_the_same_seed_gives_the_same_path() -> None:
    system, start = System("USA", 1.0), uniform(5, 3, 0)
    one, same, other = (simulate_noisy(system, start, [0.0, 1.0], 0.3, seed, 0.05).final for seed in (1, 1, 2))
    assert np.array_equal(one, same) and not np.allclose(one, other, atol=1e-2)


def test_the_step_is_halved_until_it_passes_and_a_given_one_is_judged() -> None:
    system, start = Kuramoto(4.0, torch.zeros(200, dtype=torch.float64)), uniform(200, 2, 0)
    found = simulate_noisy(system, start, np.linspace(0, 4, 9), 0.2, 0)
    assert found.checked and found.order_gap <= STEP_CHECK and step_claim(found).status == "holds"
    coarse = simulate_noisy(system, start, np.linspace(0, 4, 9), 0.2, 0, 0.25)
    assert coarse.step > found.step and not coarse.checked and step_claim(coarse).status == "unknown"
    with pytest.raises(LengthwiseError):
        simulate_noisy(system, start, [0.0, 4.0], 0.2, 0, 1e-3, None, 100)
    for noise, step in ((-1.0, None), (math.nan, None), (1e308, None), (0.1, 0.0), (0.1, 5e-324)):
        with pytest.raises(UsageError):
            simulate_noisy(system, start, [0.0, 1.0], noise, 0, step)


# When order sets in


@pytest.mark.parametrize(
    ("kind", "beta", "d"),
    [
        ("USA", 1.0, 2),
        pytest.param("SA", 0.0, 2, marks=pytest.mark.system),
        pytest.param("SA", 2.0, 3, marks=pytest.mark.system),
    ],
)
def test_order_sets_in_where_linear_theory_says(kind, beta: float, d: int) -> None:
    system = System(kind, beta)
    onset = noise_onset(system, d, 0.1).value
    assert isinstance(onset, float)
    late = {}
    for factor in (0.6, 1.5):
        path = simulate_noisy(system, uniform(300, d, 1), np.linspace(0, 40, 21), factor * onset, 0, 0.1)
        late[factor] = order_parameter(path.points)[10:].mean()
    assert late[0.6] > 0.5 and late[1.5] < 0.2


def test_the_onset_in_cases_known_by_hand() -> None:
    assert noise_onset(System("SA", 0.0), 2, 0.1).value == pytest.approx(0.5)  # Kuramoto with K = 1: K_c = 2 D
    assert noise_onset(System("USA", 0.0), 5, 0.1).value == pytest.approx(0.2)
    both = ManyHeads((System("SA", 0.0), System("SA", 0.0)))
    assert noise_onset(both, 2, 0.1).value == pytest.approx(1.0)
    repelled = System("SA", 1.0, value=-torch.eye(3, dtype=torch.float64))
    assert noise_onset(repelled, 3, 0.1).status == "unknown"


def test_noise_leaves_no_theorem_about_the_end() -> None:
    start, system = hemisphere(6, 3, 0).numpy(), System("SA", 1.0)
    claims = with_noise(check(start, system), system, 0.1, 3)
    for claim in claims:
        if claim.key not in (NOISE_ONSET, "particles.chance_of_hemisphere"):
            assert claim.status == "unknown" and claim.value is None
            assert any(a.key == "particles.no_noise" and a.check == "violated" for a in claim.assumptions)
    assert with_noise(check(start, system), system, 0.0, 3) == check_heads(start, system)
