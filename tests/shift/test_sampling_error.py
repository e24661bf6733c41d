"""Bounds on the distance of distributions: searched for violations where the truth is known."""

import numpy as np
import pytest

from lengthwise.shift.ground import ground
from lengthwise.shift.sampling_error import deviation, distribution_distance, expected_distance
from lengthwise.transport.metrics import metrics
from lengthwise.transport.problem import MatrixCost, TransportProblem
from lengthwise.transport.solving import solve
from lengthwise.transport.trajectories import Sample, Trajectory

EDIT = metrics.make("edit")
WORDS = [Trajectory(tuple(word)) for word in ("a", "ab", "abab", "ba", "bbbb", "abba", "aabbaabb", "babababa")]
P = np.array([0.3, 0.2, 0.2, 0.1, 0.1, 0.05, 0.03, 0.02])
SHIFTS = {"none": P, "some": np.roll(P, 2), "far": np.array([0, 0, 0, 0, 0, 0, 0.5, 0.5])}


def truth(q: np.ndarray) -> float:
    """The W1 of the two distributions themselves."""
    words = Sample.of(WORDS)
    table = EDIT.fit(words).distances(words, words)
    rows, columns = np.flatnonzero(P), np.flatnonzero(q)
    return solve(TransportProblem(MatrixCost(table[np.ix_(rows, columns)]), P[rows], q[columns])).certificate.primal


def drawn(weights: np.ndarray, items: int, rng: np.random.Generator) -> Sample:
    return Sample.of([WORDS[at] for at in rng.choice(len(WORDS), items, p=weights)])


def claims(q: np.ndarray, sizes: tuple[int, int], seed: int):
    rng = np.random.default_rng(seed)
    one, two = drawn(P, sizes[0], rng), drawn(q, sizes[1], rng)
    placed = ground(EDIT, EDIT.fit(one), one, two)
    found = solve(placed.problem)
    return distribution_distance(placed, found, seed, 1.0, False), expected_distance(placed, found, seed), found


@pytest.mark.parametrize("shift", SHIFTS)
@pytest.mark.parametrize("sizes", [(12, 12), (60, 30)])
def test_the_bounds_hold_where_the_truth_is_known(shift, sizes):
    """At a level of 95 % one in twenty may fail. They are cautious: none of 60 draws does, in any of six settings."""
    true, values = truth(SHIFTS[shift]), []
    for seed in range(60):
        bounds, _, found = claims(SHIFTS[shift], sizes, seed)
        assert bounds.kind == "proved" and bounds.interval is not None
        assert true in bounds.interval, f"seed {seed}: {true} is not in {bounds.interval}"
        values.append(found.certificate.primal)
    slack = 3 * np.std(values) / np.sqrt(len(values))
    assert true <= np.mean(values) + slack, "the W1 of samples is at least that of their distributions, on average"


def test_the_bounds_are_not_idle():
    bounds, _, _ = claims(SHIFTS["far"], (400, 400), 0)
    assert bounds.status == "holds" and bounds.interval is not None
    assert bounds.interval.low > 0.4 and bounds.interval.high < 0.85
    none, _, _ = claims(P, (400, 400), 0)
    assert none.interval is not None and none.interval.low == 0 and none.interval.high < 0.25


def test_few_items_say_nothing_and_this_is_called_vacuous():
    bounds, _, _ = claims(SHIFTS["some"], (4, 4), 0)
    assert bounds.status == "vacuous" and bounds.value is None


def test_the_deviation_is_that_of_means_of_coins():
    """The mean of n coins less that of m others is a difference of a 1-Lipschitz function on {0, 1}: the bound holds,
    and a bound a third as large would not."""
    rng, n, m, delta = np.random.default_rng(0), 30, 50, 0.05
    gaps = rng.binomial(n, 0.5, 20_000) / n - rng.binomial(m, 0.5, 20_000) / m
    limit = deviation(n, m, 1.0, delta)
    assert (gaps > limit).mean() <= delta
    assert (gaps > limit / 3).mean() > delta


def test_the_interval_holds_the_mean_of_such_samples():
    """At a level of 95 %, of 100 intervals 88 or more hold the mean; 87 would have a chance of 0.15 %."""
    means, intervals = [], []
    for seed in range(100):
        _, expected, found = claims(SHIFTS["some"], (60, 60), seed)
        means.append(found.certificate.primal)
        intervals.append(expected.interval)
    assert sum(np.mean(means) in interval for interval in intervals) >= 88
    assert np.mean([i.high - i.low for i in intervals]) < 6 * np.std(means), "an interval that always holds is none"


def test_what_is_missing_is_said():
    one = Sample.of([WORDS[0]])
    placed = ground(EDIT, EDIT.fit(one), one, one)
    found = solve(placed.problem)
    expected, bounds = expected_distance(placed, found, 0), distribution_distance(placed, found, 0, 1.0, False)
    assert expected.status == "unknown" and expected.assumptions[0].key == "shift.spread"
    assert bounds.status == "unknown" and bounds.assumptions[0].key == "shift.enough"
    heavy = Sample.of(WORDS, P)
    weighted = ground(EDIT, EDIT.fit(heavy), heavy, heavy)
    bounds = distribution_distance(weighted, solve(weighted.problem), 0, 1.0, False)
    assert bounds.status == "unknown" and bounds.assumptions[0].key == "shift.same_weight"


def test_a_metric_without_diameter_or_fitted_here_proves_nothing():
    features = metrics.make("features:use=length")
    one, two = Sample.of(WORDS * 4), Sample.of(WORDS[4:] * 8)
    placed = ground(features, features.fit(one), one, two)
    bounds = distribution_distance(placed, solve(placed.problem), 0, 5.0, False)
    assert bounds.kind == "heuristic" and [a.check for a in bounds.assumptions] == ["assumed", "assumed", "violated"]
    apart = distribution_distance(placed, solve(placed.problem), 0, 5.0, True)
    assert apart.kind == "heuristic" and [a.check for a in apart.assumptions] == ["assumed", "assumed", "checked"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "dimension, shift, items, least, most", [(1, 2, 50, 0.85, 1), (5, 1, 50, 0, 0.05), (5, 3, 50, 0.4, 0.85)]
)
def test_the_table_of_the_module(dimension, shift, items, least, most):
    """Of 150 intervals about 95 % hold the mean W1 of such samples; few hold that of the distributions."""
    rng = np.random.default_rng(0)
    names = [f"x{at}" for at in range(dimension)]
    metric = metrics.make(f"features:use={'+'.join(names)}")

    def normal(count: int, centre: float) -> Sample:
        points = rng.normal(size=(count, dimension)) + centre * (np.arange(dimension) == 0)
        features = [tuple(zip(names, map(float, point), strict=True)) for point in points]
        return Sample.of([Trajectory(("a",), features=found) for found in features])

    fitted = metric.fit(normal(20_000, 0))
    true = shift / fitted.facts["scales"]["x0"]
    means, intervals = [], []
    for seed in range(150):
        placed = ground(metric, fitted, normal(items, 0), normal(items, shift))
        found = solve(placed.problem)
        means.append(found.certificate.primal)
        intervals.append(expected_distance(placed, found, seed).interval)
    assert np.mean([np.mean(means) in interval for interval in intervals]) >= 0.89
    assert least <= np.mean([true in interval for interval in intervals]) <= most
