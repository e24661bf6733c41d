"""Exact for any cost, with all n x m pairs in memory."""

from __future__ import annotations

from lengthwise.transport.problem import Solution, TransportProblem
from lengthwise.transport.solvers.basis import integer_masses
from lengthwise.transport.solvers.optimum import Optimum, SolverBudget, all_pairs


def solve_dense(problem: TransportProblem, limit: int | None = None) -> Solution:
    """The optimum by the network simplex method; `limit` cuts its pivots. Memory O(n m)."""
    budget = SolverBudget(most_pivots(sum(problem.cost.shape)) if limit is None else limit)
    found = all_pairs(problem.cost, *integer_masses(problem.a, problem.b), budget)
    return as_solution(found, "dense", (f"{budget.made:,} pivots",))


def most_pivots(points: int) -> int:
    """A number of pivots that is reached only when something is wrong; 20 a point are usual."""
    return 100_000 + 2_000 * points


def as_solution(found: Optimum, method: str, notes: tuple[str, ...]) -> Solution:
    """The plan and the potentials of the tree. What still goes over the root is not in the plan: `verify` misses it."""
    rows, columns, mass = found.basis.plan()
    return Solution(rows, columns, mass, found.basis.f, found.basis.g, method, True, found.finished, notes)
