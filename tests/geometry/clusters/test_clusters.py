"""Configurations whose number of clusters is known, and where a formula that looks right is wrong."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.csgraph import connected_components

from lengthwise.errors import UsageError
from lengthwise.geometry import clusters
from lengthwise.geometry import clusters as points_module
from lengthwise.geometry.clusters import cluster_number_of, component_count, labels


def orthogonal_clusters(k: int, each: int = 6, d: int = 12) -> np.ndarray:
    return np.repeat(np.eye(d)[:k], each, axis=0)


def drawn(n: int, d: int, seed: int = 0) -> np.ndarray:
    return clusters.directions(np.random.default_rng(seed).normal(size=(n, d)))


def bipyramid(each: int = 4) -> np.ndarray:
    """Five directions in three dimensions, none nearer to another than 90°."""
    turns = 2 * np.pi * np.arange(3) / 3
    ring = np.stack([np.cos(turns), np.sin(turns), 0 * turns], axis=1)
    return np.repeat(np.vstack([ring, [[0, 0, 1], [0, 0, -1]]]), each, axis=0)


def inverted_count(x: np.ndarray) -> float:
    """A count that is often seen, mean of 1 / (1 − mean similarity): it says the opposite."""
    return float((1 / (1 - (x @ x.T).mean(axis=1) + 1e-8)).mean())


@pytest.mark.parametrize(
    "k, at_20, at_5, inverted", [(1, 1, 1, 1e8), (2, 2, 1.987, 2), (5, 5, 4.869, 1.25), (10, 10, 9.428, 1.111)]
)
def test_orthogonal_clusters_are_counted(k, at_20, at_5, inverted):
    x = orthogonal_clusters(k)
    assert clusters.cluster_number(x, 20) == pytest.approx(at_20, rel=1e-6)
    assert clusters.cluster_number(x, 5) == pytest.approx(at_5, abs=5e-4)
    assert clusters.cluster_number(x, 5) == pytest.approx(k / (1 + (k - 1) * math.exp(-5)), rel=1e-12)
    ranks = (clusters.effective_rank(x), clusters.participation_ratio(x), clusters.vendi(x))
    assert ranks == pytest.approx((k, k, k))
    assert clusters.effective_rank(x, centred=True) == pytest.approx(k - 1)
    assert clusters.participation_ratio(x, centred=True) == pytest.approx(k - 1)
    assert clusters.components(x) == k
    assert inverted_count(x) == pytest.approx(inverted, rel=1e-3)


def test_two_antipodal_clusters_are_one_direction():
    x = np.repeat([[0.6, 0.8, 0], [-0.6, -0.8, 0]], 5, axis=0)
    assert clusters.cluster_number(x, 20) == pytest.approx(2) and clusters.components(x) == 2
    assert clusters.effective_rank(x) == pytest.approx(1) == clusters.effective_rank(x, centred=True)
    assert clusters.least_inner_product(x) == pytest.approx(-1)
    found = clusters.hemisphere(x)
    assert found.inside is False and clusters.hemisphere_margin(x) == pytest.approx(0, abs=1e-12)
    assert inverted_count(x) == pytest.approx(1)


def test_a_split_of_ninety_to_ten_is_little_more_than_one():
    x = np.vstack([np.repeat([[1.0, 0]], 90, axis=0), np.repeat([[0, 1.0]], 10, axis=0)])
    assert clusters.cluster_number(x, 20) == pytest.approx(1 / (0.81 + 0.01), rel=1e-6)
    assert clusters.components(x) == 2
    assert inverted_count(x) == pytest.approx(9.1, abs=0.02)


def test_ranks_are_capped_by_the_dimension_and_counts_are_not():
    x = bipyramid()
    assert clusters.cluster_number(x, 40) == pytest.approx(5, rel=1e-6) and clusters.components(x) == 5
    shares = np.array([0.4, 0.3, 0.3])
    assert clusters.effective_rank(x) == pytest.approx(math.exp(-(shares * np.log(shares)).sum()))
    assert clusters.effective_rank(x) <= clusters.rank_cap(*x.shape) == 3
    assert clusters.rank_cap(3, 9, centred=True) == 2


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 12), st.integers(1, 8), st.integers(0, 10**6), st.floats(0, 50))
def test_what_is_proved_of_all_configurations(n, d, seed, kappa):
    x = drawn(n, d, seed)
    number = clusters.cluster_number(x, kappa)
    assert 1 <= number <= n
    assert number == pytest.approx(cluster_number_of(x @ x.T, kappa), rel=1e-12)
    assert number <= clusters.cluster_number(x, kappa + 1) * (1 + 1e-12)
    for centred in (False, True):
        rank, ratio = clusters.effective_rank(x, centred), clusters.participation_ratio(x, centred)
        assert ratio <= rank * (1 + 1e-9) and rank <= clusters.rank_cap(n, d, centred) * (1 + 1e-9)
    assert clusters.vendi(x, 2) == pytest.approx(clusters.participation_ratio(x))
    assert clusters.vendi(x, 0) >= clusters.vendi(x, 1) * (1 - 1e-9) >= clusters.vendi(x, math.inf) * (1 - 2e-9)
    if kappa > 1e-3:
        energy = clusters.energy(x, kappa)
        assert number == pytest.approx(math.exp(kappa) / (2 * kappa * energy), rel=1e-9)


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 25), st.integers(2, 4), st.integers(0, 10**6), st.floats(-0.9, 0.99))
def test_components_are_those_of_the_graph(n, d, seed, threshold):
    x = drawn(n, d, seed)
    number, expected = connected_components(x @ x.T > threshold)
    assert clusters.components(x, threshold) == number == component_count(x @ x.T, threshold)
    found = labels(x, threshold)
    assert found.max() + 1 == number
    assert all(len(set(found[expected == group])) == 1 for group in range(number))
    sweep = clusters.component_sweep(x)
    assert (np.diff(sweep) >= 0).all() and sweep[5] == clusters.components(x, 0.95)


def test_a_chain_is_one_component_though_its_ends_are_far_apart():
    turns = np.linspace(0, np.pi, 40)
    x = np.stack([np.cos(turns), np.sin(turns)], axis=1)
    assert clusters.components(x, 0.99) == 1 and clusters.cluster_number(x, 20) > 3


def test_histogram_counts_every_pair_once():
    x = drawn(37, 5)
    found = clusters.inner_products(x, 16)
    pairs = (x @ x.T)[np.triu_indices(37, 1)]
    assert found.counts.tolist() == np.histogram(pairs, 16, (-1, 1))[0].tolist() and found.counts.sum() == 37 * 36 // 2
    assert clusters.mean_inner_product(x) == pytest.approx(pairs.mean())
    assert clusters.least_inner_product(x) == pytest.approx(pairs.min())


def test_slices_do_not_change_a_measure(monkeypatch):
    x = drawn(50, 4)

    def measured():
        histogram = clusters.inner_products(x, 9).counts.tolist()
        sweep = clusters.component_sweep(x).tolist()
        return histogram, sweep, clusters.cluster_number(x, 7), clusters.energy(x, 3), clusters.least_inner_product(x)

    whole = measured()
    monkeypatch.setattr(points_module, "SLICE", 150)
    monkeypatch.setattr("lengthwise.geometry.clusters.SLICE", 150)
    sliced = measured()
    assert sliced[:2] == whole[:2] and sliced[2:] == pytest.approx(whole[2:], rel=1e-12)


MEASURES = {
    "number": clusters.cluster_number,
    "rank": clusters.effective_rank,
    "ratio": clusters.participation_ratio,
    "vendi": clusters.vendi,
    "components": clusters.components,
    "mean": clusters.mean_inner_product,
    "least": clusters.least_inner_product,
    "margin": clusters.hemisphere_margin,
    "energy": lambda x: clusters.energy(x, 2.0),
}


@pytest.mark.parametrize("name", MEASURES)
def test_a_batch_gives_a_number_for_each_configuration(name):
    x = clusters.directions(np.random.default_rng(0).normal(size=(2, 3, 7, 4)) + 1)
    found, single = MEASURES[name](x), MEASURES[name](x[1, 2])
    assert found.shape == (2, 3) and isinstance(single, float) and found[1, 2] == pytest.approx(single)
    assert len(np.unique(found)) > 1


# --- hemispheres ----------------------------------------------------------------------------------------------------


def wendel(n: int, d: int) -> float:
    """The chance that n independent uniform points in d dimensions lie in a hemisphere (wendel1962)."""
    return sum(math.comb(n - 1, k) for k in range(d)) / 2 ** (n - 1)


@pytest.mark.parametrize("n, d", [(6, 3), (5, 2), (9, 4)])
def test_hemispheres_are_as_frequent_as_wendel_says(n, d):
    x = clusters.directions(np.random.default_rng(n).normal(size=(200, n, d)))
    found = [clusters.hemisphere(one).inside for one in x]
    assert None not in found
    share, chance = np.mean([bool(one) for one in found]), wendel(n, d)
    assert abs(share - chance) <= 4 * math.sqrt(chance * (1 - chance) / 200)


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 9), st.integers(2, 5), st.integers(0, 10**6), st.floats(0, 2))
def test_both_proofs_of_a_margin_hold_and_meet(n, d, seed, lean):
    """No other direction beats `high`, and `normal` reaches `low`; where there is a hemisphere they are equal."""
    generator = np.random.default_rng(seed)
    x = clusters.directions(generator.normal(size=(n, d)) + lean)
    found = clusters.hemisphere(x)
    assert (x @ found.normal).min() == pytest.approx(found.low, abs=1e-12)
    assert found.weights.min() >= 0 and found.weights.sum() == pytest.approx(1)
    others = clusters.directions(np.vstack([generator.normal(size=(200, d)), found.normal + 0.01 * np.eye(d)]))
    assert (others @ x.T).min(axis=1).max() <= found.high + 1e-9
    if found.inside:
        assert found.high - found.low <= 1e-9
    else:
        assert found.high <= 1e-8


@pytest.mark.slow
@settings(max_examples=400, deadline=None)
@given(st.integers(1, 40), st.integers(2, 12), st.integers(0, 10**6), st.floats(0, 2))
def test_both_proofs_of_many_margins_hold_and_meet(n, d, seed, lean):
    test_both_proofs_of_a_margin_hold_and_meet.hypothesis.inner_test(n, d, seed, lean)  # pyright: ignore


def test_the_margin_of_an_orthogonal_frame():
    assert clusters.hemisphere_margin(np.eye(9)) == pytest.approx(1 / 3)
    assert clusters.hemisphere_margin(np.vstack([np.eye(9), -np.ones((1, 9)) / 3])) == pytest.approx(0, abs=1e-9)


# --- energy ---------------------------------------------------------------------------------------------------------


def test_the_greatest_energy_is_that_of_one_point():
    assert clusters.energy(np.repeat([[0.0, 1]], 5, axis=0), 3.0) == pytest.approx(math.exp(3) / 6)
    assert clusters.energy(drawn(9, 3), 3.0) < math.exp(3) / 6


@settings(max_examples=25, deadline=None)
@given(st.integers(2, 8), st.integers(2, 4), st.floats(0.1, 6), st.booleans(), st.integers(0, 10**6))
def test_the_energy_climbs_along_both_systems(n, d, beta, normalised, seed):
    x, energies = drawn(n, d, seed), []
    for _ in range(12):
        energies.append(clusters.energy(x, beta))
        weights = np.exp(beta * (x @ x.T))
        weights = weights / (weights.sum(axis=1, keepdims=True) if normalised else n)
        pull = weights @ x
        x = clusters.directions(x + 1e-3 * math.exp(-beta) * (pull - (pull * x).sum(axis=1, keepdims=True) * x))
    assert clusters.energy_course(energies).monotone


def test_a_fall_of_the_energy_is_seen():
    course = clusters.energy_course([1, 2, 2, 1.5, 3])
    assert (course.rises, course.falls, course.deepest_fall, course.monotone) == (2, 1, 0.5, False)
    assert clusters.energy_course([1, 1 - 1e-15]).monotone


# --- bad input and cost ---------------------------------------------------------------------------------------------

BAD = {
    "not on the unit sphere": lambda: clusters.cluster_number([[1.0, 1.0]]),
    "not one of shape": lambda: clusters.cluster_number([1.0, 2.0]),
    "not finite": lambda: clusters.effective_rank([[1.0, math.nan]]),
    "no direction": lambda: clusters.directions([[0.0, 0.0]]),
    "kappa must be a finite number": lambda: clusters.cluster_number([[1.0, 0.0]], -1),
    "from -1 to 1": lambda: clusters.components([[1.0, 0.0]], 1.5),
    "at least 1 bin": lambda: clusters.inner_products([[1.0, 0.0]], 0),
    "beta above 0": lambda: clusters.energy([[1.0, 0.0]], 0),
    "order of a Vendi": lambda: clusters.vendi([[1.0, 0.0]], -1),
    "one finite number per step": lambda: clusters.energy_course([[1.0]]),
    "needs two points": lambda: clusters.mean_inner_product([[1.0, 0.0]]),
    "hemisphere is found for one": lambda: clusters.hemisphere(np.ones((2, 1, 1))),
    "labels are given to one": lambda: labels(np.ones((2, 1, 1))),
}


@pytest.mark.parametrize("said", BAD)
def test_bad_input_is_one_sentence(said):
    with pytest.raises(UsageError, match=said):
        BAD[said]()


def test_very_long_and_very_short_vectors_have_directions():
    assert clusters.directions([[3e200, 4e200], [3e-200, 4e-200]]) == pytest.approx(np.array([[0.6, 0.8]] * 2))
    assert clusters.effective_rank(1e200 * np.eye(3)) == pytest.approx(3)
    assert clusters.effective_rank(np.full((5, 3), 0.1), centred=True) == 0


def test_a_thousand_points():
    n, x = 1024, drawn(1024, 64)
    assert 0.97 * n < clusters.cluster_number(x, 20) <= n
    assert clusters.components(x) == n
    assert clusters.inner_products(x).counts.sum() == n * (n - 1) // 2
    assert 60 < clusters.effective_rank(x) <= 64 and clusters.participation_ratio(x) < 64
    assert clusters.energy(x, 1.0) > 0
