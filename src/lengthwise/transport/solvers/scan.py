"""The cheapest columns of each row at given potentials: for candidate edges, c-transforms and violated constraints.

Time O(n m d) for vectors, O(n m) for other costs; memory O(n k) and one block of costs. With numba, costs
of vectors are computed in tiles and never stored.
"""

from __future__ import annotations

import numpy as np

from lengthwise.transport.problem import Cost, Floats, Ints, VectorCost
from lengthwise.transport.solvers.simplex import compile_if_possible, compiled

_BLOCK = 1 << 18
TILE = 256  # costs at once; they stay in the first-level cache

_vectorised = compile_if_possible(reorder=True)


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


@_vectorised
def smallest_of_vectors(x, y_transposed, cityblock, g, below, chosen, costs):
    """Fill `chosen` and `costs` [n, k] for vectors x [n, d] and y_transposed [d, m]."""
    m, tile = y_transposed.shape[1], np.empty(TILE)
    keys = np.empty(chosen.shape[1])
    for row in range(len(x)):
        if below[row] == -np.inf:
            continue
        found, bar = 0, below[row]
        for left in range(0, m, TILE):
            width = min(TILE, m - left)
            _distances(x[row], y_transposed, cityblock, left, width, tile)
            found, bar = _keep(tile, width, left, g, bar, found, keys, chosen[row], costs[row])


@_vectorised
def smallest_of_block(block, g, below, chosen, costs):
    """The same for a block of costs [n, m]."""
    keys = np.empty(chosen.shape[1])
    for row in range(len(block)):
        if below[row] == -np.inf:
            continue
        found, bar = 0, below[row]
        for left in range(0, block.shape[1], TILE):
            width = min(TILE, block.shape[1] - left)
            found, bar = _keep(
                block[row, left : left + width], width, left, g, bar, found, keys, chosen[row], costs[row]
            )


@_vectorised
def _distances(point, others, cityblock, left, width, tile):
    tile[:width] = 0.0
    first = 0
    while first < len(point):
        # Four coordinates at once: the tile is read and written a quarter as often.
        if first + 4 <= len(point) and not cityblock:
            p, q, r, s = point[first], point[first + 1], point[first + 2], point[first + 3]
            for k in range(width):
                t, u = p - others[first, left + k], q - others[first + 1, left + k]
                v, w = r - others[first + 2, left + k], s - others[first + 3, left + k]
                tile[k] += (t * t + u * u) + (v * v + w * w)
            first += 4
        else:
            p = point[first]
            if cityblock:
                for k in range(width):
                    tile[k] += abs(p - others[first, left + k])
            else:
                for k in range(width):
                    t = p - others[first, left + k]
                    tile[k] += t * t
            first += 1
    if not cityblock:
        for k in range(width):
            tile[k] = np.sqrt(tile[k])


@_vectorised
def _keep(tile, width, left, g, bar, found, keys, chosen, costs):
    """Insert what is below the bar into the sorted `keys`; the bar falls once they are full."""
    hits = 0
    for k in range(width):
        hits += 1 if tile[k] - g[left + k] < bar else 0
    if hits == 0:
        return found, bar
    most = len(keys)
    for k in range(width):
        key = tile[k] - g[left + k]
        if key < bar:
            place = min(found, most - 1)
            while place > 0 and keys[place - 1] > key:
                keys[place], chosen[place], costs[place] = keys[place - 1], chosen[place - 1], costs[place - 1]
                place -= 1
            keys[place], chosen[place], costs[place] = key, left + k, tile[k]
            found = min(found + 1, most)
            if found == most:
                bar = min(bar, keys[most - 1])
    return found, bar
