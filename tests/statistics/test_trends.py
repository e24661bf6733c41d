"""Trends: Spearman and Page against scipy, against listing every order, and against what no trend looks like."""

import itertools
import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from lengthwise.errors import UsageError
from lengthwise.statistics.trends import page_trend, ranks, spearman_trend

quick = settings(max_examples=40, deadline=None)  # a busy machine is no counterexample

rows = st.lists(st.integers(0, 6), min_size=3, max_size=12)


def violated(claim) -> dict:
    return {a.key: dict(a.values) for a in claim.assumptions if a.check == "caveat"}


@given(st.lists(st.integers(-5, 5), min_size=1, max_size=20))
@quick
def test_ranks_agree_with_scipy(row) -> None:
    assert ranks(np.array(row, dtype=float)).tolist() == stats.rankdata(row).tolist()


@given(st.data(), rows)
@quick
def test_rho_agrees_with_scipy_ties_and_all(data, x) -> None:
    y = data.draw(st.lists(st.integers(0, 6), min_size=len(x), max_size=len(x)))
    claim = spearman_trend("t", x, y)
    if len(set(x)) == 1 or len(set(y)) == 1:
        assert claim.status == "unknown" and claim.value is None and "trend.constant" in violated(claim)
        return
    assert claim.value == pytest.approx(stats.spearmanr(x, y).statistic, abs=1e-12)
    assert claim.interval and claim.value in claim.interval and 0 < claim.evidence["p_value"] <= 1
    negated = spearman_trend("t", x, [-value for value in y])
    assert negated.value == pytest.approx(-claim.value)
    if len(x) <= 8:
        assert negated.evidence["p_value"] == claim.evidence["p_value"]
    stretched = spearman_trend("t", [math.exp(value) for value in x], [value**3 + 5 for value in y])
    assert stretched.value == pytest.approx(claim.value), "only the order counts"
    assert (stretched.evidence["p_value"], stretched.interval) == (claim.evidence["p_value"], claim.interval)
    order = data.draw(st.permutations(range(len(x))))
    moved = spearman_trend("t", [x[i] for i in order], [y[i] for i in order])
    assert moved.value == pytest.approx(claim.value) and moved.interval == claim.interval
    assert moved.evidence["p_value"] == pytest.approx(claim.evidence["p_value"], abs=0.02)


@pytest.mark.parametrize("x, y", [([1, 2, 3, 4, 5], [2, 1, 3, 5, 4]), ([1, 1, 2, 2, 3], [0, 1, 1, 1, 3])])
def test_exact_p_by_listing_every_order(x, y) -> None:
    seen = abs(stats.spearmanr(x, y).statistic)
    found = [abs(stats.spearmanr(x, order).statistic) >= seen - 1e-9 for order in itertools.permutations(y)]
    claim = spearman_trend("t", x, y)
    assert claim.evidence["p_value"] == pytest.approx(np.mean(found))
    assert f"all {math.factorial(len(x))} orders" in claim.evidence["p_method"]


def test_sampled_p_agrees_with_the_t_approximation() -> None:
    generator = np.random.default_rng(0)
    x = generator.normal(size=40)
    y = 0.35 * x + generator.normal(size=40)
    claim = spearman_trend("t", x.tolist(), y.tolist())
    assert claim.evidence["p_value"] == pytest.approx(stats.spearmanr(x, y).pvalue, abs=0.01)
    assert "a sample of 20000" in claim.evidence["p_method"]


def test_interval_of_rho_covers_and_agrees_with_resampling_points() -> None:
    generator = np.random.default_rng(5)
    x = generator.normal(size=15)
    y = x + generator.normal(size=15)

    picks = generator.integers(0, 15, size=(4000, 15))
    one, two = (stats.rankdata(row[picks], axis=1) - 8 for row in (x, y))
    witness = np.sum(one * two, axis=1) / np.sqrt(np.sum(one**2, axis=1) * np.sum(two**2, axis=1))
    low, high = np.quantile(witness, [0.025, 0.975])
    interval = spearman_trend("t", x.tolist(), y.tolist()).interval
    assert interval and abs(interval.low - low) < 0.04 and abs(interval.high - high) < 0.02
    truth = 6 / math.pi * math.asin(math.sqrt(0.5) / 2)  # of normal points with correlation 1 / sqrt(2)
    hits = []
    for _ in range(40):
        x = generator.normal(size=25)
        found = spearman_trend("t", x.tolist(), (x + generator.normal(size=25)).tolist()).interval
        hits.append(found is not None and truth in found)
    assert np.mean(hits) > 0.86


def test_interval_of_rho_by_listing_every_resample_of_tied_points() -> None:
    x, y = np.array([1.0, 2, 2, 3, 5]), np.array([2.0, 1, 4, 4, 3])
    picks = np.array(list(itertools.product(range(5), repeat=5)))
    one, two = (stats.rankdata(row[picks], axis=1) - 3 for row in (x, y))
    scale = np.sqrt(np.sum(one**2, axis=1) * np.sum(two**2, axis=1))
    rhos = np.sort(np.sum(one * two, axis=1)[scale > 0] / scale[scale > 0])
    index = math.ceil(0.025 * len(rhos)) - 1
    interval = spearman_trend("t", x.tolist(), y.tolist()).interval
    assert interval and (interval.low, interval.high) == pytest.approx((rhos[index], rhos[-1 - index]))


def test_few_points() -> None:
    assert spearman_trend("t", [1, 2], [1, 2]).status == "unknown"
    assert spearman_trend("t", [], []).status == "unknown"
    four = spearman_trend("t", [1, 2, 3, 4], [1, 2, 3, 4])
    assert four.value == 1 and four.evidence["p_value"] == pytest.approx(2 / 24) == four.evidence["smallest_p"]
    assert violated(four) == {"trend.insignificant": {"n": 4}}
    json.dumps(four.plain(), allow_nan=False)


@pytest.mark.parametrize("m, k", [(2, 3), (3, 4), (6, 5), (10, 4)])
def test_page_agrees_with_scipy_where_there_are_no_ties(m: int, k: int) -> None:
    table = np.random.default_rng(m * k).normal(size=(m, k)) + 0.3 * np.arange(k)
    witness = stats.page_trend_test(table, method="exact")
    claim = page_trend("t", table.tolist())
    assert claim.evidence["page_l"] == witness.statistic and claim.evidence["p_value"] == pytest.approx(witness.pvalue)
    rho = np.mean([stats.spearmanr(range(k), row).statistic for row in table])
    assert claim.value == pytest.approx(rho) and claim.interval and claim.value in claim.interval


def test_page_exact_with_ties_by_listing_every_order() -> None:
    table = [[1, 1, 2], [0, 3, 3], [2, 1, 4]]
    seen = sum(stats.rankdata(row) @ [1, 2, 3] for row in table)
    orders = [[stats.rankdata(order) @ [1, 2, 3] for order in itertools.permutations(row)] for row in table]
    sums = [sum(picked) for picked in itertools.product(*orders)]
    claim = page_trend("t", table, blocks=["sort", "parity", "copy"])
    assert claim.evidence["p_value"] == pytest.approx(np.mean([total >= seen - 1e-9 for total in sums]))
    assert claim.evidence["blocks"] == ["sort", "parity", "copy"] and claim.evidence["seeds"] == []


def test_page_sampled_agrees_with_scipy() -> None:
    table = np.random.default_rng(1).normal(size=(5, 10)) + 0.05 * np.arange(10)
    witness = stats.page_trend_test(table, method="asymptotic").pvalue
    claim = page_trend("t", table.tolist(), blocks=[0, 1, 2, 3, 4])
    assert claim.evidence["p_value"] == pytest.approx(witness, abs=0.02) and claim.evidence["seeds"] == [0, 1, 2, 3, 4]
    assert "a sample of" in claim.evidence["p_method"]
    json.dumps(claim.plain(), allow_nan=False)


def test_page_perfect_reversed_and_flat() -> None:
    rising = page_trend("t", [[1, 2, 3, 4]] * 3)
    assert rising.value == pytest.approx(1) and rising.evidence["p_value"] == pytest.approx(24**-3)
    assert rising.evidence["smallest_p"] == pytest.approx(24**-3)
    falling = page_trend("t", [[4, 3, 2, 1]] * 3)
    assert falling.value == pytest.approx(-1) and falling.evidence["p_value"] == pytest.approx(1)
    flat = page_trend("t", [[1, 1, 1], [2, 2, 2]])
    assert flat.status == "unknown" and flat.value is None
    one = page_trend("t", [[1, 2, 3]])
    assert one.interval is None and violated(one) == {"statistics.one": {"noun": "block"}}


def test_page_keeps_its_level() -> None:
    """No trend, heavy ties: p <= 0.05 in at most 5 % of 400 studies (standard error 1.1 %)."""
    generator = np.random.default_rng(2)
    tables = generator.integers(0, 3, size=(400, 4, 4))
    share = np.mean([page_trend("t", t.tolist()).evidence.get("p_value", 1.0) <= 0.05 for t in tables])
    assert share < 0.075


@pytest.mark.parametrize(
    "call, sentence",
    [
        (lambda: spearman_trend("t", [1, 2, 3], [1, 2]), "one value per point"),
        (lambda: spearman_trend("t", [1, 2, float("nan")], [1, 2, 3]), "finite"),
        (lambda: page_trend("t", []), "no rows"),
        (lambda: page_trend("t", [[1, 2, 3], [1, 2]]), "every condition"),
        (lambda: page_trend("t", [[1, 2], [1, 2]]), "at least three"),
        (lambda: page_trend("t", [[1, 2, 3]], conditions=["a"]), "1 condition names"),
        (lambda: page_trend("t", [[1, 2, 3]], blocks=[1, 2]), "2 block names"),
        (lambda: page_trend("t", [["a", "b", "c"]]), "real numbers"),
    ],
)
def test_wrong_input_gets_a_sentence(call, sentence) -> None:
    with pytest.raises(UsageError, match=sentence):
        call()
