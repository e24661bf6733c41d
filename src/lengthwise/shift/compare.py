"""Measure a shift: from two samples and a metric to the distance, its noise and its explanation."""

from __future__ import annotations

import math
from pathlib import Path

from lengthwise.errors import UsageError
from lengthwise.shift import hidden  # noqa: F401  # registers the metric that needs a model
from lengthwise.shift.ground import Points, ground
from lengthwise.shift.noise import RESAMPLES, noise_claims, noise_of
from lengthwise.shift.result import Shift, Side, extremes, numbers, pairs, shares
from lengthwise.shift.samples import read_samples
from lengthwise.shift.sampling_error import distribution_distance, expected_distance
from lengthwise.transport.metrics import Metric, metrics
from lengthwise.transport.solving import solve
from lengthwise.transport.trajectories import Sample

METRIC = "features"
LEAST_RESAMPLES = 20


def measure_shift(
    first: str | Path | Sample,
    second: str | Path | Sample,
    metric: str | Metric = METRIC,
    *,
    fit_on: Sample | None = None,
    method: str = "auto",
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Shift:
    """How far the second sample is from the first, with a certificate, its noise and an explanation.

    Samples are given as they are (`task_sample` draws them from a task) or as two files of trajectories. `fit_on` is
    what the metric is standardised on, the first sample itself unless given; if it is independent of both samples, what
    is proved about them holds for metrics that need fitting too. `resamples` is how often samples are split and pooled
    to find the noise; `method` is one of `transport.solve`.
    """
    if resamples < LEAST_RESAMPLES:
        raise UsageError(f"the noise needs {LEAST_RESAMPLES} resamples or more to detect p = 0.05, not {resamples}")
    one, two = _samples(first, second)
    made = metrics.make(metric) if isinstance(metric, str) else metric
    placed = ground(made, made.fit(fit_on or one), one, two)
    found = solve(placed.problem, method=method)
    noise = noise_of(placed, seed, resamples)
    largest = max(noise.largest if noise else 0.0, placed.cost.largest())
    return Shift(
        first=_side(placed.first),
        second=_side(placed.second),
        metric=placed.spec,
        unit=placed.fitted.unit,
        facts=placed.fitted.facts,
        distance=found.claim(unit=placed.fitted.unit),
        noise=tuple(noise_claims(noise, placed.fitted.unit)),
        expected=expected_distance(placed, found, seed),
        distributions=distribution_distance(placed, found, seed, largest, independent=fit_on is not None),
        shares=shares(placed, found),
        numbers=tuple(numbers(placed)),
        pairs=tuple(pairs(placed, found)),
        extremes=tuple(extremes(placed, found)),
        unseen=_unseen(one, two),
        ground=placed,
        transported=found,
    )


def _samples(first: str | Path | Sample, second: str | Path | Sample) -> tuple[Sample, Sample]:
    if isinstance(first, Sample) and isinstance(second, Sample):
        return first, second
    if isinstance(first, Sample) or isinstance(second, Sample):
        raise UsageError("two files or two samples are compared, as texts of both are split by one rule")
    samples = read_samples(str(first), str(second))
    for sample in samples:
        if len(sample) == 1:
            raise UsageError(
                f"{sample.name} holds one trajectory, which shows no distribution; a file holds two or more"
            )
    return samples


def _side(points: Points) -> Side:
    sample = points.sample
    return Side(sample.name, len(sample), len(sample.trajectories), len(points.shown), sample.weighted)


def _unseen(first: Sample, second: Sample) -> float:
    """Share of the tokens of the second sample that the first never has."""
    shares = [
        weight * sum(token not in first.vocabulary for token in trajectory.tokens) / len(trajectory.tokens)
        for trajectory, weight in zip(second.trajectories, second.weights, strict=True)
    ]
    return math.fsum(shares)
