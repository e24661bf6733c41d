"""The sign test: counts, exact p, and the interval of the share."""

import pytest
from scipy.stats import binom

from lengthwise.statistics.signs import sign_test


def claim(larger: int, smaller: int, ties: int = 0):
    pairs = [(2.0, 1.0)] * larger + [(1.0, 4.0)] * smaller + [(1.0, 1.0)] * ties
    sides = [{str(place): pair[side] for place, pair in enumerate(pairs)} for side in (0, 1)]
    return sign_test("constants.larger", *sides, about={"quantity": "", "first": "a", "second": "b"})


def test_counts_and_exact_p():
    found = claim(9, 1, ties=3)
    assert (found.evidence["larger"], found.evidence["smaller"], found.evidence["n"]) == (9, 1, 13)
    assert found.value == pytest.approx(0.9)
    assert found.evidence["p_value"] == pytest.approx(2 * 11 / 2**10)
    assert found.interval is not None
    low, high = found.interval.low, found.interval.high  # Clopper and Pearson: both tails have 2.5 %
    assert binom.sf(8, 10, low) == pytest.approx(0.025, abs=1e-6)
    assert binom.cdf(9, 10, high) == pytest.approx(0.025, abs=1e-6)


def test_the_factor_is_a_geometric_mean():
    found = claim(2, 1)
    assert found.evidence["ratio"] == pytest.approx(1.0)
    assert found.evidence["ratio_low"] <= 1 <= found.evidence["ratio_high"]
    assert "ratio" not in sign_test("constants.larger", {"a": 0.0, "b": 1.0}, {"a": 1.0, "b": 2.0}).evidence


def test_nothing_that_differs_is_unknown():
    assert claim(0, 0, ties=2).status == "unknown"
    assert sign_test("constants.larger", {"a": 1.0}, {"b": 1.0}).status == "unknown"
