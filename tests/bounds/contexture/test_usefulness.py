"""Decay and τ: known values, and where it says nothing."""

import numpy as np
import pytest

from lengthwise.bounds.contexture.summary import decay_claim, usefulness_claim
from lengthwise.errors import UsageError


def tau(*given, **more):
    return usefulness_claim(*given, **more).evidence["tau"]


def test_tau_by_hand():
    squares = np.array([0.5, 0.25, 0.25])
    costs = [1 / 0.75 + 0.5, 1 / 0.75 + 0.75, 1 + 1.0]
    found = usefulness_claim(squares)
    assert found.value == pytest.approx(min(costs)) and found.evidence["dimensions"] == 1
    assert tau(squares, beta=4) == pytest.approx(min(1 / 0.75 + 2, 1 / 0.75 + 3, 5))
    assert tau(squares, most_dimensions=1) == pytest.approx(1 / 0.75 + 1)


@pytest.mark.parametrize("squares", [np.ones(20), np.array([0.9]), np.zeros(4), np.full(600, 0.999)])
def test_it_abstains_where_contexts_give_everything_or_hardly_anything(squares):
    claim = usefulness_claim(squares)
    assert (
        claim.evidence["abstains"] and claim.value is None and claim.status == "unknown" and claim.kind == "heuristic"
    )


def test_moderate_decay_is_best():
    taus = [tau(np.exp(-rate * np.arange(1, 600))) for rate in (0.003, 1.0, 7.0)]
    assert taus[1] < min(taus[0], taus[2])


def test_a_finite_spectrum_never_exceeds_beta_and_one():
    generator = np.random.default_rng(0)
    for _ in range(200):
        squares = np.sort(generator.random(generator.integers(1, 40)) ** generator.choice([0.1, 1, 5]))[::-1]
        assert tau(squares, beta=(beta := float(generator.choice([0.3, 1, 3])))) <= beta + 1 + 1e-9


def test_it_is_always_a_heuristic_with_the_warning():
    claim = usefulness_claim(np.array([0.5, 0.25, 0.25]), exact=False)
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
        usefulness_claim(np.ones(2), beta=0)
