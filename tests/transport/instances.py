"""Random problems of every awkward kind, and a witness that shares no code with the solvers."""

from __future__ import annotations

import numpy as np
import scipy.optimize
import scipy.sparse

from lengthwise.transport.problem import MatrixCost, TransportProblem, VectorCost

KINDS = ("plain", "duplicates", "ties", "clusters", "near", "shifted", "skewed", "outlier")


def instance(seed: int, largest: int = 60) -> TransportProblem:
    """Problem number `seed`: its kind, sizes, dimension (1 to 64), norm and weights follow from the number."""
    r = np.random.default_rng(seed)
    kind = KINDS[seed % len(KINDS)]
    n, m = (int(r.integers(1, largest + 1)) for _ in range(2))
    if r.random() < 0.3:
        m = n
    d = int(r.choice([1, 2, 3, 5, 8, 16, 33, 64]))
    x, y = _points(r, kind, n, d), _points(r, kind, m, d)
    if kind == "shifted":
        y += 5.0
    if kind == "outlier":
        x[0] = y[0] = 1e6
    cost = VectorCost(x, y, "cityblock" if r.random() < 0.3 else "euclidean")
    a, b = (_weights(r, kind, size) for size in (n, m))
    if r.random() < 0.2:
        return TransportProblem(MatrixCost(cost.block(slice(None), slice(None))), a, b)
    return TransportProblem(cost, a, b)


def _points(r: np.random.Generator, kind: str, count: int, d: int) -> np.ndarray:
    if kind == "duplicates":
        return r.normal(size=(4, d))[r.integers(4, size=count)]
    if kind == "ties":
        return r.integers(0, 3, size=(count, d)).astype(float)
    if kind == "clusters":
        return 100.0 * r.integers(0, 3, size=(count, 1)) + r.normal(size=(count, d))
    if kind == "near":
        return np.round(r.normal(size=(count, d))) + 1e-7 * r.normal(size=(count, d))
    return r.normal(size=(count, d))


def _weights(r: np.random.Generator, kind: str, count: int) -> np.ndarray | None:
    if kind == "skewed":
        weights = np.exp(6 * r.normal(size=count))
    elif r.random() < 0.5:
        return None
    else:
        weights = r.random(count) + 1e-3
    return weights / weights.sum()


def highs(problem: TransportProblem) -> float:
    """The value of the linear programme by HiGHS, from all pairs."""
    n, m = problem.cost.shape
    costs = problem.cost.block(slice(None), slice(None)).ravel()
    scale = costs.max() or 1.0
    index = np.arange(n * m)
    places = np.concatenate([index // m, n + index % m])
    matrix = scipy.sparse.csr_array((np.ones(2 * n * m), (places, np.tile(index, 2))), shape=(n + m, n * m))
    total = np.concatenate([problem.a, problem.b]) * (n + m)
    options = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    found = scipy.optimize.linprog(
        costs / scale, A_eq=matrix[:-1], b_eq=total[:-1], bounds=(0, None), method="highs-ds", options=options
    )
    assert found.status == 0, found.message
    return float(found.fun) * scale / (n + m)
