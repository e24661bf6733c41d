"""An interval for the distance of two distributions, where items can be redrawn.

P and Q are the distributions, P_n and Q_m samples, (f, g) the potentials of their optimal plan, P' and Q' further items
that the potentials have not seen. phi(x) = min_j c(x, y_j) - g_j is 1-Lipschitz by the triangle inequality and agrees
with f on P_n; psi(y) = min_i c(x_i, y) - phi(x_i) agrees with g on Q_m.

*From below.* By duality the mean of phi under P less its mean under Q is at most W1(P, Q). The means over P' and Q'
estimate it without bias, as phi does not depend on them, with the usual error of a difference of means.

*From above.* W1(P, Q) is at most the mean of W1(P_n, Q_m) (see `sampling_error.py`), and W1(P_n, Q_m) is below its
own mean by a few standard deviations at most. Its variance is bounded by the inequality of Efron and Stein,

    Var Z <= sum over items of E max(0, Z - Z')^2,          Z' being Z with that item redrawn        (boucheron2013)

Exchanging x_i for x' leaves (phi, g) potentials of the new problem, so Z - Z' <= (phi(x_i) - phi(x')) / n, and
in the same way (g_j - psi(y')) / m; the items of P' and Q' are the x' and y'. What is assumed and not proved is that
both deviations are like those of a normal variable.

How often it covers W1(P, Q) in simulations: docs/shift.md.
"""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np

from lengthwise.records import Interval
from lengthwise.seeds import Floats
from lengthwise.shift.ground import Ground
from lengthwise.transport.solving import Transported
from lengthwise.transport.trajectories import Sample


def held_out_interval(
    ground: Ground, found: Transported, first: Sample, second: Sample, level: float = 0.95
) -> Interval:
    """The interval of W1(P, Q) from the samples of `ground`, the plan `found` between them, and further items of P
    (`first`) and of Q (`second`). It always holds the distance of the samples. O(n m) distances, four times."""
    one, two, fitted = ground.first, ground.second, ground.fitted
    spread = NormalDist().inv_cdf((1 + level) / 2)
    distance = found.certificate.primal
    phi_first = _extended(fitted.distances(first, two.sample)[:, two.shown], found.solution.g)
    phi_second = _extended(fitted.distances(second, two.sample)[:, two.shown], found.solution.g)
    gained, error = _difference(phi_first, first, phi_second, second)
    psi = _extended(fitted.distances(second, one.sample)[:, one.shown], found.solution.f)
    moved = _exchanged(found.solution.f, one.weights, phi_first, first.weights) / len(one.sample)
    moved += _exchanged(found.solution.g, two.weights, psi, second.weights) / len(two.sample)
    low = min(max(0.0, gained - spread * error), distance)
    return Interval(low, distance + spread * math.sqrt(moved), level, "held-out potential, Efron-Stein")


def _extended(distances: Floats, potential: Floats) -> Floats:
    """The largest 1-Lipschitz function that, with the potential of the other side, is nowhere above the distance."""
    return (distances - potential).min(axis=1)


def _difference(values: Floats, first: Sample, others: Floats, second: Sample) -> tuple[float, float]:
    """The difference of two means, and its standard error."""
    means, variance = [], 0.0
    for found, sample in ((values, first), (others, second)):
        mean = float(found @ sample.weights)
        means.append(mean)
        variance += float((found - mean) ** 2 @ sample.weights) / (len(sample) - 1)
    return means[0] - means[1], math.sqrt(variance)


def _exchanged(seen: Floats, weights: Floats, fresh: Floats, others: Floats) -> float:
    """The mean square of how far a potential falls when a fresh item takes the place of one that it was found on."""
    return float(weights @ np.maximum(0.0, seen[:, None] - fresh[None, :]) ** 2 @ others)
