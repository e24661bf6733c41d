"""The ground metrics: each against an independent computation, and its settings."""

import itertools
from functools import lru_cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lengthwise.errors import UnknownName, UsageError
from lengthwise.transport.metrics import metrics
from lengthwise.transport.metrics.features import STATISTICS, statistics
from lengthwise.transport.trajectories import Sample, Trajectory

WORDS = st.lists(st.sampled_from("()ab"), min_size=1, max_size=12).map(tuple)


def sample(*words: str | tuple[str, ...], **settings) -> Sample:
    return Sample.of([Trajectory(tuple(word.split()) if isinstance(word, str) else word) for word in words], **settings)


def distance(spec: str, one, two, fitted_on=None) -> float:
    fitted = metrics.make(spec).fit(fitted_on or sample(one))
    return float(fitted.distances(sample(one), sample(two))[0, 0])


def levenshtein(one: tuple[str, ...], two: tuple[str, ...]) -> int:
    @lru_cache(None)
    def edits(i: int, j: int) -> int:
        if not i or not j:
            return i + j
        return min(edits(i - 1, j) + 1, edits(i, j - 1) + 1, edits(i - 1, j - 1) + (one[i - 1] != two[j - 1]))

    return edits(len(one), len(two))


@given(WORDS, WORDS)
def test_edit_agrees_with_a_recursion(one, two):
    edits = levenshtein(one, two)
    assert distance("edit", one, two) == pytest.approx(2 * edits / (len(one) + len(two) + edits), abs=1e-15)


def test_edit_knows_tokens_from_letters():
    assert distance("edit", "ab", "a b") == pytest.approx(2 * 2 / (1 + 2 + 2))
    assert distance("edit", "a", "z") == 1 / 1.5, "one replacement of one token"


def test_edit_tells_many_tokens_apart():
    words = [(f"w{index}",) for index in range(60_000)]
    found = metrics.make("edit").fit(sample("a")).distances(sample(words[0], words[-1]), sample(*words[-2:], words[0]))
    assert (found == 0).tolist() == [[False, False, True], [False, True, False]]


def test_dividing_by_the_longer_length_is_no_metric_but_ours_is():
    ratio = lambda x, y: levenshtein(tuple(x), tuple(y)) / max(len(x), len(y))  # noqa: E731
    assert ratio("ab", "ba") > ratio("ab", "aba") + ratio("aba", "ba")
    words = [word for length in range(1, 5) for word in itertools.product("ab", repeat=length)]
    table = metrics.make("edit").fit(sample("a")).distances(sample(*words), sample(*words))
    assert (table[:, None, :] <= table[:, :, None] + table[None, :, :] + 1e-12).all()


def step_integral(one: np.ndarray, two: np.ndarray) -> float:
    """The integral of |p - q| of two step functions on [0, 1], over the cells of both."""
    ends = np.union1d(np.arange(len(one) + 1) / len(one), np.arange(len(two) + 1) / len(two))
    middles = (ends[1:] + ends[:-1]) / 2
    gaps = np.abs(one[(middles * len(one)).astype(int)] - two[(middles * len(two)).astype(int)])
    return float(gaps @ np.diff(ends))


@given(WORDS, WORDS, st.sampled_from([0.0, 0.1, 2.0]))
def test_contour_is_the_integral_between_profiles(one, two, price):
    anchor = sample("( )")
    profiles = [Trajectory(word).profile() for word in (one, two)]
    wanted = step_integral(*profiles) + price * abs(len(one) - len(two))
    cells = int(np.lcm(len(one), len(two)))
    assert distance(f"contour:cells={cells},price={price}", one, two, anchor) == pytest.approx(wanted, abs=1e-12)
    assert distance(f"contour:cells=7,price={price}", one, two, anchor) <= wanted + 1e-12, "averaging only shortens"


def test_contour_needs_a_depth():
    with pytest.raises(UsageError, match="neither brackets nor a 'depth'"):
        metrics.make("contour").fit(sample("3 1 2", name="numbers"))
    metrics.make("contour").fit(Sample.of([Trajectory(("a",), depth=(1.0,))]))


@given(WORDS, WORDS, st.integers(1, 3), st.sampled_from(["variation", "hellinger"]))
def test_ngrams_agree_with_counting(one, two, n, norm):
    def frequencies(word):
        marked = [None] * (n - 1) + list(word) + [None] * (n - 1)
        runs = [tuple(marked[at : at + n]) for at in range(len(marked) - n + 1)]
        return {run: runs.count(run) / len(runs) for run in runs}

    p, q = frequencies(one), frequencies(two)
    pairs = [(p.get(run, 0), q.get(run, 0)) for run in {*p, *q}]
    wanted = (
        sum(abs(a - b) for a, b in pairs) / 2
        if norm == "variation"
        else np.sqrt(sum((np.sqrt(a) - np.sqrt(b)) ** 2 for a, b in pairs) / 2)
    )
    assert distance(f"ngrams:n={n},norm={norm}", one, two) == pytest.approx(wanted, abs=1e-12)


def test_a_token_that_looks_like_an_edge_is_none():
    assert distance("ngrams", "· a", "a ·") > 0


def tree(rng: np.random.Generator, deep: int) -> list:
    return [tree(rng, deep - 1) for _ in range(rng.integers(0, 4))] if deep else []


def brackets(children: list) -> list[str]:
    return [token for child in children for token in ("(", *brackets(child), ")")]


def inner(children: list) -> int:
    return bool(children) + sum(map(inner, children))


def nodes(children: list) -> int:
    return len(children) + sum(map(nodes, children))


def leaves(children: list) -> int:
    return sum(leaves(child) if child else 1 for child in children)


@given(st.integers(0, 10_000))
def test_numbers_of_a_walk_are_those_of_its_tree(seed):
    root = tree(np.random.default_rng(seed), 4)
    word = brackets(root)
    if not word:
        return
    found = dict(zip(STATISTICS, statistics(Trajectory(tuple(word))), strict=True))
    assert found["branching"] == pytest.approx(nodes(root) / inner(root))
    assert found["backtracks"] == leaves(root), "the walk turns back once at every leaf"
    assert found["length"] == len(word) and found["distinct"] == 2


def test_features_are_measured_in_spreads_of_the_first_sample():
    words = sample("a b", "a b c d")  # lengths 2 and 4: a spread of 1
    fitted = metrics.make("features:use=length").fit(words)
    assert fitted.distances(words, sample("a b c d e f g")).tolist() == [[5], [3]]
    assert fitted.facts["scales"] == {"length": 1.0} and fitted.unit == "training spreads"
    assert fitted.facts["constant_there"] == []


def test_constant_features_are_named_and_measured_in_their_value():
    fitted = metrics.make("features").fit(sample("a b", "b a", name="short"))
    placed = fitted.vectors(sample("a b"), sample("( a ) b c c"))
    moved = dict(zip(placed.names, placed.second[0] - placed.first[0], strict=True))
    assert moved["length"] == 2 and moved["distinct"] == 1.5, "6 tokens are 2 times 2 more than 2"
    assert moved["max_depth"] == 1, "what is 0 in training stays as it is"
    assert fitted.facts["constant_there"] == list(STATISTICS) and fitted.facts["standardised_on"] == "short"
    assert fitted.unit == "training values"


def test_features_of_the_user_count():
    own = [Trajectory(("a",), features=(("nodes", float(value)),)) for value in (0, 10)]
    fitted = metrics.make("features:use=nodes").fit(Sample.of(own))
    assert fitted.distances(Sample.of(own[:1]), Sample.of(own[1:])).tolist() == [[2]]
    with pytest.raises(UsageError, match="no feature 'nodes'"):
        fitted.distances(Sample.of(own), sample("a"))


def test_features_differ_from_line_to_line():
    mixed = Sample.of([Trajectory(("a",), features=(("x", 1.0),)), Trajectory(("b",))], name="mixed")
    with pytest.raises(UsageError, match="the same features"):
        metrics.make("features").fit(mixed)
    clash = Sample.of([Trajectory(("a",), features=(("length", 1.0),))])
    with pytest.raises(UsageError, match="another name"):
        metrics.make("features").fit(clash)


@pytest.mark.parametrize(
    "spec, part",
    [
        ("edti", "did you mean 'edit'"),
        ("features:use=lenght", "did you mean 'length'"),
        ("ngrams:n=0", "1 token or more"),
        ("ngrams:norm=max", "variation, hellinger"),
        ("contour:cells=0", "1 to 10000"),
        ("contour:price=-1", "from 0 on"),
        ("edit:n=2", "no setting 'n'"),
    ],
)
def test_wrong_specs_are_told(spec, part):
    with pytest.raises((UsageError, UnknownName), match=part):
        metrics.make(spec).fit(sample("( )"))
