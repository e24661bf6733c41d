"""The contract of a metric: ours keep it, and things that are no metrics are caught."""

from dataclasses import dataclass, field

import numpy as np
import pytest

from lengthwise.testing import check_metric
from lengthwise.transport.metrics import Fitted, Metric, metrics
from lengthwise.transport.metrics.metric import broken_axiom
from lengthwise.transport.problem import VectorCost


@pytest.mark.parametrize(
    "spec",
    [
        "edit",
        "contour",
        "contour:cells=7,price=0",
        "features",
        "features:norm=cityblock",
        "features:use=length+max_depth",
        "ngrams",
        "ngrams:n=1",
        "ngrams:n=3,norm=hellinger",
    ],
)
def test_our_metrics_keep_the_contract(spec):
    check_metric(metrics.make(spec), seed=1)


@dataclass(frozen=True)
class Bent(Fitted):
    """The distances of another metric, changed."""

    base: Fitted | None = None
    change: object = None

    def distances(self, first, second):
        return self.change(self.base.distances(first, second), first, second)


@dataclass(frozen=True)
class Altered(Metric):
    """A metric that was changed into something else."""

    identity = True
    tokens = True
    fixed = True
    diameter = 1.0
    change: object = field(default=None)
    base: str = "edit"

    def fit(self, reference):
        return Bent("share", {}, metrics.make(self.base).fit(reference), self.change)


def lengths(sample):
    return np.array([len(t.tokens) for t in sample.trajectories], dtype=float)


def levenshtein_by_longer(table, first, second):
    one, two = lengths(first)[:, None], lengths(second)[None, :]
    edits = table * (one + two) / (2 - table)
    return edits / np.maximum(one, two)


WRONG = {
    "squared": (lambda table, first, second: table**2, "triangle"),
    "Levenshtein by the longer length": (levenshtein_by_longer, "triangle"),
    "lopsided": (lambda table, first, second: table * (lengths(first)[:, None] > lengths(second)), "the other way"),
    "away from itself": (lambda table, first, second: table + 0.1, "from itself"),
    "negative": (lambda table, first, second: -table, "below 0"),
    "not a number": (lambda table, first, second: np.where(table > 0.9, np.nan, table), "nan"),
    "blind": (lambda table, first, second: 0 * table, "identity is declared"),
    "too wide": (lambda table, first, second: 3 * table, "declared diameter"),
    "company": (lambda table, first, second: table * len(first.trajectories) / 300, "what else is measured"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_no_metric_is_caught(name):
    change, part = WRONG[name]
    with pytest.raises(AssertionError, match=part):
        check_metric(Altered(change))


def test_an_unchanged_metric_passes_the_same_way():
    check_metric(Altered(lambda table, first, second: table))


def test_a_metric_that_is_fitted_must_say_so():
    @dataclass(frozen=True)
    class Said(Altered):
        """Features, said to be fixed."""

        identity = False
        diameter = None
        base: str = "features"

    with pytest.raises(AssertionError, match="declared fixed"):
        check_metric(Said(lambda table, first, second: table))


def test_squared_distances_of_vectors_are_caught():
    x = np.random.default_rng(0).normal(size=(30, 2))
    cost = VectorCost(x, x).block(slice(None), slice(None))
    assert broken_axiom(cost) == ""
    assert "triangle" in broken_axiom(cost**2)
    assert "triangle" in broken_axiom(np.where(cost > 2, cost * 1.2, cost))


def test_a_counterexample_is_spelled_out():
    table = np.array([[0, 1, 5.0], [1, 0, 1], [5, 1, 0]])
    sentence = broken_axiom(table, ["ab", "aba", "ba"])
    assert "`ab` and `ba` are 5 apart" in sentence and "1 + 1 by way of `aba`" in sentence
