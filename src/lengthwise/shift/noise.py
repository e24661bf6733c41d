"""How far apart two samples of one distribution are: the noise that a distance has to be compared with.

The W1 between two finite samples is too large on average, also when both come from one distribution, and the fewer the
items the larger it is. So the null and what is compared with it have the same size. Of the first sample two halves A
and B of k items each are drawn, and k items C of the second:

    null         W1(A, B)      mean over the splits
    shifted      W1(A, C)      mean over the same splits
    excess       shifted - null

A sample is the average of its parts and W1 is convex in both samples, so on average two samples as large as the whole
ones are no further apart than the null. The p-value is that of a permutation test at the same size: the items of A and
C are pooled and split again; if they come from one distribution, all splits are equally likely, so the test is exact
whatever the metric.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lengthwise.messages import explain
from lengthwise.records import Assumption, Claim
from lengthwise.seeds import Floats, Ints, Seeds
from lengthwise.shift.ground import Ground, pooled_distances
from lengthwise.transport.problem import MatrixCost, TransportProblem
from lengthwise.transport.solving import solve

RESAMPLES = 100

explain(
    {
        "shift.null": "null W1",
        "shift.at_size_of_null": "W1 at the size of the null",
        "shift.excess": "excess over the null",
        "shift.p_value": "p-value of no shift",
        "shift.large_enough": "the first sample has at least 4 items and the second at least 2",
        "shift.exchangeable": "the items of a sample are drawn independently, with their weights",
    }
)
_MOST = 200  # items of a half: what is resampled is small, so that resampling is quick


@dataclass(frozen=True, eq=False)
class Noise:
    """Distances of resampled parts of `size` items each, one of each kind per split; and those of permuted pools."""

    size: int
    null: Floats
    shifted: Floats
    observed: float
    permuted: Floats
    refused: int  # solves whose certificate was refused
    largest: float  # the largest distance seen between any two points


def noise_of(ground: Ground, seed: int, resamples: int = RESAMPLES) -> Noise | None:
    """The null, the shifted distances and the permutations; None where a sample is too small to be split."""
    one, two = ground.first.sample, ground.second.sample
    size = min(len(one) // 2, len(two), _MOST)
    if size < 2:
        return None
    rng = np.random.default_rng(Seeds(seed).key("noise"))
    first, second = (sample.part(rng.permutation(len(sample))[: 2 * size]) for sample in (one, two))
    distances, *places = pooled_distances(ground.fitted, first, second)
    weigh = (first.item_weights * len(first), second.item_weights * len(second))
    parts = _Parts(distances, np.concatenate(places), np.concatenate(weigh))
    null, shifted = [], []
    for _ in range(resamples):
        order, other = rng.permutation(len(first)), rng.permutation(len(second))
        null.append(parts.distance(order[:size], order[size : 2 * size]))
        shifted.append(parts.distance(order[:size], len(first) + other[:size]))
    a, c = np.arange(len(first))[:size], len(first) + np.arange(len(second))[:size]
    observed, pool = parts.distance(a, c), np.concatenate([a, c])
    permuted = []
    for _ in range(resamples - 1):
        order = rng.permutation(pool)
        permuted.append(parts.distance(order[:size], order[size:]))
    largest = float(distances.max())
    return Noise(size, np.array(null), np.array(shifted), observed, np.array(permuted), parts.refused, largest)


def noise_claims(noise: Noise | None, unit: str) -> list[Claim]:
    """The null, the distance at the same size, the excess, and the p-value."""
    units = {"shift.null": unit, "shift.at_size_of_null": unit, "shift.excess": unit, "shift.p_value": ""}
    if noise is None:
        why = (Assumption("shift.large_enough", "violated"),)
        return [Claim(key, None, u, "measured", "unknown", assumptions=why) for key, u in units.items()]
    exchangeable = (Assumption("shift.exchangeable"),)
    evidence = {"items": noise.size, "splits": len(noise.null), "refused": noise.refused}

    def claim(key: str, values: Floats, more: str) -> Claim:
        quantiles = np.quantile(values, [0.025, 0.5, 0.975]).tolist()
        told = dict(zip(("low", "median", "high"), quantiles, strict=True))
        found = {**evidence, "of": more, "sd": float(values.std(ddof=1)), **told}
        return Claim(key, float(values.mean()), unit, "measured", assumptions=exchangeable, evidence=found)

    reached = int((noise.permuted >= noise.observed * (1 - 1e-9)).sum())
    p_value = (1 + reached) / (1 + len(noise.permuted))
    tested = {
        "items": noise.size,
        "permutations": len(noise.permuted),
        "reached": reached,
        "observed": noise.observed,
        "refused": noise.refused,
    }
    return [
        claim("shift.null", noise.null, "two halves of the first sample"),
        claim("shift.at_size_of_null", noise.shifted, "half of the first sample and as many items of the second"),
        claim("shift.excess", noise.shifted - noise.null, "the difference of the two, split by split"),
        Claim("shift.p_value", p_value, "", "measured", assumptions=exchangeable, evidence=tested),
    ]


class _Parts:
    """W1 between parts of a pool of items, given by their numbers."""

    def __init__(self, distances: Floats, point: Ints, weights: Floats) -> None:
        self.distances, self.point, self.weights, self.refused = distances, point, weights, 0

    def distance(self, one: Ints, two: Ints) -> float:
        a, b = (np.bincount(self.point[items], self.weights[items], len(self.distances)) for items in (one, two))
        rows, columns = np.flatnonzero(a), np.flatnonzero(b)
        costs, a, b = self.distances[np.ix_(rows, columns)], a[rows] / a.sum(), b[columns] / b.sum()
        if len(rows) == 1 or len(columns) == 1:
            return float(a @ costs @ b)  # there is one plan only
        found = solve(TransportProblem(MatrixCost(costs), a, b))
        self.refused += found.certificate.status == "refused"
        return found.certificate.primal
