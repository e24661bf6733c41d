"""Kuramoto's model: its velocity, its laws of frequencies, and each statement of theory against simulations."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import torch
from scipy.integrate import quad
from scipy.optimize import fsolve

from lengthwise.errors import UsageError
from lengthwise.geometry.particles.frequencies import FrequencyLaw, Law, locking_coupling
from lengthwise.geometry.particles.integrate import simulate
from lengthwise.geometry.particles.kuramoto import Kuramoto
from lengthwise.geometry.particles.noise import simulate_noisy
from lengthwise.geometry.particles.starts import uniform
from lengthwise.geometry.particles.synchrony import (
    CRITICAL,
    GATHER,
    LOCKED,
    LOCKING,
    ORDER,
    check_kuramoto,
    compare_kuramoto,
    order_parameter,
)
from lengthwise.geometry.particles.system import System

WIDE: tuple[Law, ...] = ("lorentzian", "normal", "uniform")


def oscillators(coupling: float, frequencies: np.ndarray) -> Kuramoto:
    return Kuramoto(coupling, torch.from_numpy(np.asarray(frequencies, dtype=float)))


def settled(system: Kuramoto, noise: float = 0.0, time: float = 40.0, step: float = 0.03, seed: int = 1) -> float:
    """The mean order parameter of the second half, from a uniform start. Steps rotate exactly, so that fast oscillators
    need no small ones."""
    n = len(system.frequencies)
    path = simulate_noisy(system, uniform(n, 2, seed), np.linspace(0, time, 81), noise, seed, step)
    return float(order_parameter(path.points)[40:].mean())


def test_the_velocity_is_the_model() -> None:
    draw = np.random.default_rng(0)
    angles, own = draw.uniform(0, 2 * np.pi, (3, 7)), draw.normal(size=7)
    x = torch.from_numpy(np.stack([np.cos(angles), np.sin(angles)], axis=-1))
    system = oscillators(1.7, own)
    expected = own + 1.7 * np.sin(angles[:, None, :] - angles[:, :, None]).mean(-1)
    np.testing.assert_allclose(system.angular_velocity(x), expected, atol=1e-12)
    np.testing.assert_allclose(system.velocity(x).norm(dim=-1), np.abs(expected), atol=1e-12)
    still = oscillators(1.7, np.zeros(7)).velocity(x)
    torch.testing.assert_close(still, 1.7 * System("SA", 0.0).velocity(x))  # attention at beta = 0, K times as fast


@pytest.mark.parametrize("name", WIDE)
def test_laws(name: Law) -> None:
    law = FrequencyLaw(name, 0.7)
    drawn = np.sort(law.quantiles(501, 3))
    np.testing.assert_allclose(drawn, -drawn[::-1], atol=1e-9)
    assert not np.array_equal(law.quantiles(501, 3), law.quantiles(501, 4))
    points = [-0.7, 0.0, 0.7]
    inside = quad(law.density, -50, 50, points=points, limit=500)[0]
    share = np.mean(np.abs(drawn) <= 50)
    assert inside == pytest.approx(share, abs=0.005)
    assert law.critical_coupling() == pytest.approx(2 / (math.pi * law.density(0)), rel=1e-12)
    for noise in (0.05, 0.5, 3.0):
        blurred = quad(lambda w, D=noise: law.density(w) * D / (D * D + w * w), -60, 60, points=points, limit=500)[0]
        assert law.critical_coupling(noise) == pytest.approx(2 / blurred, rel=2e-3)
    assert law.critical_coupling(1e-9) == pytest.approx(law.critical_coupling(), rel=1e-6)
    assert law.order(0.99 * law.critical_coupling()) == 0 and law.order(1e3) == pytest.approx(1, abs=0.01)
    assert law.order(9.0, 0.1) is None


def test_the_integral_gives_the_closed_form_of_a_lorentzian() -> None:
    law = FrequencyLaw("lorentzian", 0.3)
    for coupling in (0.61, 0.9, 2.0, 8.0):
        r = law.order(coupling)
        assert r == pytest.approx(math.sqrt(1 - 0.6 / coupling))
        assert r is not None and law._locked(coupling, r) == pytest.approx(1, abs=1e-8)


def test_uniform_frequencies_jump_to_pi_over_4() -> None:
    law = FrequencyLaw("uniform", 1.0)
    assert law.order(law.critical_coupling() * (1 + 1e-9)) == pytest.approx(math.pi / 4, abs=1e-3)


@pytest.mark.parametrize("bad", [("lorentzian", 0.0), ("equal", 1.0), ("normal", math.inf), ("cauchy", 1.0)])
def test_no_other_laws(bad: tuple[Law, float]) -> None:
    with pytest.raises(UsageError):
        FrequencyLaw(*bad)


@pytest.mark.parametrize(
    "name",
    ["normal", pytest.param("lorentzian", marks=pytest.mark.system), pytest.param("uniform", marks=pytest.mark.system)],
)
def test_many_oscillators_do_what_theory_says(name: Law) -> None:
    """r of 400 oscillators is that of the limit within 0.05; below K_c it is of the order of 1 / sqrt(n)."""
    law = FrequencyLaw(name, 0.5)
    critical, own = law.critical_coupling(), law.quantiles(400)
    assert settled(oscillators(0.5 * critical, own)) < 4 / math.sqrt(400)
    for factor in (1.5, 3.0):
        predicted = law.order(factor * critical)
        assert predicted is not None and predicted > 0.5
        assert settled(oscillators(factor * critical, own)) == pytest.approx(predicted, abs=0.05)


@pytest.mark.parametrize("noise", [0.5, pytest.param(0.1, marks=pytest.mark.system)])
def test_noise_has_its_threshold_at_twice_its_strength(noise: float) -> None:
    law, same = FrequencyLaw("equal", 0.0), np.zeros(500)
    assert law.critical_coupling(noise) == 2 * noise
    assert settled(oscillators(noise, same), noise, 40 / noise, 0.05 / noise) < 4 / math.sqrt(500)
    for factor in (3.0, 6.0):
        coupling = factor * noise
        predicted = law.order(coupling, noise)
        assert predicted is not None
        found = settled(oscillators(coupling, same), noise, 20 / noise, 0.01 / noise)
        assert found == pytest.approx(predicted, abs=0.03)


@pytest.mark.system
def test_noise_and_frequencies_together_move_the_threshold() -> None:
    law = FrequencyLaw("lorentzian", 0.2)
    critical, own = law.critical_coupling(0.3), law.quantiles(400)
    assert critical == pytest.approx(1.0) and critical > law.critical_coupling()
    assert settled(oscillators(0.6 * critical, own), 0.3) < 0.2  # it would be 0.58 without the noise
    assert settled(oscillators(2.0 * critical, own), 0.3) > 0.5


# Locked states: exact for any n


def test_two_oscillators_lock_where_the_coupling_is_their_difference() -> None:
    assert locking_coupling(np.array([0.3, 1.5])) == pytest.approx(1.2)
    assert locking_coupling(np.array([2.0, 2.0, 2.0])) == 0 and locking_coupling(np.array([1.0])) == 0


@pytest.mark.parametrize("n", [pytest.param(3, marks=pytest.mark.system), 4, pytest.param(6, marks=pytest.mark.system)])
def test_no_locked_state_is_found_below_the_coupling_and_one_exists_above(n: int) -> None:
    draw = np.random.default_rng(n)
    for _ in range(2):
        own = draw.normal(size=n)
        least = locking_coupling(own)
        off = own - own.mean()

        def moving(angles: np.ndarray, coupling: float, off: np.ndarray = off) -> np.ndarray:
            return off + coupling * np.sin(angles[None, :] - angles[:, None]).mean(1)

        for _ in range(25):  # attack: look for a state in which nothing moves
            found, _, done, _ = fsolve(moving, draw.uniform(0, 2 * np.pi, n), (0.98 * least,), full_output=True)
            assert done != 1 or np.abs(moving(found, 0.98 * least)).max() > 1e-6
        above = 1.02 * least  # from one cluster the oscillators settle
        path = simulate(oscillators(above, own), uniform(1, 2, 0).expand(n, 2).clone(), [0.0, 200.0 / least], 1e-5)
        speeds = oscillators(above, own).angular_velocity(torch.from_numpy(path.final)).numpy()
        assert np.ptp(speeds) < 1e-4 and speeds.mean() == pytest.approx(own.mean(), abs=1e-4)


def test_no_choice_of_signs_locks_earlier() -> None:
    """All equations of a locked state: u over a grid, and the sign of every cosine."""
    own = np.random.default_rng(5).normal(size=5)
    off = own - own.mean()
    u = np.linspace(np.abs(off).max(), 4 * np.abs(off).max(), 4001)
    cosines = np.sqrt(np.maximum(0, 1 - (off[:, None] / u) ** 2))
    couplings = [u / mean for signs in itertools.product((1, -1), repeat=5)
                 if (mean := (np.array(signs) @ cosines) / 5).max() > 0]  # fmt: skip
    best = min(float(one[one > 0].min()) for one in couplings)
    assert locking_coupling(own) == pytest.approx(best, rel=1e-4) and locking_coupling(own) <= best * (1 + 1e-12)


# Claims


def claims_of(system: Kuramoto, law: FrequencyLaw | None, noise: float = 0.0):
    return {claim.key: claim for claim in check_kuramoto(system, law, noise)}


def test_what_is_claimed() -> None:
    law = FrequencyLaw("uniform", 1.0)
    own = law.quantiles(40)
    found = claims_of(oscillators(2.0, own), law)
    assert found[CRITICAL].value == pytest.approx(4 / math.pi) and found[CRITICAL].kind == "predicted"
    assert found[LOCKED].value is True and found[LOCKING].kind == "proved"
    assert any(a.key == "kuramoto.many" and a.check == "assumed" for a in found[ORDER].assumptions)
    assert found[GATHER].status == "unknown"
    assert claims_of(oscillators(1.2, own), law)[LOCKED].value is False
    unknown = claims_of(oscillators(2.0, own), None)
    assert unknown[CRITICAL].status == unknown[ORDER].status == "unknown" and unknown[LOCKED].value is True
    shaken = claims_of(oscillators(2.0, own), law, 0.1)
    assert shaken[ORDER].status == shaken[LOCKED].status == "unknown" and shaken[CRITICAL].value is not None
    same = claims_of(oscillators(1.0, np.full(9, 0.4)), None)
    assert same[GATHER].value is True and same[ORDER].value == 1 and same[LOCKED].value is True
    assert claims_of(oscillators(-1.0, np.zeros(9)), None)[GATHER].status == "unknown"


@pytest.mark.parametrize(("coupling", "locked"), [(-2.5, True), (-1.9, False), (1.9, False), (2.5, True)])
def test_oscillators_that_repel_each_other_lock_too(coupling: float, locked: bool) -> None:
    """Two of frequencies 1 and -1 keep their difference a where 2 = K sin a, whatever the sign of K."""
    pair = oscillators(coupling, np.array([1.0, -1.0]))
    assert claims_of(pair, None)[LOCKED].value is locked
    apart = math.asin(2 / coupling) if locked else 0.5 * math.pi * np.sign(coupling)
    angles = np.array([apart, 0.0])
    speeds = pair.angular_velocity(torch.from_numpy(np.stack([np.cos(angles), np.sin(angles)], axis=-1))).numpy()
    assert (abs(np.ptp(speeds)) < 1e-12) == locked


@pytest.mark.parametrize("coupling", [1.1, 1.6])
def test_a_trajectory_is_compared(coupling: float) -> None:
    law = FrequencyLaw("uniform", 1.0)
    system = oscillators(coupling, law.quantiles(64))
    claims = check_kuramoto(system, law)
    path = simulate(system, uniform(64, 2, 0), np.linspace(0, 60, 41), 1e-6)
    found = {claim.key: claim for claim in compare_kuramoto(claims, path, system)}
    order, locked = found[f"{ORDER}.simulated"], found[f"{LOCKED}.simulated"]
    assert order.status == locked.status == "holds" and f"{GATHER}.simulated" not in found
    assert isinstance(locked.value, float) and (locked.value < 1e-3) == (coupling > 4 / math.pi)


def test_equal_frequencies_meet_and_turn_together() -> None:
    system = oscillators(0.5, np.full(12, 0.4))
    path = simulate(system, uniform(12, 2, 3), [0.0, 30.0, 60.0], 1e-7)
    found = {claim.key: claim for claim in compare_kuramoto(check_kuramoto(system, None), path, system)}
    assert found[f"{GATHER}.simulated"].status == "holds"
    before, after = (np.arctan2(points[0, 1], points[0, 0]) for points in path.points[1:])
    assert np.angle(np.exp(1j * (after - before - 0.4 * 30))) == pytest.approx(0, abs=1e-3)


def test_what_does_not_fit_is_refused() -> None:
    system = oscillators(1.0, np.zeros(4))
    for points in (uniform(4, 3, 0), uniform(5, 2, 0)):
        with pytest.raises(UsageError):
            simulate(system, points, [0.0, 1.0])
    with pytest.raises(UsageError):
        Kuramoto(math.nan, torch.zeros(3))
    with pytest.raises(UsageError):
        Kuramoto(1.0, torch.tensor([0.0, math.inf]))
