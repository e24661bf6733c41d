"""What two samples show about the distributions they come from.

Write P, Q for the distributions, P_n, Q_m for samples of n and m items, D for the diameter of what they can hold.

*Interval of the expected distance.* The potentials f, g of an optimal plan are kept and the items are redrawn: the
sum of the means of f and g then varies as W1(P_n, Q_m) does. (delbarrio2021 prove that, for the p-th power of the
distance with p > 1, the cost is asymptotically normal around its mean with the variance of the potentials; for p = 1
it is measured here.) The interval is for the mean of W1(P_n, Q_m), which is above W1(P, Q), the more so in many
dimensions. No bootstrap is an interval of W1(P, Q): docs/how-to/shift.md has the simulations.

*Bounds on W1(P, Q), whatever the dimension.* Exchanging one item of P_n moves W1(P_n, Q_m) by at most D/n, so with
probability 1 - delta it is at least its mean less t = D sqrt((1/n + 1/m) log(1/delta) / 2) (mcdiarmid1989, lemma 1.2).
And W1(P, Q) is at most that mean: a supremum of expectations is at most the expectation of the supremum, taken over
1-Lipschitz functions. Hence W1(P, Q) <= W1(P_n, Q_m) + t; no rate of convergence is needed. From below, a potential
found on one part of the items, extended to all trajectories by phi(x) = min_j c(x, y_j) - g_j, is 1-Lipschitz by the
triangle inequality. On the other items, which it has not seen, the difference of its means is at most W1(P, Q) on
average, and deviates by more than t (with their n and m) with probability delta at most.

*An interval of W1(P, Q) where items can be redrawn*, for the levels of a ladder. P' and Q' are further items that the
potentials (f, g) have not seen, phi is as above and agrees with f on P_n, and psi(y) = min_i c(x_i, y) - phi(x_i)
agrees with g on Q_m.

*From below.* By duality the mean of phi under P less its mean under Q is at most W1(P, Q). The means over P' and Q'
estimate it without bias, as phi does not depend on them, with the usual error of a difference of means.

*From above.* W1(P, Q) is at most the mean of W1(P_n, Q_m), as above, and W1(P_n, Q_m) is below its
own mean by a few standard deviations at most. Its variance is bounded by the inequality of Efron and Stein,

    Var Z <= sum over items of E max(0, Z - Z')^2,          Z' being Z with that item redrawn        (boucheron2013)

Exchanging x_i for x' leaves (phi, g) potentials of the new problem, so Z - Z' <= (phi(x_i) - phi(x')) / n, and
in the same way (g_j - psi(y')) / m; the items of P' and Q' are the x' and y'. What is assumed and not proved is that
both deviations are like those of a normal variable.

How often it covers W1(P, Q) in simulations: docs/how-to/shift.md.
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any

import numpy as np

from lengthwise.messages import explain
from lengthwise.records import Assumption, Claim, Interval, Reference
from lengthwise.seeds import Floats, Seeds
from lengthwise.shift.ground import Ground
from lengthwise.transport.problem import TransportProblem
from lengthwise.transport.solving import Transported, solve
from lengthwise.transport.trajectories import Sample

explain(
    {
        "shift.expected": "mean W1 of such samples",
        "shift.distributions": "W1 of the distributions",
        "shift.spread": "one item shows no spread",
        "shift.optimal": "the potentials are optimal",
        "shift.independent": "the items of a sample are drawn independently",
        "shift.potentials": "W1 varies from sample to sample as its potentials do, which was simulated and not proved",
        "shift.same_weight": "all items of a sample have the same weight",
        "shift.enough": "both samples have 4 items or more",
        "shift.certified": "the distance is certified",
        "shift.diameter": "no two trajectories are further apart than {diameter:.4g}",
        "shift.metric_fixed": "the metric does not depend on these samples",
    }
)
LEVEL = 0.95
_REDRAWN = 2000
_AT_ONCE = 2_000_000
_SEEN = 400  # items of either sample on which the potential of the lower bound is found, at most half of them


def expected_distance(ground: Ground, found: Transported, seed: int) -> Claim:
    """The distance with the interval of its mean over samples of this size."""
    reference = Reference("delbarrio2024", "theorem 1.1")
    key, unit = "shift.expected", ground.fitted.unit
    sizes = [len(ground.first.sample), len(ground.second.sample)]
    evidence = {"items": sizes, "redrawn": _REDRAWN, "level": LEVEL, "gap": found.certificate.gap}
    if min(sizes) < 2 or found.certificate.status == "refused":
        if min(sizes) < 2:
            status, why = "unknown", Assumption("shift.spread", "caveat")
        else:
            status, why = "refused", Assumption("shift.optimal", "violated")
        return Claim(key, None, unit, "measured", status, None, (why,), reference, evidence)
    rng = np.random.default_rng(Seeds(seed).key("redrawn"))
    value = found.certificate.primal
    moves = sum(
        _redrawn_means(potential[points.of_item], points.sample.item_weights, rng)
        for potential, points in ((found.solution.f, ground.first), (found.solution.g, ground.second))
    )
    low, high = np.quantile(moves, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    method = f"bootstrap of the potentials, {_REDRAWN} resamples"
    interval = Interval(max(0.0, value + float(low)), max(0.0, value + float(high), value), LEVEL, method)
    assumptions = (Assumption("shift.independent"), Assumption("shift.potentials"))
    return Claim(key, value, unit, "measured", "holds", interval, assumptions, reference, evidence)


def _redrawn_means(values: Floats, weights: Floats, rng: np.random.Generator) -> Floats:
    """How far the weighted mean moves when the items are redrawn with replacement."""
    count, mean = len(values), float(values @ weights)
    means = []
    for start in range(0, _REDRAWN, rows := max(1, _AT_ONCE // count)):
        items = rng.integers(0, count, (min(rows, _REDRAWN - start), count))
        drawn = weights[items]
        means.append((values[items] * drawn).sum(axis=1) / drawn.sum(axis=1) - mean)
    return np.concatenate(means)


def distribution_distance(ground: Ground, found: Transported, seed: int, largest: float, independent: bool) -> Claim:
    """Bounds on the distance of the two distributions. `largest` is the largest distance seen, which stands in for the
    diameter where the metric has none; `independent` says that the metric was fitted on other items."""
    key, unit = "shift.distributions", ground.fitted.unit
    one, two = ground.first.sample, ground.second.sample
    reference = Reference("mcdiarmid1989", "lemma 1.2")
    needs = [
        ("shift.same_weight", not (one.weighted or two.weighted)),
        ("shift.enough", min(len(one), len(two)) >= 4),
        ("shift.certified", found.certificate.status == "holds"),
    ]
    missing = tuple(Assumption(need, "violated") for need, met in needs if not met)
    if missing:
        return Claim(key, None, unit, "proved", "unknown", None, missing, reference, {"level": LEVEL})
    bounded = ground.metric.diameter is not None
    diameter = ground.metric.diameter if ground.metric.diameter is not None else largest
    low, high, evidence = _bounds(ground, found, seed, float(diameter))
    fitted_apart = ground.metric.fixed or independent
    assumptions = (
        Assumption("shift.independent"),
        Assumption("shift.diameter", "checked" if bounded else "assumed", {"diameter": float(diameter)}),
        Assumption("shift.metric_fixed", "checked" if fitted_apart else "violated"),
    )
    proved = bounded and fitted_apart
    vacuous = low <= 0 and high >= diameter
    interval = Interval(low, min(high, max(diameter, low)), LEVEL, "McDiarmid, held-out witness")
    return Claim(
        key,
        None if vacuous else found.certificate.primal,
        unit,
        "proved" if proved else "heuristic",
        "vacuous" if vacuous else "holds",
        interval,
        assumptions,
        reference,
        {**evidence, "level": LEVEL, "diameter": diameter, "diameter_is": "proved" if bounded else "observed"},
    )


def _bounds(ground: Ground, found: Transported, seed: int, diameter: float) -> tuple[float, float, dict[str, Any]]:
    one, two, delta = ground.first.sample, ground.second.sample, (1 - LEVEL) / 2
    above = deviation(len(one), len(two), diameter, delta)
    rng = np.random.default_rng(Seeds(seed).key("witness"))
    seen, held = [], []
    for sample in (one, two):
        order = rng.permutation(len(sample))
        cut = min(_SEEN, len(sample) // 2)
        seen.append(sample.part(order[:cut]))
        held.append(sample.part(order[cut:]))
    witnessed = held_out_difference(ground, *seen, *held)
    below = deviation(len(held[0]), len(held[1]), diameter, delta)
    evidence = {"added_above": above, "witnessed": witnessed, "taken_off_below": below, "held_out": len(held[0])}
    return max(0.0, witnessed - below), found.certificate.upper + above, evidence


def deviation(n: int, m: int, diameter: float, delta: float) -> float:
    """t = D sqrt((1/n + 1/m) log(1/delta) / 2): W1(P_n, Q_m), or a difference of means of one 1-Lipschitz function, is
    further than this to one side of its expectation with probability delta at most."""
    return diameter * math.sqrt((1 / n + 1 / m) * math.log(1 / delta) / 2)


def held_out_difference(ground: Ground, one: Sample, two: Sample, held_one: Sample, held_two: Sample) -> float:
    """The difference of the means, over held-out items, of the potential found on `one` and `two`."""
    fitted = ground.fitted
    solution = solve(TransportProblem(fitted.cost(one, two), one.weights, two.weights)).solution
    first, second = (
        float(_extended(fitted.distances(sample, two), solution.g) @ sample.weights) for sample in (held_one, held_two)
    )
    return first - second


def held_out_interval(ground: Ground, found: Transported, first: Sample, second: Sample) -> Interval:
    """The interval of W1(P, Q) from the samples of `ground`, the plan `found` between them, and further items of P
    (`first`) and of Q (`second`). It always holds the distance of the samples. O(n m) distances, four times."""
    one, two, fitted = ground.first, ground.second, ground.fitted
    spread = NormalDist().inv_cdf((1 + LEVEL) / 2)
    distance = found.certificate.primal
    phi_first = _extended(fitted.distances(first, two.sample)[:, two.shown], found.solution.g)
    phi_second = _extended(fitted.distances(second, two.sample)[:, two.shown], found.solution.g)
    gained, error = _difference(phi_first, first, phi_second, second)
    psi = _extended(fitted.distances(second, one.sample)[:, one.shown], found.solution.f)
    moved = _exchanged(found.solution.f, one.weights, phi_first, first.weights) / len(one.sample)
    moved += _exchanged(found.solution.g, two.weights, psi, second.weights) / len(two.sample)
    low = min(max(0.0, gained - spread * error), distance)
    return Interval(low, distance + spread * math.sqrt(moved), LEVEL, "held-out potential, Efron-Stein")


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
