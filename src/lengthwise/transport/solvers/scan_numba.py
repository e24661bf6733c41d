"""The cheapest columns of each row, compiled by numba: costs are computed in tiles and never stored."""

from __future__ import annotations

import numpy as np

from lengthwise.transport.solvers.engine import compile_if_possible

TILE = 256  # costs at once; they stay in the first-level cache

compiled = compile_if_possible(reorder=True)


@compiled
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


@compiled
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


@compiled
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


@compiled
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
