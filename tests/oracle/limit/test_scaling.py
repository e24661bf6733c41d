"""The measured scalings: simulation lengths of simple_task, and the error of thinning by runs."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np
import pytest

from lengthwise.errors import UsageError
from lengthwise.oracle.limit.examples import bigram, wave

sys.path.append(str(Path(__file__).parents[3] / "benchmarks"))
try:
    from limit_scaling import (  # pyright: ignore[reportMissingImports]
        OMEGAS,
        best_run,
        fit_power_law,
        kept_places,
        limit_factor,
        mean_error_bound,
        noisy_cycle,
        prefix_error,
        run_errors,
        wave_length,
        wave_lengths,
        window_error,
    )
finally:
    sys.path.pop()
    sys.modules.pop("rows", None)  # the names of benchmarks are common words

GOLDEN = {1: (7, 20, 53), 2: (11, 35, 101), 4: (30, 89, 259), 8: (39, 115, 235), 16: (140, 508, 755)}


@pytest.mark.parametrize("omega", GOLDEN)
def test_lengths_for_words_of_997_bits(omega: int) -> None:
    """Computed once before by an independent script: nearest share on the same branch, among all lengths up to N."""
    assert tuple(wave_length(omega, error, long=997) for error in (0.1, 0.03, 0.01)) == GOLDEN[omega]


def test_simulation_length_grows_like_omega_over_eps() -> None:
    found = wave_lengths()
    assert found.fit.exponents["omega"] == pytest.approx(1, abs=0.2)
    assert found.fit.exponents["1/eps"] == pytest.approx(1, abs=0.1)
    assert found.levelled.exponents["omega"] == pytest.approx(1, abs=0.05)
    assert found.levelled.exponents["1/eps"] == pytest.approx(1, abs=0.05)
    for omega, row in zip(OMEGAS, found.lengths, strict=True):
        assert row[-1] * 0.01 / omega == pytest.approx(limit_factor(omega), rel=0.06)
        assert 0.5 <= limit_factor(omega) <= 1


@pytest.mark.parametrize(("omega", "error"), [(2.0, 0.1), (7.0, 0.1), (5.0, 0.05)])
def test_the_length_is_enough_for_every_share_and_one_less_is_not(omega: float, error: float) -> None:
    """Against the transformer itself: answers of all short words, for shares on a fine grid with the turning points."""
    n = wave_length(omega, error)
    shares = np.linspace(0, 1, 40_001)
    for order, enough in ((n, True), (n - 1, False)):
        offers = np.unique([k / m for m in range(1, order + 1) for k in range(m + 1)])
        best = np.full(len(shares), np.inf)
        right = np.clip(np.searchsorted(offers, shares), 1, len(offers) - 1)
        for place in (right - 1, right):
            angle, own = omega * (1 - 2 * offers[place]), omega * (1 - 2 * shares)
            same = np.floor(angle / math.pi + 0.5) == np.floor(own / math.pi + 0.5)
            best = np.minimum(best, np.where(same, np.abs(np.sin(angle) - np.sin(own)), np.inf))
        assert (best.max() <= error) == enough
    assert wave(omega).answer("1" * 3 + "0" * 5)[0] == pytest.approx(math.sin(omega / 4))


def test_error_of_runs_falls_with_a_third_power_and_single_places_fail() -> None:
    found = run_errors(seeds=32)
    assert found.exponent == pytest.approx(-1 / 3, abs=0.08)
    assert all(mean <= bound for mean, bound in zip(found.windows, found.bounds, strict=True))
    assert min(found.single) > 1.4  # of at most 2, whatever the number of kept places
    assert found.single[-1] >= found.single[0] and found.windows[-1] < found.windows[0] / 3


@pytest.mark.parametrize(("locality", "run", "target"), [(1, 4.0, 400), (2, 8.0, 1000), (3, 20.0, 2000)])
def test_the_proved_bound_on_the_mean_error_holds_on_hostile_words(locality: int, run: float, target: int) -> None:
    """Cycles, noise, blocks and a word that changes its law half way."""
    length = 10_000
    words = {
        "cycle": np.arange(length) % 3,
        "noise": np.random.default_rng(1).integers(0, 3, length),
        "blocks": np.arange(length) // 500 % 3,
        "halves": np.where(np.arange(length) < length // 2, np.arange(length) % 2, 2),
    }
    for x in words.values():
        windows = len(np.unique(np.lib.stride_tricks.sliding_window_view(x, locality + 1), axis=0))
        errors = [window_error(x, x[kept_places(length, target, run, seed)], locality + 1, 3) for seed in range(24)]
        assert np.mean(errors) <= mean_error_bound(target, run, locality, windows)


def test_the_chain_keeps_as_many_places_in_runs_as_asked() -> None:
    counts, runs = [], []
    for seed in range(40):
        places = kept_places(20_000, 2000, 10.0, seed)
        counts.append(len(places))
        runs.append(len(places) / (1 + np.count_nonzero(np.diff(places) > 1)))
        assert np.all(np.diff(places) > 0) and places[-1] < 20_000
    assert np.mean(counts) == pytest.approx(2000, rel=0.05) and np.mean(runs) == pytest.approx(10, rel=0.12)
    assert best_run(1000) == pytest.approx(10) and best_run(1) == 1


def test_two_layers_answer_alike_on_runs_and_not_on_single_places() -> None:
    model = bigram(3, 8.0)
    x = noisy_cycle(1200, 3, 0.1, seed=3)

    def difference(run: float, seed: int) -> float:
        z = x[np.union1d(kept_places(len(x), 300, run, seed), [len(x) - 2, len(x) - 1])]
        return float(np.abs(model.answers(x[None]) - model.answers(z[None])).max())

    thinned, single = (np.mean([difference(run, seed) for seed in range(5)]) for run in (best_run(300), 1.0))
    assert thinned < 0.25 < 0.4 < single


def test_prefix_histograms_are_compared_at_the_same_share() -> None:
    x = np.array([0] * 50 + [1] * 50)
    assert prefix_error(x, x[::2], 2) == 0
    assert prefix_error(x, x[::-1], 2) > 0.5


def test_usage() -> None:
    for call in (
        lambda: kept_places(100, 100, 5.0),
        lambda: kept_places(100, 90, 2.0),
    ):
        with pytest.raises(UsageError):
            call()


def test_a_power_law_is_found_again() -> None:
    x, y = [1.0, 2, 4, 8, 3], [1.0, 3, 2, 5, 4]
    found = fit_power_law({"x": x, "y": y}, [5 * a**1.5 * b**-0.5 for a, b in zip(x, y, strict=True)])
    assert found.exponents == pytest.approx({"x": 1.5, "y": -0.5}) and found.factor == pytest.approx(5)
    assert found.spread < 1e-9
