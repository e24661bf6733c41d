"""The result of measuring a shift, and what its distance consists of: which numbers account for it, and which
trajectories.

Along an optimal plan P the distance is a sum over pairs, and each pair's distance is a sum over coordinates:
|x - y|_1 = sum_k |x_k - y_k|, and |x - y|_2 = sum_k (x_k - y_k)^2 / |x - y|_2. So every coordinate has a share, and the
shares sum to one. Where several plans are optimal the shares belong to the one that was found.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from lengthwise.messages import explain
from lengthwise.records import Assumption, Claim
from lengthwise.seeds import Floats
from lengthwise.shift.ground import Ground, Points
from lengthwise.transport.metrics.features import STATISTICS, table
from lengthwise.transport.problem import TransportProblem, VectorCost
from lengthwise.transport.solving import Transported, solve

_NOTHING = 1e-12
_AT_ONCE = 4096  # pairs of the plan
_TESTABLE = 4  # items per side: three can be split in 10 ways, and a chance of 1 in 10 is no evidence
_SHARES, _PAIRS, _EXTREMES = 8, 3, 2  # how many are told

explain(
    {"shift.share": "share of {name}", "shift.this_plan": "another optimal plan may distribute the cost differently"}
)


@dataclass(frozen=True)
class Number:
    """A number that describes trajectories, in both samples: means, and the W1 of it alone, in its own unit.

    `spreads` is that W1 in standard deviations of the first sample, None where it is constant there.
    """

    name: str
    unit: str
    first: float
    second: float
    distance: float
    spreads: float | None


@dataclass(frozen=True)
class Pair:
    """Two trajectories between which the plan moves `mass`, at a `distance`; `share` of the whole cost."""

    first: str
    second: str
    mass: float
    distance: float
    share: float


@dataclass(frozen=True)
class MovedExample:
    """A trajectory and its potential: high where the first sample is and the second is not, low the other way round."""

    text: str
    sample: str
    potential: float
    weight: float


def numbers(ground: Ground) -> list[Number]:
    """Length, depth and so on of both samples, the most shifted first, without those that are constant and equal."""
    one, two = ground.first.sample, ground.second.sample
    (known, first), (others, second) = table(one), table(two)
    found = []
    for column, name in enumerate(known):
        if name not in others:
            continue
        x, y = first[:, column], second[:, others.index(name)]
        distance = _on_line(x, y, one.weights, two.weights)
        means = float(one.weights @ x), float(two.weights @ y)
        spread = float(np.sqrt(one.weights @ (x - means[0]) ** 2))
        varied = spread > _NOTHING * max(1.0, float(np.abs(x).max()))
        if distance > 0 or varied:
            found.append(
                Number(name, STATISTICS.get(name, ""), *means, distance, distance / spread if varied else None)
            )

    def rank(number: Number) -> float:
        """Shift in spreads; in multiples of the value, far above any spread, where there is no spread."""
        if number.spreads is not None:
            return number.spreads
        return 1e6 * number.distance / (abs(number.first) or 1.0) if number.distance else 0.0

    return sorted(found, key=lambda n: (-rank(n), known.index(n.name)))


def _on_line(x: Floats, y: Floats, a: Floats, b: Floats) -> float:
    """The W1 of one number alone."""
    one, two = (np.unique(values, return_inverse=True) for values in (x, y))
    weights = (np.bincount(place, mass) for (_, place), mass in ((one, a), (two, b)))
    return solve(TransportProblem(VectorCost(one[0], two[0]), *weights)).certificate.primal


def shares(ground: Ground, found: Transported) -> dict[str, float]:
    """The share of the distance that each named coordinate carries, largest first; {} where there are no coordinates
    or there is no distance."""
    if ground.vectors is None or found.certificate.primal <= 0:
        return {}
    plan = found.solution
    total: dict[str, float] = {}
    parts = _parts(ground, plan.rows, plan.columns, plan.mass)
    for name, part in zip(ground.vectors.names, parts, strict=True):
        total[name] = total.get(name, 0.0) + float(part)
    whole = sum(total.values())
    ordered = sorted(total.items(), key=lambda item: -item[1])
    return {name: part / whole for name, part in ordered if part > _NOTHING * whole}


def _parts(ground: Ground, rows: np.ndarray, columns: np.ndarray, mass: Floats) -> Floats:
    """The cost that each coordinate carries, [coordinates]."""
    vectors = ground.vectors
    assert vectors is not None
    parts = np.zeros(vectors.first.shape[1])
    for start in range(0, len(rows), _AT_ONCE):
        some = slice(start, start + _AT_ONCE)
        gaps = np.abs(vectors.first[rows[some]] - vectors.second[columns[some]])
        if vectors.norm == "euclidean":
            lengths = np.linalg.norm(gaps, axis=1, keepdims=True)
            gaps = np.divide(gaps**2, lengths, out=np.zeros_like(gaps), where=lengths > 0)
        parts += mass[some] @ gaps
    return parts


def share_claims(found: Mapping[str, float]) -> list[Claim]:
    """The largest shares as claims."""
    plan, told = (Assumption("shift.this_plan"),), {"coordinates": len(found)}
    return [
        Claim("shift.share", value, "of W1", "measured", assumptions=plan, evidence={"name": name, **told})
        for name, value in list(found.items())[:_SHARES]
    ]


def pairs(ground: Ground, found: Transported) -> list[Pair]:
    """The pairs of the plan that cost most."""
    plan, cost = found.solution, ground.cost
    distances = cost.pairs(plan.rows, plan.columns)
    costs = plan.mass * distances
    whole = float(costs.sum()) or 1.0
    return [
        Pair(
            _text(ground.first, int(plan.rows[k])),
            _text(ground.second, int(plan.columns[k])),
            float(plan.mass[k]),
            float(distances[k]),
            float(costs[k]) / whole,
        )
        for k in np.argsort(-costs, kind="stable")[:_PAIRS]
    ]


def extremes(ground: Ground, found: Transported) -> list[MovedExample]:
    """The trajectories with the highest potential in the first sample, and those with the lowest in the second.

    The potential is f on the first sample, where it is 0 on average, and -g on the second. It falls along every pair of
    the plan by as much as the pair's distance, so it says which way the shift goes.
    """
    first, second = potentials(ground, found)
    return [*_examples(ground.first, first, "first"), *_examples(ground.second, second, "second")]


def potentials(ground: Ground, found: Transported) -> tuple[Floats, Floats]:
    """The potential at the points of the first sample and at those of the second."""
    middle = float(ground.first.weights @ found.solution.f)
    return found.solution.f - middle + 0.0, -found.solution.g - middle + 0.0  # no -0


def _examples(points: Points, potential: Floats, which: str) -> list[MovedExample]:
    order = np.argsort(-potential if which == "first" else potential, kind="stable")[:_EXTREMES]
    return [MovedExample(_text(points, int(p)), which, float(potential[p]), float(points.weights[p])) for p in order]


def _text(points: Points, point: int) -> str:
    return points.sample.text(int(points.shown[point]))


@dataclass(frozen=True)
class Side:
    """One of the two samples, in numbers."""

    name: str
    items: int
    distinct: int
    points: int  # after merging what the metric does not distinguish
    weighted: bool


@dataclass(frozen=True, eq=False)
class Shift:
    """The distance between two samples, its noise, and what accounts for it."""

    first: Side
    second: Side
    metric: str
    unit: str
    facts: Mapping[str, Any]
    distance: Claim
    noise: tuple[Claim, ...]
    expected: Claim
    distributions: Claim
    shares: Mapping[str, float]
    numbers: tuple[Number, ...]
    pairs: tuple[Pair, ...]
    extremes: tuple[MovedExample, ...]
    unseen: float  # share of the second sample's tokens that the first never has
    ground: Ground
    transported: Transported

    @property
    def claims(self) -> tuple[Claim, ...]:
        """All conclusions; the shares of the distance come last."""
        return (self.distance, *self.noise, self.expected, self.distributions, *share_claims(self.shares))

    def verdict(self) -> str:
        """One sentence: how far, compared with the noise."""
        if self.distance.value is None:
            why = self.distance.evidence["why_refused"]
            return f"The distance was not certified ({why}), so nothing is known about the shift."
        value = float(self.distance.value)
        how = "" if self.distance.kind == "certified" else "at most "  # the cost of a plan that need not be the best
        known = f"{how}{value:.4g} (unit: {self.unit}; {self.distance.kind})"
        start = f"The distance from {self.first.name} to {self.second.name} is {known}"
        null, shifted, _, test = self.noise
        if null.value is None or shifted.value is None or test.value is None:
            return f"{start}; a sample is too small to say what noise alone would give."
        size, noise, moved = null.evidence["items"], float(null.value), float(shifted.value)
        compared = f"at {size} items each it is {moved:.4g}, where two halves of the first sample are {noise:.4g} apart"
        return f"{start}; {compared}: {_words(moved, noise, float(test.value), size)}."

    def plain(self) -> dict[str, Any]:
        """Everything but the plan, as JSON-ready data."""
        return {
            "first": asdict(self.first),
            "second": asdict(self.second),
            "metric": {"name": self.metric, "unit": self.unit, "facts": dict(self.facts)},
            "verdict": self.verdict(),
            "claims": [claim.plain() for claim in self.claims],
            "shares": dict(self.shares),
            **{name: [asdict(row) for row in vars(self)[name]] for name in ("numbers", "pairs", "extremes")},
            "unseen_tokens": self.unseen,
        }


def _words(moved: float, noise: float, chance: float, size: int) -> str:
    """What the comparison with the null says, at the usual level of 5 %."""
    if size < _TESTABLE:
        return "too few items to tell a shift from noise"
    if chance > 0.05:
        return f"no shift is visible (p = {chance:.2g})"
    tested = f"p = {chance:.2g}"
    if noise <= 0:
        return f"a shift where noise gives none ({tested})"
    return f"{moved / noise:.3g} times the noise ({tested})"
