"""Pairs: the mean difference, the sign-flip p, and what few pairs can and cannot show."""

import itertools
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from lengthwise.errors import UsageError
from lengthwise.statistics.paired import FLIPS, paired_difference, paired_over_tasks, sign_flip_p

quick = settings(max_examples=40, deadline=None)  # a busy machine is no counterexample

differences = st.lists(st.integers(-50, 50), min_size=1, max_size=8)


def violated(claim) -> dict:
    return {a.key: dict(a.values) for a in claim.assumptions if a.check == "caveat"}


def test_by_hand() -> None:
    claim = paired_difference("rope - none", {0: 5, 1: 7, 2: 9, 8: 1}, {0: 4, 1: 5, 2: 6, 9: 1}, unit="size")
    assert claim.value == 2 and claim.kind == "measured" and claim.unit == "size"
    assert claim.interval and (claim.interval.low, claim.interval.high) == (1, 3)
    evidence = claim.evidence
    assert evidence["seeds"] == [0, 1, 2] and evidence["only_first"] == [8] and evidence["only_second"] == [9]
    assert evidence["p_value"] == 0.25 == evidence["smallest_p"], "the most extreme of eight patterns, and its mirror"
    assert evidence["mean_first"] == 7 and evidence["mean_second"] == 5
    assert violated(claim)["paired.unpaired"] == {"noun": "seed", "names": "8, 9"}
    assert violated(claim)["paired.insignificant"] == {"n": 3, "noun": "seed", "smallest": 0.25}
    json.dumps(claim.plain(), allow_nan=False)


@pytest.mark.parametrize("n", range(1, 12))
def test_the_smallest_p_is_reached_and_not_passed(n: int) -> None:
    claim = paired_difference("d", {i: 1.0 + i for i in range(n)}, dict.fromkeys(range(n), 0.0))
    assert claim.evidence["p_value"] == pytest.approx(2 / 2**n)
    assert ("paired.insignificant" in violated(claim)) == (n < 6), "five seeds: 0.0625; six: 0.03125"


@given(differences)
@quick
def test_exact_p_by_listing_every_pattern_in_whole_numbers(row) -> None:
    seen = abs(sum(row))
    flips = [
        abs(sum(s * d for s, d in zip(signs, row, strict=True)))
        for signs in itertools.product((1, -1), repeat=len(row))
    ]
    # A tenth is no binary fraction: equal sums must stay equal after rounding.
    assert sign_flip_p(np.array(row) / 10)[0] == sum(flip >= seen for flip in flips) / len(flips)


@pytest.mark.parametrize("n", [5, 11, 14])
def test_exact_p_agrees_with_scipy(n: int) -> None:
    row = np.random.default_rng(n).normal(0.4, 1, size=n)
    witness = stats.permutation_test((row,), np.mean, permutation_type="samples", n_resamples=np.inf).pvalue
    assert sign_flip_p(row) == (pytest.approx(witness), 2**n)


def test_sampled_p_agrees_with_the_exact_law() -> None:
    """Twenty differences of size one: the sum is binomial."""
    row = np.array([1.0] * 15 + [-1.0] * 5)
    p_value, patterns = sign_flip_p(row)
    truth = stats.binomtest(15, 20).pvalue
    assert patterns == FLIPS and abs(p_value - truth) < 5 * np.sqrt(truth / FLIPS)
    assert sign_flip_p(np.ones(60))[0] == 1 / (FLIPS + 1), "a sampled p is never zero"
    assert sign_flip_p(row[::-1].copy())[0] == p_value


def test_the_test_keeps_its_level() -> None:
    """Under no difference p <= 0.05 in at most 5 % of studies (1,000 of them: standard error 0.7 %)."""
    generator = np.random.default_rng(3)
    share = np.mean([sign_flip_p(generator.standard_t(3, size=8))[0] <= 0.05 for _ in range(1000)])
    assert 0.025 < share < 0.07


@given(st.dictionaries(st.integers(0, 20), st.floats(-1e3, 1e3), min_size=1, max_size=7), st.floats(-1e3, 1e3))
@quick
def test_invariances(first, shift) -> None:
    second = {seed: (seed * 37 % 11) / 7 for seed in first}
    claim = paired_difference("d", first, second)
    swapped = paired_difference("d", second, first)
    near = pytest.approx
    assert swapped.value == near(-claim.value) and swapped.evidence["p_value"] == claim.evidence["p_value"]
    both = ({s: v + shift for s, v in row.items()} for row in (first, second))
    moved = paired_difference("d", *both)
    assert moved.value == near(claim.value, abs=1e-8), "what is added to both cancels"
    renamed = paired_difference("d", *({100 - s: v for s, v in row.items()} for row in (first, second)))
    assert (renamed.value, renamed.interval) == (claim.value, claim.interval)
    assert renamed.evidence["p_value"] == claim.evidence["p_value"]
    if claim.interval and len(first) <= 6:
        assert swapped.interval and swapped.interval.low == near(-claim.interval.high, abs=1e-9)


def test_no_common_seed_and_no_difference() -> None:
    apart = paired_difference("d", {0: 1.0}, {1: 1.0})
    assert apart.status == "unknown" and apart.value is None and "paired.none" in violated(apart)
    same = paired_difference("d", dict.fromkeys(range(7), 0.5), dict.fromkeys(range(7), 0.5))
    assert same.value == 0 and same.evidence["p_value"] == 1 and same.evidence["zero_differences"] == 7
    one = paired_difference("d", {0: 1.0}, {0: 0.0}, discarded=[5], rule="learned")
    assert one.interval is None and one.evidence["p_value"] == 1 and one.evidence["discarded"] == [5]


def test_pairs_of_tasks() -> None:
    first, second = {"sort": 1.0, "parity": 0.5, "copy": 0.75}, {"sort": 0.5, "parity": 0.5, "dyck": 0.1}
    claim = paired_over_tasks("d", first, second, rule="learned")
    assert claim.value == 0.25 and claim.evidence["tasks"] == ["parity", "sort"] and claim.evidence["n"] == 2
    assert claim.evidence["only_first"] == ["copy"] and claim.evidence["only_second"] == ["dyck"]
    assert claim.evidence["rule"] == "learned"
    assert violated(claim)["paired.unpaired"] == {"noun": "task", "names": "copy, dyck"}
    json.dumps(claim.plain(), allow_nan=False)


@pytest.mark.parametrize(
    "call, sentence",
    [
        (lambda: paired_over_tasks("d", {0: 1.0}, {0: 1.0}), "by name"),
        (lambda: paired_difference("d", {"a": 1.0}, {"a": 1.0}), "whole number"),
        (lambda: paired_difference("d", {0: float("nan")}, {0: 1.0}), "finite"),
        (lambda: paired_difference("d", {0: 1.0}, {0: 1.0}, discarded=[0], rule="r"), "both kept and discarded"),
    ],
)
def test_wrong_input_gets_a_sentence(call, sentence) -> None:
    with pytest.raises(UsageError, match=sentence):
        call()
