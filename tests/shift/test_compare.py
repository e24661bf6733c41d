"""A shift from end to end: the distance, its parts, its sentence."""

import json
from dataclasses import dataclass

import numpy as np
import pytest
from scipy.stats import wasserstein_distance

import lengthwise as lw
from lengthwise.errors import UsageError
from lengthwise.shift.compare import measure_shift
from lengthwise.shift.result import potentials
from lengthwise.shift.samples import task_sample
from lengthwise.transport.metrics import Fitted, Metric, metrics
from lengthwise.transport.trajectories import Sample, Trajectory


def walks(lengths, name: str = "") -> Sample:
    return Sample.of([Trajectory(("a",) * int(length)) for length in lengths], name=name)


@pytest.fixture(scope="module")
def dyck():
    return measure_shift(
        task_sample("dyck_k", "4-10", 40), task_sample("dyck_k", "12-16", 40, role="second"), resamples=20
    )


def test_the_distance_of_one_number_is_that_of_scipy():
    rng = np.random.default_rng(0)
    x, y = rng.integers(1, 30, 50), rng.integers(10, 60, 35)
    shift = measure_shift(walks(x), walks(y), "features:use=length", resamples=20)
    assert shift.distance.value == pytest.approx(wasserstein_distance(x, y) / x.std(), rel=1e-12)
    assert shift.distance.kind == "certified" and shift.distance.evidence["gap"] < 1e-9
    (length,) = [number for number in shift.numbers if number.name == "length"]
    assert length.distance == pytest.approx(wasserstein_distance(x, y)) and length.first == pytest.approx(x.mean())
    assert length.spreads == pytest.approx(shift.distance.value)


def test_shares_sum_to_one_and_no_number_alone_is_further(dyck):
    assert sum(dyck.shares.values()) == pytest.approx(1)
    for number in dyck.numbers:
        assert number.spreads <= dyck.distance.value + 1e-9
        assert dyck.shares[number.name] > 0
    assert next(iter(dyck.shares)) == "length"


@pytest.mark.parametrize("metric", ["edit", "ngrams", "contour", "features:norm=cityblock"])
def test_the_potential_falls_along_the_plan_by_the_distance(metric):
    one, two = task_sample("dyck_k", "4-8", 20), task_sample("dyck_k", "8-12", 20, role="second")
    shift = measure_shift(one, two, metric, resamples=20)
    plan, (first, second) = shift.transported.solution, potentials(shift.ground, shift.transported)
    costs = shift.ground.cost.pairs(plan.rows, plan.columns)
    assert first[plan.rows] - second[plan.columns] == pytest.approx(costs, abs=1e-9)
    assert first @ shift.ground.first.weights == pytest.approx(0, abs=1e-12)
    assert sum(pair.share for pair in shift.pairs) <= 1 + 1e-12 and shift.pairs[0].share >= shift.pairs[-1].share
    assert sum(shift.shares.values()) == pytest.approx(1) if metric != "edit" else shift.shares == {}


def test_points_that_the_metric_does_not_tell_apart_are_merged():
    shift = measure_shift(task_sample("sort", 5, 30), task_sample("sort", 9, 30, role="second"), resamples=20)
    assert (shift.first.items, shift.first.distinct, shift.first.points) == (30, 30, 1)
    assert shift.distance.value == pytest.approx(np.hypot(0.8, 0.8))
    assert "noise gives none" in shift.verdict() and f"(unit: {shift.unit}; certified)" in shift.verdict()


def test_the_verdict_of_no_shift_says_so():
    shift = measure_shift(
        task_sample("dyck_k", "4-10", 40), task_sample("dyck_k", "4-10", 40, role="second"), resamples=20
    )
    assert "no shift is visible" in shift.verdict()


def test_too_few_items_for_a_test_are_not_taken_for_no_shift():
    shift = measure_shift(walks([1, 2, 3, 1, 2, 3]), walks([50, 60, 70]), resamples=20)
    assert "too few items to tell a shift from noise" in shift.verdict()


def test_a_single_trajectory_has_a_distance_but_no_noise():
    shift = measure_shift(walks([3], "one"), walks([5], "two"), "edit")
    assert shift.distance.value == pytest.approx(2 * 2 / (3 + 5 + 2))
    assert all(claim.status == "unknown" for claim in (*shift.noise, shift.expected, shift.distributions))
    assert "too small to say what noise alone would give" in shift.verdict()


def test_everything_is_plain_data_with_the_metric_named(dyck):
    plain = json.loads(json.dumps(dyck.plain(), allow_nan=False))
    assert plain["metric"]["name"] == "features" and plain["metric"]["facts"]["standardised_on"] == "dyck_k at 4-10"
    assert {"transport.w1", "shift.null", "shift.p_value", "shift.distributions"} <= {c["key"] for c in plain["claims"]}
    assert all(claim["kind"] and claim["status"] for claim in plain["claims"])


def test_the_same_call_gives_the_same_result():
    one, two = task_sample("dyck_k", "4-8", 20), task_sample("dyck_k", "8-12", 20, role="second")
    a, b, c = (measure_shift(one, two, "edit", resamples=20, seed=seed).plain() for seed in (1, 1, 2))
    assert a == b and a["claims"] != c["claims"] and a["claims"][0] == c["claims"][0]


def test_weights_count():
    heavy = Sample.of([Trajectory(("a",)), Trajectory(("a",) * 5)], [0.9, 0.1])
    shift = measure_shift(heavy, walks([5]), "features:use=length", resamples=20)
    assert shift.numbers[0].distance == pytest.approx(0.9 * 4)


def test_unseen_tokens_are_counted():
    one, two = Sample.of([Trajectory(("a", "b"))]), Sample.of([Trajectory(("a", "c", "c", "d"))])
    assert measure_shift(one, two, "edit").unseen == 0.75


def test_samples_without_a_common_token_are_refused_by_metrics_of_tokens():
    one, two = Sample.of([Trajectory(("a",))], name="x"), Sample.of([Trajectory(("b",))], name="y")
    for metric in ("edit", "ngrams"):
        with pytest.raises(UsageError, match="share no token"):
            measure_shift(one, two, metric)
    assert measure_shift(one, two, "features").distance.value == 0


@dataclass(frozen=True)
class Squared(Metric):
    """The square of a difference in length, which is no metric."""

    identity = False
    tokens = False
    fixed = True

    def fit(self, reference):
        return _Squared("tokens squared")


@dataclass(frozen=True)
class _Squared(Fitted):
    def distances(self, first, second):
        one, two = (np.array([len(t.tokens) for t in s.trajectories], dtype=float) for s in (first, second))
        return (one[:, None] - two) ** 2


def test_a_metric_that_is_none_is_refused():
    with pytest.raises(UsageError, match="Squared is not a metric: the triangle inequality fails"):
        measure_shift(walks([1, 2, 3]), walks([4, 5, 6]), Squared())


@dataclass(frozen=True)
class Broken(Squared):
    """Distances that are not numbers."""

    def fit(self, reference):
        return _Broken("nothing")


@dataclass(frozen=True)
class _Broken(_Squared):
    def distances(self, first, second):
        return np.full((len(first.trajectories), len(second.trajectories)), np.nan)


def test_distances_that_are_no_numbers_are_refused():
    with pytest.raises(UsageError, match="not a finite number"):
        measure_shift(walks([1, 2]), walks([4, 5]), Broken())


def test_a_file_and_a_sample_are_not_compared():
    with pytest.raises(UsageError, match="two files or two samples"):
        measure_shift("a.jsonl", walks([1]))
    with pytest.raises(UsageError, match="20 resamples"):
        measure_shift(walks([1]), walks([2]), resamples=5)


def test_the_package_offers_it():
    shift = lw.measure_shift(
        lw.task_sample("parity", 4, 10), lw.task_sample("parity", 6, 10, role="second"), resamples=20
    )
    assert isinstance(shift, lw.Shift) and "edit" in metrics.names()
