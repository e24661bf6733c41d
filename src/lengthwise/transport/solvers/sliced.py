"""An approximation for vectors: the problem seen along many lines.

A direction t with dual norm at most 1 (Euclidean length 1, or largest entry 1 for the city-block norm) makes x -> <t,
x> 1-Lipschitz, as |<t, x - y>| <= |x - y|. So the distance of the shadows on the line is at most W1: for every
direction, for the mean over directions (sliced W1) and for the largest. The optimal potential of the shadows, read at
the vectors, is a feasible pair of potentials with just that value; and the monotone plan of the shadows is a plan of
the vectors, whose cost is at least W1. The best of each over the directions is returned: a sandwich, not an optimum.
"""

from __future__ import annotations

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.transport.problem import Floats, Solution, TransportProblem, VectorCost
from lengthwise.transport.solvers.line import line_potentials, monotone_plan

DIRECTIONS = 100


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
