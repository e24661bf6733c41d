"""Exact, without ever holding all pairs: a quarter of the points is solved first and its potentials start the whole.

The potentials of a coarse optimum, extended by the c-transform, are near those of the whole, so that few pairs are
promising at them. The coarse problem is solved the same way, down to one that is small enough for all pairs. The coarse
answer only decides where the search starts; that the result is optimal rests on the last level alone.
"""

from __future__ import annotations

import numpy as np

from lengthwise.transport.problem import Cost, Floats, Solution, TransportProblem
from lengthwise.transport.solvers.basis import integer_masses
from lengthwise.transport.solvers.dense import as_solution, most_pivots
from lengthwise.transport.solvers.optimum import Optimum, SolverBudget, all_pairs, candidate_pairs
from lengthwise.transport.solvers.scan import transform

RATIO = 4
ALL_PAIRS = 1 << 15  # pairs up to which all of them are edges
_LEAST = 64  # a side is not thinned below this


def solve_sparse(problem: TransportProblem, limit: int | None = None) -> Solution:
    """The optimum; `limit` cuts the pivots of all levels together. Memory O(n + m), time O(n m d) and the pivots'."""
    n, m = problem.cost.shape
    budget = SolverBudget(most_pivots(n + m) if limit is None else limit)
    found, points = _level(problem.cost, problem.a, problem.b, budget, np.random.default_rng(0))
    notes = (
        f"points per level: {', '.join(map(str, points))}",
        f"{len(found.basis.arcs.cost):,} of {n * m:,} pairs became arcs",
        f"{found.rounds} rounds on the last level",
        f"{budget.made:,} pivots",
    )
    return as_solution(found, "sparse", notes)


def _level(
    cost: Cost, a: Floats, b: Floats, budget: SolverBudget, generator: np.random.Generator
) -> tuple[Optimum, tuple[int, ...]]:
    n, m = cost.shape
    supply, demand = integer_masses(a, b)
    if n * m <= ALL_PAIRS:
        return all_pairs(cost, supply, demand, budget), (n + m,)
    rows, columns = (_some(len(weights), generator) for weights in (a, b))
    coarse, points = _level(
        cost.part(rows, columns), a[rows] / a[rows].sum(), b[columns] / b[columns].sum(), budget, generator
    )
    g = transform(cost.part(rows, np.arange(m)).flipped(), coarse.basis.f)
    return candidate_pairs(cost, supply, demand, g, budget), (*points, n + m)


def _some(count: int, generator: np.random.Generator) -> np.ndarray:
    return np.sort(generator.choice(count, max(min(count, _LEAST), count // RATIO), replace=False))
