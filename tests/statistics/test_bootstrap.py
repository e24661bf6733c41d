"""The mean over seeds: exact resampling, what it says of few seeds, and how often its interval is right."""

import itertools
import json
import math
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from lengthwise.errors import UsageError
from lengthwise.statistics.bootstrap import COVERAGE, mean_interval, mean_over_seeds, percentile_ends, resampling

quick = settings(max_examples=40, deadline=None)  # a busy machine is no counterexample

values = st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=9)


def as_seeds(row) -> dict[int, float]:
    return dict(enumerate(row))


def violated(claim) -> dict:
    return {a.key: dict(a.values) for a in claim.assumptions if a.check == "caveat"}


@pytest.mark.parametrize("n", range(1, 7))
def test_exact_resampling_is_every_resample_listed_one_by_one(n: int) -> None:
    drawn = resampling(n)
    listed: dict[tuple[int, ...], int] = {}
    for picks in itertools.product(range(n), repeat=n):
        counts = tuple(picks.count(i) for i in range(n))
        listed[counts] = listed.get(counts, 0) + 1
    found = {tuple(map(int, row)): p for row, p in zip(drawn.counts, drawn.probabilities, strict=True)}
    assert found.keys() == listed.keys() and drawn.exact
    assert all(found[counts] == pytest.approx(ways / n**n) for counts, ways in listed.items())


@pytest.mark.parametrize("n", [4, 5])
def test_exact_interval_by_sorting_all_means(n: int) -> None:
    """The wider order statistics around the 2.5 % tails of all n^n means."""
    row = np.random.default_rng(n).normal(size=n)
    means = np.sort([np.mean(picks) for picks in itertools.product(row, repeat=n)])
    index = math.ceil(0.025 * len(means)) - 1
    interval = mean_interval(row)
    assert interval is not None
    assert (interval.low, interval.high) == pytest.approx((means[index], means[-1 - index]))


@pytest.mark.parametrize("n", [8, 20])
def test_agrees_with_scipy(n: int) -> None:
    row = np.random.default_rng(n).gamma(2, size=n)
    witness = stats.bootstrap((row,), np.mean, method="percentile", n_resamples=20000, rng=1).confidence_interval
    interval = mean_interval(row)
    assert interval is not None
    width = witness.high - witness.low
    assert abs(interval.low - witness.low) < 0.05 * width and abs(interval.high - witness.high) < 0.05 * width


def test_by_hand() -> None:
    claim = mean_over_seeds("reach", {3: 10.0, 1: 20.0, 2: 60.0}, unit="size")
    assert (claim.value, claim.kind, claim.status, claim.unit) == (30.0, "measured", "holds", "size")
    assert claim.interval is not None and (claim.interval.low, claim.interval.high) == (10.0, 60.0), "27 resamples"
    evidence = claim.evidence
    assert evidence["seeds"] == [1, 2, 3] and evidence["values"] == [20.0, 60.0, 10.0] and evidence["n"] == 3
    assert evidence["resamples"] == 27 and evidence["sd"] == pytest.approx(math.sqrt(700))
    assert evidence["discarded"] == [] and evidence["rule"] == "all seeds are kept"
    assert violated(claim) == {"statistics.covers_about": {"n": 3, "noun": "seed", "share": 0.75}}
    assert str(claim.reference) == "efron1993, chapter 13"


def test_few_or_equal_seeds_are_said_to_show_no_spread() -> None:
    one = mean_over_seeds("m", {4: 0.5})
    assert one.value == 0.5 and one.interval is None and violated(one) == {"statistics.one": {"noun": "seed"}}
    none = mean_over_seeds("m", {}, discarded={4: 0.5}, rule="in range at least 90%")
    assert none.value is None and none.status == "unknown" and violated(none) == {"statistics.no_seed": {}}
    assert none.evidence["discarded"] == [4] and none.evidence["discarded_values"] == [0.5]
    assert violated(mean_over_seeds("m", as_seeds([0.1] * 5))) == {"statistics.equal": {"n": 5, "noun": "value"}}
    assert violated(mean_over_seeds("m", as_seeds(range(10)))) == {}
    few = violated(mean_over_seeds("m", as_seeds(range(4))))
    assert few == {"statistics.covers_about": {"n": 4, "noun": "seed", "share": 0.8}}


def test_discarded_seeds_and_lower_bounds_are_stated() -> None:
    claim = mean_over_seeds("reach", {0: 60, 1: 50}, discarded={7: math.nan}, rule="loss below 1", lower_bounds=1)
    assert claim.evidence["discarded"] == [7] and claim.evidence["discarded_values"] == [None]
    assert claim.evidence["rule"] == "loss below 1" and claim.evidence["lower_bounds"] == 1
    assert violated(claim)["statistics.lower_bounds"] == {"count": 1, "of": 2}
    json.dumps(claim.plain(), allow_nan=False)


@pytest.mark.parametrize(
    "given_values, options, sentence",
    [
        ({0: math.nan}, {}, "finite"),
        ({0: math.inf, 1: 1.0}, {}, "finite"),
        ({0: "many"}, {}, "real numbers"),
        ({0: None}, {}, "finite|real numbers"),
        ({0: [1.0, 2.0], 1: [1.0, 2.0]}, {}, "one row"),
        ({"a": 1.0}, {}, "whole number"),
        ({True: 1.0}, {}, "whole number"),
        ({0: 1.0}, {"discarded": {1: 0.0}}, "without a rule"),
        ({0: 1.0}, {"discarded": {0: 0.0}, "rule": "r"}, "both kept and discarded"),
        ({0: 1.0}, {"lower_bounds": 2}, "cannot be lower bounds"),
    ],
)
def test_wrong_input_gets_a_sentence(given_values, options, sentence) -> None:
    with pytest.raises(UsageError, match=sentence):
        mean_over_seeds("m", given_values, **options)


@given(values, st.floats(-1e6, 1e6), st.randoms())
@quick
def test_shift_negation_and_order(row, shift, random) -> None:
    claim = mean_over_seeds("m", as_seeds(row))
    near = pytest.approx
    slack = 1e-9 * (1 + max(map(abs, row)) + abs(shift))
    moved = mean_over_seeds("m", as_seeds([value + shift for value in row]))
    assert claim.interval and moved.interval
    assert moved.interval.low - shift == near(claim.interval.low, abs=slack)
    assert moved.interval.high - shift == near(claim.interval.high, abs=slack)
    assert min(row) <= claim.interval.low <= claim.interval.high <= max(row)
    shuffled = list(row)
    random.shuffle(shuffled)
    again = mean_over_seeds("m", as_seeds(shuffled))
    assert (again.value, again.interval) == (claim.value, claim.interval), "the order of seeds is no matter"
    if len(row) <= 6:
        mirrored = mean_interval(-np.array(row))
        assert mirrored and (-mirrored.high, -mirrored.low) == near(
            (claim.interval.low, claim.interval.high), abs=slack
        )


@given(st.lists(st.floats(-10, 10), min_size=1, max_size=30), st.floats(0.01, 0.99))
@quick
def test_percentile_ends_leave_at_most_a_tail_outside(row, level) -> None:
    numbers, mass = np.array(row), np.full(len(row), 1 / len(row))
    low, high = percentile_ends(numbers, mass, level)
    assert low <= high
    for outside in (numbers < low, numbers > high):
        assert mass[outside].sum() <= (1 - level) / 2 + 1e-9


@pytest.mark.parametrize("n", [3, 10])
def test_coverage_is_what_the_docstring_says(n: int) -> None:
    """1,000 studies: the standard error of the share is at most 1.4 %."""
    generator = np.random.default_rng(n)
    intervals = [mean_interval(generator.normal(size=n)) for _ in range(1000)]
    share = np.mean([0.0 in interval for interval in intervals if interval])
    assert abs(share - COVERAGE[n]) < 0.04


def test_importing_the_room_loads_neither_torch_nor_scipy() -> None:
    code = "import sys, lengthwise.statistics; print([m for m in ('torch', 'scipy') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.wording
def test_the_words_of_an_interval_from_few_seeds():
    (_, few) = mean_over_seeds("m", as_seeds([0.1, 0.2, 0.4])).assumptions
    assert few.statement == "an interval from 3 seeds covers about 75%"
