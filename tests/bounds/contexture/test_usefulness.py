"""Decay and τ: known values, and where it says nothing."""

import numpy as np
import pytest

from lengthwise.bounds.contexture.summary import decay_claim, usefulness
from lengthwise.errors import UsageError


def test_tau_by_hand():
    squares = np.array([0.5, 0.25, 0.25])
    costs = [1 / 0.75 + 0.5, 1 / 0.75 + 0.75, 1 + 1.0]
    found = usefulness(squares)
    assert found.tau == pytest.approx(min(costs)) and found.dimensions == 1 and not found.abstains
    assert usefulness(squares, beta=4).tau == pytest.approx(min(1 / 0.75 + 2, 1 / 0.75 + 3, 5))
    assert usefulness(squares, most_dimensions=1).tau == pytest.approx(1 / 0.75 + 1)


@pytest.mark.parametrize("squares", [np.ones(20), np.array([0.9]), np.zeros(4), np.full(600, 0.999)])
def test_it_abstains_where_contexts_give_everything_or_hardly_anything(squares):
    found = usefulness(squares)
    claim = found.claim()
    assert found.abstains and claim.value is None and claim.status == "unknown" and claim.kind == "heuristic"


def test_moderate_decay_is_best():
    taus = [usefulness(np.exp(-rate * np.arange(1, 600))).tau for rate in (0.003, 1.0, 7.0)]
    assert taus[1] < min(taus[0], taus[2])


def test_a_finite_spectrum_never_exceeds_beta_and_one():
    generator = np.random.default_rng(0)
    for _ in range(200):
        squares = np.sort(generator.random(generator.integers(1, 40)) ** generator.choice([0.1, 1, 5]))[::-1]
        assert usefulness(squares, beta := float(generator.choice([0.3, 1, 3]))).tau <= beta + 1 + 1e-9


def test_it_is_always_a_heuristic_with_the_warning():
    claim = usefulness(np.array([0.5, 0.25, 0.25])).claim(measured=True)
    assert claim.kind == "heuristic" and claim.status == "holds" and claim.assumptions[0].key == "contexture.same_type"


@pytest.mark.parametrize("rate", [0.0, 0.01, 0.3, 2.0])
def test_the_decay_is_found(rate):
    claim = decay_claim(np.exp(-rate * np.arange(1, 80)), exact=True)
    assert claim.value == pytest.approx(rate, abs=1e-6) and claim.assumptions[0].check == "checked"


def test_a_decay_that_is_none_is_told():
    claim = decay_claim(np.array([0.9] * 5 + [0.1] * 5), exact=True)
    assert claim.assumptions[0].check == "violated"


def test_bad_settings():
    with pytest.raises(UsageError, match="β"):
        usefulness(np.ones(2), beta=0)
