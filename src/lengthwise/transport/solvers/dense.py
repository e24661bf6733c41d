"""Exact for any cost, by linear programming over all n x m pairs."""

from __future__ import annotations

import numpy as np
import scipy.optimize
import scipy.sparse

from lengthwise.transport.problem import Problem, Solution


def solve_dense(problem: Problem, limit: int | None = None) -> Solution:
    """The optimum by HiGHS; `limit` cuts its iterations."""
    n, m = problem.cost.shape
    costs = problem.cost.block(slice(None), slice(None)).ravel()
    scale = costs.max() or 1.0
    index = np.arange(n * m)
    places = np.concatenate([index // m, n + index % m])
    matrix = scipy.sparse.csr_array(
        (np.ones(2 * n * m), (places, np.concatenate([index, index]))), shape=(n + m, n * m)
    )
    total = np.concatenate([problem.a, problem.b]) * n
    options = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    if limit is not None:
        options["maxiter"] = limit
    # One of the n + m equations follows from the others; leaving it out spares the solver a contradiction by rounding.
    found = scipy.optimize.linprog(
        costs / scale, A_eq=matrix[:-1], b_eq=total[:-1], bounds=(0, None), method="highs-ds", options=options
    )
    if found.x is None:
        return Solution(
            np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0), np.zeros(n), np.zeros(m), "dense", True, False
        )
    used = np.flatnonzero(found.x > 0)
    dual = np.append(found.eqlin.marginals, 0.0) * scale
    return Solution(
        used // m, used % m, found.x[used] / n, dual[:n], dual[n:], "dense", True, found.status == 0, (found.message,)
    )
