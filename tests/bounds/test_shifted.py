"""The bound from two samples: no violation where the true risk is known, and every part of it is needed."""

import math
from fractions import Fraction

import numpy as np
import pytest

from lengthwise.bounds.sampling import uniform_deviation
from lengthwise.bounds.shifted import margins_to_try, pair_costs, ramp, shift_bound
from lengthwise.errors import UsageError
from lengthwise.records import Claim
from lengthwise.transport.problem import MatrixCost, TransportProblem
from lengthwise.transport.solving import solve

DRAWS = 1000


class World:
    """Two distributions on a few points with two labels, and a network x ↦ B relu(A x + a) of known constant."""

    def __init__(self, rng, steep):
        self.points = rng.normal(size=(6, 2))
        self.points[3:] = self.points[:3] + rng.normal(size=2) * rng.choice([0.05, 0.3])
        first, shift, second = rng.normal(size=(4, 2)), rng.normal(size=4), rng.normal(size=(2, 4))
        self.scores = steep * np.maximum(self.points @ first.T + shift, 0) @ second.T
        self.labels = self.scores.argmax(axis=1)
        wrong = rng.random(6) < rng.choice([0.0, 0.2, 0.5])
        self.labels = np.where(wrong, 1 - self.labels, self.labels)
        # The difference of two scores: (e_0 - e_1) B relu(A x + a).
        self.constant = steep * float(np.linalg.norm(second[0] - second[1]) * np.linalg.norm(first, 2))
        self.source = np.array([*rng.dirichlet(np.ones(3)), 0, 0, 0])
        self.target = np.array([0, 0, 0, *rng.dirichlet(np.ones(3))])
        if rng.random() < 0.3:
            self.target = rng.permutation(self.target)
        own = self.scores[np.arange(6), self.labels]
        self.margins = own - self.scores[np.arange(6), 1 - self.labels]
        self.distances = np.linalg.norm(self.points[:, None] - self.points[None], axis=2)
        self.true_error = float(self.target @ (self.margins <= 0))


def bounded(world, source, target, constant, delta=0.01, separation=None):
    """The smallest bound over the margins that are tried, and the mean ramp loss of the target at that margin."""
    n, m = (np.bincount(items, minlength=6) / len(items) for items in (source, target))
    rows, columns = np.flatnonzero(n), np.flatnonzero(m)
    differ = world.labels[rows][:, None] != world.labels[columns][None]
    tried, best = margins_to_try(world.margins[source], (0.1, 0.6)), None
    for margin in tried:
        costs = pair_costs(world.distances[np.ix_(rows, columns)], constant / margin, differ, separation)
        moved = solve(TransportProblem(MatrixCost(costs), n[rows], m[columns])).certificate.primal
        losses = ramp(world.margins, margin)
        assert float(losses @ m) <= float(losses @ n) + moved + 1e-9  # between the samples it is certain
        bound = shift_bound(
            float(losses @ n), moved, 0.0, constant=constant, margin=margin, items=len(target), delta=delta,
        )  # fmt: skip
        best = bound if best is None or bound.total < best.total else best
    return best


def test_no_violation_where_the_true_risk_is_known():
    """The constant is exact for the network, not for its values at six points, so an attack makes the network as steep
    as its constant along the shift: the first draws of each ten are such."""
    rng, closest, told = np.random.default_rng(0), math.inf, 0
    for draw in range(DRAWS):
        world = World(rng, steep=float(rng.choice([0.3, 1.0, 3.0])))
        if draw % 10 < 3:  # two points, one score that falls along the way from one to the other as fast as it may
            gap, rise = rng.uniform(0.1, 1.0), rng.uniform(0.5, 2.0)
            world.points = np.zeros((6, 2))
            world.points[3:, 0] = gap
            world.distances = np.linalg.norm(world.points[:, None] - world.points[None], axis=2)
            world.labels, world.constant = np.zeros(6, int), rise
            world.margins = rng.uniform(0.1, 1.0) * gap * rise - rise * world.points[:, 0]
            world.true_error = float(world.target @ (world.margins <= 0))
        items = int(rng.choice([50, 400, 3000]))
        source, target = (rng.choice(6, size=items, p=p) for p in (world.source, world.target))
        bound = bounded(world, source, target, world.constant)
        assert bound.status in ("holds", "vacuous")
        assert world.true_error <= bound.total
        told += bound.status == "holds"
        closest = min(closest, bound.total - world.true_error)
    assert told > DRAWS / 4 and closest < 0.1, (told, closest)


def test_a_constant_that_is_too_small_is_found_out():
    """The same inequality fails with a tenth of the constant, so the draws above are no idle ones."""
    rng, broken = np.random.default_rng(1), 0
    for _ in range(100):
        world = World(rng, 1.0)
        world.points = np.zeros((6, 2))
        world.points[3:, 0] = 1.0
        world.distances = np.linalg.norm(world.points[:, None] - world.points[None], axis=2)
        world.labels, world.margins = np.zeros(6, int), 0.5 - world.points[:, 0]
        with pytest.raises(AssertionError):
            bounded(world, np.arange(3), np.arange(3, 6), 0.01)
        broken += 1
    assert broken == 100


def test_labels_that_are_not_looked_at_have_to_be_apart():
    differ = np.array([[True, False], [False, True]])
    distances = np.array([[0.0, 2.0], [math.inf, 0.5]])
    seen = pair_costs(distances, 0.25, differ)
    assert seen == pytest.approx(np.array([[1.0, 0.5], [1.0, 1.0]]))
    unseen = pair_costs(distances, 0.25, differ, separation=0.5)
    assert unseen.tolist() == [[0.0, 1.0], [1.0, 1.0]]
    # Without a constant, the cheapest coupling is total variation.
    assert pair_costs(distances, math.inf, ~differ & differ).tolist() == [[0.0, 1.0], [1.0, 1.0]]
    with pytest.raises(UsageError):
        pair_costs(distances, 1.0, differ, separation=0.0)


@pytest.mark.parametrize("distance, slope", [(1e-200, 1e-150), (5e-324, 0.25), (1e-170, 1e-170)])
def test_what_costs_something_does_not_cost_nothing(distance, slope):
    """Products below the smallest float were 0: a pair at distance 1e-200 moved for free."""
    cost = float(pair_costs(np.array([[distance]]), slope, np.array([[False]]))[0, 0])
    assert Fraction(cost) >= Fraction(distance) * Fraction(slope) and cost < 1e-300


def test_a_measured_constant_makes_the_bound_heuristic_and_a_sum_of_one_is_vacuous():
    attacked = Claim("lipschitz.seen", 2.0, "at least", "measured", evidence={"model": "m", "where": "w"})
    given = {"margin": 1.0, "items": 1000, "delta": 0.05}
    assert shift_bound(0.1, 0.1, 0.0, constant=attacked, **given).kind == "heuristic"
    assert shift_bound(0.1, 0.1, 0.0, constant=2.0, **given).status == "holds"
    assert shift_bound(0.1, 0.9, 0.0, constant=None, **given).status == "vacuous"


@pytest.mark.parametrize("law", ["even", "two values"])
def test_the_target_sample_may_choose_the_margin(law):
    """At every γ at once: the γ at which a sample flatters most does not break the bound more often than δ says."""
    rng, items, delta, gammas = np.random.default_rng(2), 25, 0.2, np.linspace(0.01, 1.0, 60)
    if law == "even":
        samples, true = rng.random((4000, items)), gammas / 2  # E clip(1 - s/γ, 0, 1) of s even on [0, 1]
    else:  # wrong or far from wrong: no γ matters, and the deviation is as large as Hoeffding allows
        samples, true = np.where(rng.random((4000, items)) < 0.5, 0.0, 2.0), np.full(60, 0.5)
    seen = np.clip(1 - samples[:, :, None] / gammas, 0, 1).mean(axis=1)
    short = (true - seen).max(axis=1)
    bound = shift_bound(0.1, 0.0, 0.0, constant=1.0, margin=1.0, items=items, delta=delta)
    added = bound.claim().evidence["terms"]["sampling_target"]
    assert 0 < (short > added).mean() <= delta
    assert added == pytest.approx(math.sqrt(math.log(1 / delta) / (2 * items)))


def test_a_delta_above_a_half_counts_as_a_half():
    assert uniform_deviation(10, 0.9) == uniform_deviation(10, 0.5) == pytest.approx(math.sqrt(math.log(2) / 20))


def test_the_ramp_is_at_least_the_error():
    margins = np.linspace(-2, 2, 401)
    for margin in (0.1, 1.0, 5.0):
        losses = ramp(margins, margin)
        assert (losses >= (margins <= 0)).all()
        assert np.abs(np.diff(losses)).max() <= 0.01 / margin + 1e-12
    assert margins_to_try(-np.ones(4)) == [1.0]
    with pytest.raises(UsageError):
        ramp(margins, 0.0)
