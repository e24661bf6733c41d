"""Does a table of distances belong to a metric? A counterexample in words, if there is one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

SLACK = 1e-9  # of the largest distance; below it a violation is rounding


def broken_axiom(distances: ArrayLike, names: Sequence[str] = ()) -> str:
    """What keeps a square table from being the distances of a pseudo-metric, with the points that show it; or nothing.

    Looked at are all triples: O(n^3) time, O(n^2) memory. `names` are what the points are called.
    """
    matrix = np.asarray(distances, dtype=np.float64)
    said = list(names) or [f"number {index}" for index in range(len(matrix))]
    if matrix.ndim != 2 or len(matrix) != matrix.shape[1]:
        return f"distances are [n, n], not {matrix.shape}"
    if not np.isfinite(matrix).all():
        x, y = map(int, np.argwhere(~np.isfinite(matrix))[0])
        return f"the distance of `{said[x]}` and `{said[y]}` is {matrix[x, y]}, not a finite number"
    if matrix.min(initial=0) < 0:
        x, y = map(int, np.unravel_index(np.argmin(matrix), matrix.shape))
        return f"the distance of `{said[x]}` and `{said[y]}` is {matrix[x, y]:.6g}, below 0"
    slack = SLACK * float(matrix.max(initial=0))
    own = int(np.argmax(np.diag(matrix)))
    if matrix[own, own] > slack:
        return f"`{said[own]}` is at {matrix[own, own]:.6g} from itself"
    x, y = map(int, np.unravel_index(np.argmax(np.abs(matrix - matrix.T)), matrix.shape))
    if abs(matrix[x, y] - matrix[y, x]) > slack:
        there, back = f"{matrix[x, y]:.6g}", f"{matrix[y, x]:.6g}"
        return f"from `{said[x]}` to `{said[y]}` it is {there}, but {back} the other way"
    return _broken_triangle(matrix, said, slack)


def _broken_triangle(matrix: np.ndarray, said: list[str], slack: float) -> str:
    for middle, row in enumerate(matrix):
        excess = matrix - (row[:, None] + row[None, :])
        x, z = map(int, np.unravel_index(np.argmax(excess), excess.shape))
        if excess[x, z] > slack:
            way = f"{row[x]:.6g} + {row[z]:.6g} by way of `{said[middle]}`"
            straight = f"`{said[x]}` and `{said[z]}` are {matrix[x, z]:.6g} apart"
            return f"the triangle inequality fails, as {straight}, but only {way}"
    return ""
