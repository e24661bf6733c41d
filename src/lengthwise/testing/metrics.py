"""The contract of a ground metric, as a test that looks for counterexamples."""

from __future__ import annotations

import itertools
import json
from typing import Any

import numpy as np

from lengthwise.seeds import Seeds
from lengthwise.testing.rules import check_settings
from lengthwise.transport.metrics.metric import broken_axiom
from lengthwise.transport.trajectories import Sample, Trajectory

_SLACK = 1e-9  # of the largest distance
_RANDOM, _MUTANTS = 60, 3


def check_metric(metric: Any, sample: Sample | None = None, seed: int = 0) -> None:
    """Raise AssertionError unless `metric` keeps the contract of `lengthwise.transport.metrics.metric.Metric`.

    Checked on all triples of some 250 trajectories (15 million): distances are finite, at least 0, symmetric, 0 from a
    trajectory to itself and keep the triangle inequality up to rounding; with `identity`, different tokens are never at
    distance 0; no distance is above the declared diameter; `fixed` means that another fitting sample changes nothing;
    a distance does not depend on what else is measured. `sample` replaces the trajectories, which otherwise are all
    words of up to four of two brackets and a letter, and random words with changed copies of them, where triangles are
    tight.
    """
    check_settings(metric, "a metric", "identity", "tokens", "fixed")
    words = sample if sample is not None else Sample.of(_words(seed), name="words")
    fitted = metric.fit(words)
    assert fitted.unit, "a fitted metric says what a distance of 1 is"
    json.dumps(dict(fitted.facts), allow_nan=False)  # plain data, as it is part of every result
    distances = fitted.distances(words, words)
    broken = broken_axiom(distances, [" ".join(t.tokens) for t in words.trajectories])
    assert not broken, broken
    _check_identity(metric, words, distances)
    if metric.diameter is not None:
        assert distances.max() <= metric.diameter + _SLACK, (
            f"the declared diameter is {metric.diameter}, and {distances.max():.6g} was found"
        )
    _check_independence(metric, fitted, words, distances)


def _check_identity(metric: Any, words: Sample, distances: Any) -> None:
    tokens = [trajectory.tokens for trajectory in words.trajectories]
    for x, y in zip(*np.nonzero(distances <= 0), strict=True):
        assert not metric.identity or tokens[x] == tokens[y], (
            f"identity is declared, yet `{' '.join(tokens[x])}` and `{' '.join(tokens[y])}` are at distance 0"
        )


def _check_independence(metric: Any, fitted: Any, words: Sample, distances: Any) -> None:
    """Distances do not depend on their company, nor (where that is declared) on the sample that was fitted."""
    slack = _SLACK * max(1e-300, float(distances.max()))
    some = np.arange(0, len(words.trajectories), 3)
    part = Sample.of([words.trajectories[index] for index in some], name="part")
    alone = fitted.distances(part, words)
    assert np.abs(alone - distances[some]).max() <= slack, "a distance depends on what else is measured with it"
    cost = fitted.cost(part, words)
    rows, columns = np.arange(len(some)), np.arange(len(some))
    assert np.abs(cost.pairs(rows, columns) - alone[rows, columns]).max() <= slack, "the cost is not the distance"
    if metric.fixed:
        other = metric.fit(part).distances(words, words)
        assert np.abs(other - distances).max() <= slack, "it is declared fixed, yet the sample it is fitted on matters"


def _words(seed: int) -> list[Trajectory]:
    """All short words of `(`, `)` and `a`, then long ones with copies in which some tokens are changed."""
    short = [word for length in range(1, 5) for word in itertools.product("()a", repeat=length)]
    rng = np.random.default_rng(Seeds(seed).key("words"))
    long = []
    for _ in range(_RANDOM // (1 + _MUTANTS) * 2):
        word = [str(token) for token in rng.choice(list("()[]abc"), size=rng.integers(3, 30))]
        long.append(tuple(word))
        for _ in range(_MUTANTS):
            word = _changed(word, rng)
            long.append(tuple(word))
    return [Trajectory(word) for word in dict.fromkeys([*short, *long])]


def _changed(word: list[str], rng: np.random.Generator) -> list[str]:
    """A copy with up to three tokens inserted, left out or replaced."""
    copy = list(word)
    for _ in range(rng.integers(1, 4)):
        at = int(rng.integers(0, len(copy)))
        change = rng.integers(0, 3)
        if change == 0:
            copy.insert(at, str(rng.choice(list("()ab"))))
        elif change == 1 and len(copy) > 1:
            del copy[at]
        else:
            copy[at] = str(rng.choice(list("()ab")))
    return copy
