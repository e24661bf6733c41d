"""Equal vectors are one point with their weights added: ties cost pivots, and merging them changes nothing."""

from __future__ import annotations

import dataclasses

import numpy as np

from lengthwise.transport.problem import Floats, Ints, Solution, TransportProblem, VectorCost
from lengthwise.transport.solvers.line import overlaps


@dataclasses.dataclass(frozen=True, eq=False)
class Merged:
    """A problem without equal vectors, and the place of every item of the original in it."""

    original: TransportProblem
    problem: TransportProblem
    row_of: Ints
    column_of: Ints

    def spread(self, solution: Solution) -> Solution:
        """The solution of the original: equal vectors share potentials, and the mass of their point in order."""
        if self.problem is self.original:
            return solution
        rows, columns, mass = solution.rows, solution.columns, solution.mass
        if len(mass) and solution.finished:
            rows, some, mass = _share(rows, mass, self.row_of, self.original.a)
            columns = columns[some]
            columns, some, mass = _share(columns, mass, self.column_of, self.original.b)
            rows = rows[some]
        else:
            # A plan that was cut moves less than all mass; it stays with the first of equal vectors.
            rows, columns = _first(self.row_of)[rows], _first(self.column_of)[columns]
        return dataclasses.replace(
            solution, rows=rows, columns=columns, mass=mass, f=solution.f[self.row_of], g=solution.g[self.column_of]
        )


def merged(problem: TransportProblem) -> Merged:
    """The problem with equal vectors merged; costs that are not vectors stay as they are. O(n log n)."""
    cost = problem.cost
    if not isinstance(cost, VectorCost):
        return Merged(problem, problem, np.arange(0), np.arange(0))
    x, row_of = np.unique(cost.x, axis=0, return_inverse=True)
    y, column_of = np.unique(cost.y, axis=0, return_inverse=True)
    if (len(x), len(y)) == cost.shape:
        return Merged(problem, problem, np.arange(0), np.arange(0))
    row_of, column_of = row_of.ravel(), column_of.ravel()
    a, b = np.bincount(row_of, weights=problem.a), np.bincount(column_of, weights=problem.b)
    return Merged(problem, TransportProblem(VectorCost(x, y, cost.norm), a, b), row_of, column_of)


def _share(points: Ints, mass: Floats, point_of: Ints, weights: Floats) -> tuple[Ints, Ints, Floats]:
    """Cut the masses of a plan, which lie at `points`, among the items of each point: item, old place, mass."""
    places, items = np.argsort(points, kind="stable"), np.argsort(point_of, kind="stable")
    place, item, part = overlaps(mass[places], weights[items])
    return items[item], places[place], part


def _first(point_of: Ints) -> Ints:
    return np.unique(point_of, return_index=True)[1]
