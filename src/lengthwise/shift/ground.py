"""Two samples in one metric: the transport problem between them, with points that coincide merged."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.registry import format_spec
from lengthwise.seeds import Floats, Ints, Seeds
from lengthwise.transport.metrics import Fitted, FittedVectors, Metric, Vectors, metrics
from lengthwise.transport.metrics.metric import broken_axiom
from lengthwise.transport.problem import Cost, MatrixCost, TransportProblem, VectorCost
from lengthwise.transport.trajectories import Sample

_AXIOM_POINTS = 60  # of each sample; every triple of them is examined


@dataclass(frozen=True, eq=False)
class Points:
    """The points of one sample: `shown[p]` is a distinct trajectory that lies at point p, `of_item[i]` the point of
    item i, `weights[p]` what the items there weigh together."""

    sample: Sample
    shown: Ints
    of_item: Ints
    weights: Floats


@dataclass(frozen=True, eq=False)
class Ground:
    """Two samples, the fitted metric, and the cost between their points. `vectors` is None unless the metric embeds."""

    metric: Metric
    fitted: Fitted
    first: Points
    second: Points
    cost: Cost
    vectors: Vectors | None

    @property
    def problem(self) -> TransportProblem:
        return TransportProblem(self.cost, self.first.weights, self.second.weights)

    @functools.cached_property
    def spec(self) -> str:
        """The metric and its settings, as a user would write them."""
        spec = metrics.spec_of(self.metric)
        return format_spec(spec) if spec else type(self.metric).__name__


def ground(metric: Metric, fitted: Fitted, first: Sample, second: Sample) -> Ground:
    """The two samples as a transport problem, after making sure that the metric is one and has something to compare."""
    _check_tokens(metric, first, second)
    _check_axioms(metric, fitted, first, second)
    if isinstance(fitted, FittedVectors):
        placed = fitted.vectors(first, second)
        VectorCost(placed.first, placed.second, placed.norm)  # refuses what is not a finite number
        one, x = _merged(first, placed.first)
        two, y = _merged(second, placed.second)
        vectors = Vectors(x, y, placed.names, placed.norm)
        return Ground(metric, fitted, one, two, VectorCost(x, y, placed.norm), vectors)
    one, two = (Points(s, np.arange(len(s.trajectories)), s.owner, s.weights) for s in (first, second))
    return Ground(metric, fitted, one, two, MatrixCost(fitted.distances(first, second)), None)


def pooled_distances(fitted: Fitted, first: Sample, second: Sample) -> tuple[Floats, Ints, Ints]:
    """The distances among the points of both samples together, [p, p], and the point of each item of either.

    Points at distance 0 are one point, which they may be because the triangle inequality makes all their distances
    alike.
    """
    trajectories = (*first.trajectories, *second.trajectories)
    distinct = {trajectory: place for place, trajectory in enumerate(dict.fromkeys(trajectories))}
    pool = Sample.of(distinct, name="both", glue=first.glue)
    distances = fitted.distances(pool, pool)
    kept, point = np.unique((distances <= 0).argmax(axis=1), return_inverse=True)
    place = [np.array([point[distinct[t]] for t in sample.trajectories])[sample.owner] for sample in (first, second)]
    return distances[np.ix_(kept, kept)], place[0], place[1]


def _merged(sample: Sample, vectors: Floats) -> tuple[Points, Floats]:
    """Trajectories with the same vector are one point."""
    rows, shown, point = np.unique(vectors, axis=0, return_index=True, return_inverse=True)
    point = point.reshape(-1)
    weights = np.bincount(point, sample.weights, len(rows))
    return Points(sample, shown, point[sample.owner], weights / math.fsum(weights)), rows


def _check_tokens(metric: Metric, first: Sample, second: Sample) -> None:
    if metric.tokens and not first.vocabulary & second.vocabulary:
        a, b = (f"{s.name} ({', '.join(sorted(s.vocabulary)[:3])}, …)" for s in (first, second))
        raise UsageError(
            f"{a} and {b} share no token, so a metric that compares tokens cannot compare them; "
            "write them in one vocabulary, or use the metric `features`"
        )


def _check_axioms(metric: Metric, fitted: Fitted, first: Sample, second: Sample) -> None:
    """Refuse what is no metric: the certificate would hold, and the number would mean nothing."""
    rng = np.random.default_rng(Seeds(0).key("axioms"))
    some = [s.part(rng.permutation(len(s))[:_AXIOM_POINTS]) for s in (first, second)]
    pool = Sample.of(dict.fromkeys(t for s in some for t in s.trajectories), name="both", glue=first.glue)
    names = [pool.text(index)[:40] for index in range(len(pool.trajectories))]
    if broken := broken_axiom(fitted.distances(pool, pool), names):
        raise UsageError(f"{type(metric).__name__} is not a metric: {broken}")
