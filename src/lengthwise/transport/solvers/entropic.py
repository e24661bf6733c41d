"""An approximation for any cost: entropic transport, made feasible on both sides.

Sinkhorn's iteration in logarithms (peyre2019, section 4.4) on a regularisation that falls in steps to a hundredth of
the mean cost. Its plan misses the marginals and its potentials break constraints, so both are mended: the plan by
shrinking rows and columns that carry too much and adding the missing mass as a product (altschuler2017, algorithm 2),
the potentials by c-transforms. Then the cost of the plan is at least W1 and the value of the potentials at most: a
sandwich.
"""

from __future__ import annotations

import numpy as np
from scipy.special import logsumexp

from lengthwise.errors import UsageError
from lengthwise.transport.problem import Floats, Solution, TransportProblem

MOST_PAIRS = 10_000_000
ITERATIONS = 200
STEPS = (1.0, 0.3, 0.1, 0.03, 0.01)  # regularisation in units of the mean cost


def solve_entropic(problem: TransportProblem, limit: int | None = None) -> Solution:
    """A plan and potentials after `limit` iterations (200). Time O(iterations n m), memory O(n m)."""
    n, m = problem.cost.shape
    if n * m > MOST_PAIRS:
        raise UsageError(f"the method 'entropic' holds all pairs and takes up to {MOST_PAIRS:,}, not {n * m:,}")
    costs = problem.cost.block(slice(None), slice(None))
    mean = float(costs.mean()) or 1.0
    f, g = np.zeros(n), np.zeros(m)
    iterations = ITERATIONS if limit is None else limit
    for step, share in enumerate(STEPS):
        rounds = iterations // len(STEPS) + (step < iterations % len(STEPS))
        f, g = _sinkhorn(costs, problem.a, problem.b, f, g, share * mean, rounds)
    logarithm = (f[:, None] + g - costs) / (STEPS[-1] * mean) + np.log(problem.a)[:, None] + np.log(problem.b)
    # Before the first full iteration the numbers may be anything; the mending needs them finite.
    plan = _mended(np.exp(np.minimum(logarithm, 0.0)), problem.a, problem.b)
    g = (costs - f[:, None]).min(axis=0)
    f = (costs - g).min(axis=1)
    rows, columns = np.nonzero(plan)
    notes = (f"entropic with regularisation {STEPS[-1] * mean:.4g}, {iterations} iterations",)
    return Solution(rows, columns, plan[rows, columns], f, g, "entropic", False, True, notes)


def _sinkhorn(
    costs: Floats, a: Floats, b: Floats, f: Floats, g: Floats, regularisation: float, rounds: int
) -> tuple[Floats, Floats]:
    for _ in range(rounds):
        f = -regularisation * np.asarray(logsumexp((g - costs) / regularisation + np.log(b), axis=1))
        g = -regularisation * np.asarray(logsumexp((f[:, None] - costs) / regularisation + np.log(a)[:, None], axis=0))
    return f, g


def _mended(plan: Floats, a: Floats, b: Floats) -> Floats:
    """The nearest easy plan with the right marginals."""
    tiny = np.finfo(float).tiny
    plan = plan * np.minimum(1.0, a / np.maximum(plan.sum(axis=1), tiny))[:, None]
    plan = plan * np.minimum(1.0, b / np.maximum(plan.sum(axis=0), tiny))
    rows = np.maximum(a - plan.sum(axis=1), 0.0)
    columns = np.maximum(b - plan.sum(axis=0), 0.0)
    missing = (rows.sum() + columns.sum()) / 2
    return plan + np.outer(rows, columns) / missing if missing > 0 else plan
