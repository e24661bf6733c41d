"""The cheapest columns of each row at given potentials: for candidate edges, c-transforms and violated constraints.

Time O(n m d) for vectors, O(n m) for other costs; memory O(n k) and one block of costs.
"""

from __future__ import annotations

import numpy as np

from lengthwise.transport.problem import Cost, Floats, Ints, VectorCost
from lengthwise.transport.solvers.engine import compiled

_BLOCK = 1 << 18


def smallest(cost: Cost, g: Floats, count: int, below: Floats | None = None) -> tuple[Ints, Floats]:
    """For each row the `count` columns with the least `c_ij - g_j`, least first, and their costs: two arrays [n,
    count].

    Only columns with `c_ij - g_j < below_i` count; places that stay empty hold -1 and an infinite cost.
    """
    n, m = cost.shape
    below = np.full(n, np.inf) if below is None else below
    chosen = np.full((n, min(count, m)), -1, np.int64)
    costs = np.full(chosen.shape, np.inf)
    if compiled() and isinstance(cost, VectorCost):
        from lengthwise.transport.solvers.scan_numba import smallest_of_vectors

        across = np.ascontiguousarray(cost.y.T)
        smallest_of_vectors(cost.x, across, cost.norm == "cityblock", g, below, chosen, costs)
        return chosen, costs
    asked = np.flatnonzero(below > -np.inf)
    high = max(1, _BLOCK // m)
    for start in range(0, len(asked), high):
        rows = asked[start : start + high]
        chosen[rows], costs[rows] = _of_block(cost.block(rows, slice(None)), g, below[rows], chosen.shape[1])
    return chosen, costs


def transform(cost: Cost, g: Floats) -> Floats:
    """The c-transform `f_i = min_j c_ij - g_j`, the largest f that is feasible with g."""
    chosen, costs = smallest(cost, g, 1)
    return costs[:, 0] - g[chosen[:, 0]]


def _of_block(block: Floats, g: Floats, below: Floats, count: int) -> tuple[Ints, Floats]:
    if compiled():
        from lengthwise.transport.solvers.scan_numba import smallest_of_block

        chosen = np.full((len(block), count), -1, np.int64)
        costs = np.full(chosen.shape, np.inf)
        smallest_of_block(np.ascontiguousarray(block), g, below, chosen, costs)
        return chosen, costs
    keys = block - g
    some = np.argpartition(keys, count - 1, axis=1)[:, :count] if count < block.shape[1] else np.argsort(keys, axis=1)
    found = np.take_along_axis(keys, some, axis=1)
    order = np.argsort(found, axis=1, kind="stable")
    chosen, found = np.take_along_axis(some, order, axis=1), np.take_along_axis(found, order, axis=1)
    fits = found < below[:, None]
    return np.where(fits, chosen, -1), np.where(fits, np.take_along_axis(block, chosen, axis=1), np.inf)
