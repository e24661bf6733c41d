"""One dimension: sorting solves it.

The plan moves mass in order of position, which is optimal for |x - y| (villani2003, section 2.2). With the
distribution functions F and G of the two samples, `W1 = integral |F - G|`, and the potential phi with slope sign(G -
F) proves it: `E_P phi - E_Q phi = integral phi' (G - F)`, by parts. A slope of 1 or -1 everywhere makes phi
1-Lipschitz, whatever rounding does to the sign where F and G are equal.
"""

from __future__ import annotations

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.transport.problem import Floats, Ints, Solution, TransportProblem, VectorCost


def solve_line(problem: TransportProblem, limit: int | None = None) -> Solution:
    """The optimum on a line; nothing iterates, so there is nothing to limit. Time O((n + m) log(n + m))."""
    del limit
    cost = problem.cost
    if not isinstance(cost, VectorCost) or not cost.line:
        raise UsageError("the method 'line' needs vectors with one coordinate; 'auto' takes any cost")
    x, y = cost.x[:, 0], cost.y[:, 0]
    rows, columns, mass = monotone_plan(x, y, problem.a, problem.b)
    f, g = line_potentials(x, y, problem.a, problem.b)
    return Solution(rows, columns, mass, f, g, "line", True, True)


def monotone_plan(x: Floats, y: Floats, a: Floats, b: Floats) -> tuple[Ints, Ints, Floats]:
    """The plan that keeps the order of x and y."""
    first, second = np.argsort(x, kind="stable"), np.argsort(y, kind="stable")
    rows, columns, mass = overlaps(a[first], b[second])
    return first[rows], second[columns], mass


def overlaps(a: Floats, b: Floats) -> tuple[Ints, Ints, Floats]:
    """Two divisions of [0, 1] into intervals of lengths a and b: which intervals meet, and by how much."""
    ends_a, ends_b = np.cumsum(a), np.cumsum(b)
    ends_a[-1] = ends_b[-1] = max(ends_a[-1], ends_b[-1])
    cuts = np.sort(np.concatenate([ends_a, ends_b]))
    starts = np.concatenate([[0.0], cuts[:-1]])
    some = cuts > starts
    middle = (starts[some] + cuts[some]) / 2
    rows = np.minimum(np.searchsorted(ends_a, middle), len(a) - 1)
    columns = np.minimum(np.searchsorted(ends_b, middle), len(b) - 1)
    return rows, columns, cuts[some] - starts[some]


def line_potentials(x: Floats, y: Floats, a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """f = phi(x) and g = -phi(y) for the phi above."""
    places = np.concatenate([x, y])
    order = np.argsort(places, kind="stable")
    difference = np.cumsum(np.concatenate([-a, b])[order])[:-1]  # G - F between neighbours
    slope = np.where(difference >= 0, 1.0, -1.0)
    phi = np.empty(len(places))
    phi[order] = np.concatenate([[0.0], np.cumsum(slope * np.diff(places[order]))])
    return phi[: len(x)], -phi[len(x) :]
