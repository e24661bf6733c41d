"""Estimates from pairs: the plug-in is too large, the estimate is not, and its interval holds the truth."""

import numpy as np
import pytest

from lengthwise.bounds.contexture.alignment import alignment
from lengthwise.bounds.contexture.estimates import (
    drawn_covariances,
    drawn_pairs,
    independent,
    ratio_trace,
    ratio_trace_claim,
    spectrum_of_conditionals,
    spectrum_of_pairs,
)
from lengthwise.bounds.contexture.spectrum import spectrum_by_svd
from lengthwise.bounds.contexture.table import joint_table, solve_pencil
from lengthwise.errors import UsageError


def setting(x=200, a=40, dimensions=32, near=False, seed=0):
    generator = np.random.default_rng(seed)
    table = joint_table(generator.dirichlet(np.full(x * a, 0.3)).reshape(x, a) + 1e-12)
    features = generator.standard_normal((x, dimensions))
    if near:
        count = min(dimensions, a - 1)
        features[:, :count] = spectrum_by_svd(table).of_x[:, :count] + 0.3 * features[:, :count]
    return table, features


def draw(table, pairs, generator):
    cells = generator.choice(table.probabilities.size, size=pairs, p=table.probabilities.ravel())
    return cells // len(table.of_a), cells % len(table.of_a)


@pytest.mark.parametrize("near", [False, True])
@pytest.mark.parametrize("known", [False, True])
def test_the_estimate_has_no_bias_where_the_plug_in_has(near, known):
    table, features = setting(near=near)
    true = alignment(table, features).ratio_trace
    generator = np.random.default_rng(1)
    plug_in, found = [], []
    for _ in range(40):
        x, a = draw(table, 600, generator)
        drawn = drawn_pairs(features[x], (table.probabilities / table.of_x[:, None])[x] if known else a)
        plug_in.append(solve_pencil(*drawn_covariances(drawn, debiased=False)).values.sum())
        found.append(ratio_trace(independent(drawn)))
    error = np.std(found) / np.sqrt(40)
    assert abs(np.mean(found) - true) < 3.5 * error + 0.02 * true
    if not known:
        assert np.mean(plug_in) - true > 1.5  # 32 x 39 / 600 = 2.1


@pytest.mark.slow
@pytest.mark.parametrize("near", [False, True])
def test_intervals_hold_the_truth(near):
    table, features = setting(40, 12, 6, near)
    true, generator, inside = alignment(table, features).ratio_trace, np.random.default_rng(2), 0
    for number in range(200):
        x, a = draw(table, 400, generator)
        claim = ratio_trace_claim(drawn_pairs(features[x], a), "it", seed=number, replicates=100)
        assert claim.interval is not None
        inside += true in claim.interval
    assert inside >= 170  # 95 % are meant; 85 % at least is what is promised


def test_features_that_know_nothing_have_a_trace_near_zero():
    generator = np.random.default_rng(3)
    a, features = generator.integers(0, 30, 1000), generator.standard_normal((1000, 40))
    claim = ratio_trace_claim(drawn_pairs(features, a), "noise", replicates=60)
    assert claim.interval is not None and 0 in claim.interval and abs(float(claim.value or 0)) < 0.3
    assert claim.evidence["plug_in"] > 0.8  # 40 x 29 / 1000 = 1.16


def test_the_pencil_and_the_trace_are_one_number_and_linear_maps_change_nothing():
    table, features = setting(50, 10, 5)
    x, a = draw(table, 500, np.random.default_rng(4))
    drawn = drawn_pairs(features[x], a)
    solved = solve_pencil(*drawn_covariances(drawn))
    one = float(solved.values.sum()) / (1 - solved.rank / 500)
    assert ratio_trace(independent(drawn)) == pytest.approx(one)
    wider = np.hstack([features, features[:, :2] * 3 + 1]) * 7
    assert ratio_trace(independent(drawn_pairs(wider[x], a))) == pytest.approx(one)


def test_contexts_drawn_once_are_told():
    generator = np.random.default_rng(5)
    claim = ratio_trace_claim(drawn_pairs(generator.standard_normal((50, 2)), np.arange(50)), "it", replicates=10)
    assert claim.evidence["alone"] == 1 and claim.assumptions[1].check == "caveat"


def test_the_spectrum_of_pairs_is_nearer_than_the_table_of_counts():
    table, _ = setting(60, 8)
    true = spectrum_by_svd(table).squares
    x, a = draw(table, 1500, np.random.default_rng(6))
    found = spectrum_of_pairs(x, a)
    counts = np.zeros((x.max() + 1, a.max() + 1))
    np.add.at(counts, (x, a), 1.0)
    counted = spectrum_by_svd(joint_table(counts, counts=True)).squares
    assert found.plug_in[:7] == pytest.approx(counted, abs=1e-9)
    assert abs(found.squares.sum() - true.sum()) < 0.2 * (counted.sum() - true.sum())
    assert found.known and found.alone < 0.02


def test_pairs_that_never_repeat_show_no_spectrum():
    found = spectrum_of_pairs(np.arange(40), np.arange(40) % 3)
    assert not found.known and found.plug_in == pytest.approx([1, 1])


def test_the_spectrum_of_known_conditionals():
    table, _ = setting(60, 8)
    generator = np.random.default_rng(7)
    x = generator.choice(60, size=20_000, p=table.of_x)
    found = spectrum_of_conditionals((table.probabilities / table.of_x[:, None])[x])
    assert found == pytest.approx(spectrum_by_svd(table).squares, abs=0.02)
    assert spectrum_of_conditionals(np.eye(4)[np.arange(100) % 3]) == pytest.approx([1, 1])  # the fourth never occurs


def test_bad_input():
    with pytest.raises(UsageError, match="too few"):
        ratio_trace_claim(drawn_pairs(np.random.default_rng(0).standard_normal((20, 9)), np.arange(20) % 2), "it")
    with pytest.raises(UsageError, match="row of features each"):
        drawn_pairs(np.ones((3, 1)), np.array([0, 1]))
    with pytest.raises(UsageError, match="sum to 1"):
        drawn_pairs(np.ones((2, 1)), np.ones((2, 2)))
    with pytest.raises(UsageError, match="finite"):
        drawn_pairs(np.array([[np.inf], [1.0]]), np.array([0, 1]))
