"""Two approximations, each a sandwich: a plan, whose cost is at least W1, and feasible potentials, whose value is at
most W1.

*Entropic*, for any cost. Sinkhorn's iteration in logarithms (peyre2019, section 4.4) on a regularisation that falls in
steps to a hundredth of the mean cost. Its plan misses the marginals and its potentials break constraints, so both are
repaired: the plan by shrinking rows and columns that carry too much and adding the missing mass as a product
(altschuler2017, algorithm 2), the potentials by c-transforms.

*Sliced*, for vectors. A direction t with dual norm at most 1 (Euclidean length 1, or largest entry 1 for the city-block
norm) makes x -> <t, x> 1-Lipschitz, as |<t, x - y>| <= |x - y|. So the distance of the shadows on the line is at most
W1. The optimal potential of the shadows, read at the vectors, is a feasible pair of potentials with just that value;
and the monotone plan of the shadows is a plan of the vectors. The best of each over the directions is returned.
"""

from __future__ import annotations

import numpy as np
from scipy.special import logsumexp

from lengthwise.errors import UsageError
from lengthwise.transport.problem import Floats, Solution, TransportProblem, VectorCost
from lengthwise.transport.solvers.line import line_potentials, monotone_plan

MOST_PAIRS = 10_000_000
ITERATIONS, DIRECTIONS = 200, 100
STEPS = (1.0, 0.3, 0.1, 0.03, 0.01)  # regularisation in units of the mean cost


def solve_entropic(problem: TransportProblem, limit: int | None = None) -> Solution:
    """A plan and potentials after `limit` iterations (200). Time O(iterations n m), memory O(n m)."""
    n, m = problem.cost.shape
    if n * m > MOST_PAIRS:
        raise UsageError(f"the method 'entropic' holds all pairs and takes up to {MOST_PAIRS:,}, not {n * m:,}")
    costs = problem.cost.block(slice(None), slice(None))
    mean = float(costs.mean()) or 1.0
    f, g, log_a, log_b = np.zeros(n), np.zeros(m), np.log(problem.a)[:, None], np.log(problem.b)
    iterations = ITERATIONS if limit is None else limit
    for step, share in enumerate(STEPS):
        rounds = iterations // len(STEPS) + (step < iterations % len(STEPS))
        unit = share * mean
        for _ in range(rounds):
            f = -unit * np.asarray(logsumexp((g - costs) / unit + log_b, axis=1))
            g = -unit * np.asarray(logsumexp((f[:, None] - costs) / unit + log_a, axis=0))
    logarithm = (f[:, None] + g - costs) / (STEPS[-1] * mean) + log_a + log_b
    # Before the first full iteration the numbers may be anything; the mending needs them finite.
    plan = _mended(np.exp(np.minimum(logarithm, 0.0)), problem.a, problem.b)
    g = (costs - f[:, None]).min(axis=0)
    f = (costs - g).min(axis=1)
    rows, columns = np.nonzero(plan)
    notes = (f"entropic with regularisation {STEPS[-1] * mean:.4g}, {iterations} iterations",)
    return Solution(rows, columns, plan[rows, columns], f, g, "entropic", False, True, notes)


def _mended(plan: Floats, a: Floats, b: Floats) -> Floats:
    """The nearest easy plan with the right marginals."""
    tiny = np.finfo(float).tiny
    plan = plan * np.minimum(1.0, a / np.maximum(plan.sum(axis=1), tiny))[:, None]
    plan = plan * np.minimum(1.0, b / np.maximum(plan.sum(axis=0), tiny))
    rows = np.maximum(a - plan.sum(axis=1), 0.0)
    columns = np.maximum(b - plan.sum(axis=0), 0.0)
    missing = (rows.sum() + columns.sum()) / 2
    return plan + np.outer(rows, columns) / missing if missing > 0 else plan


def solve_sliced(problem: TransportProblem, limit: int | None = None) -> Solution:
    """The best bounds of `limit` directions (100). Time O(directions (n + m) (d + log(n + m))), memory O((n + m) d)."""
    cost, count = problem.cost, DIRECTIONS if limit is None else limit
    if not isinstance(cost, VectorCost):
        raise UsageError("the method 'sliced' needs vectors; for a cost matrix take 'auto' or 'entropic'")
    if count < 1:
        raise UsageError(f"the method 'sliced' needs at least one direction, not {count}")
    upper, lower, values = np.inf, -np.inf, []
    plan = potentials = None
    for direction in _directions(problem, cost, count):
        x, y = cost.x @ direction, cost.y @ direction
        f, g = line_potentials(x, y, problem.a, problem.b)
        values.append(float(problem.a @ f + problem.b @ g))
        if potentials is None or values[-1] > lower:
            lower, potentials = values[-1], (f, g)
        rows, columns, mass = monotone_plan(x, y, problem.a, problem.b)
        price = float(mass @ cost.pairs(rows, columns))
        if plan is None or price < upper:
            upper, plan = price, (rows, columns, mass)
    assert plan is not None and potentials is not None
    notes = (f"sliced W1, the mean over {count} directions, is {np.mean(values):.6g}: a lower bound",)
    return Solution(*plan, *potentials, "sliced", False, True, notes)


def _directions(problem: TransportProblem, cost: VectorCost, count: int) -> Floats:
    """The direction between the means, and random ones; [count, d]."""
    between = problem.a @ cost.x - problem.b @ cost.y
    drawn = np.random.default_rng(0).normal(size=(count, cost.dimension))
    if cost.norm == "cityblock":
        drawn[0] = np.sign(between)
        sizes = np.abs(drawn).max(axis=1)
    else:
        drawn[0] = between
        sizes = np.linalg.norm(drawn, axis=1)
    if sizes[0] == 0:
        drawn[0, 0], sizes[0] = 1.0, 1.0
    # A hair shorter than 1, so that rounding does not make a shadow longer than its vector.
    return drawn / (sizes * (1 + 1e-15))[:, None]
