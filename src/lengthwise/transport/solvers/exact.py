"""Exact solvers: `dense`, with all n x m pairs in memory, and `sparse`, which never holds all of them.

Find the optimum on candidate pairs; then search all pairs for constraints `f_i + g_j <= c_ij` that its potentials
break; add the worst of them and continue from the same tree. When no pair is broken, the potentials are feasible for
the whole problem and tight on the plan, so the plan is an optimum of the whole problem. Every round adds a pair that
was missing, so the rounds end; measured, three to six are usual. A pair that was in order stays so unless its f or its
g has risen, and the last pivots move few potentials: after the first search only rows and columns that have risen are
searched, and rows that had more broken pairs than were taken. Memory O((n + m) k), time O(n m d) per round for
searching.

The sparse solver starts from the potentials of a quarter of the points, extended by the c-transform: they are near
those of the whole, so few pairs are promising. The coarse problem is solved the same way, down to one that is small
enough for all pairs. It only decides where the search starts; that the result is optimal rests on the last level alone.

Equal vectors are merged first: ties cost pivots, and merging them changes nothing.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np

from lengthwise.transport.problem import Cost, Floats, Ints, Solution, TransportProblem, VectorCost
from lengthwise.transport.solvers.line import overlaps
from lengthwise.transport.solvers.scan import smallest, transform
from lengthwise.transport.solvers.simplex import ROUNDING, Basis, integer_masses


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
            rows, columns = _representatives(self.row_of)[rows], _representatives(self.column_of)[columns]
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


def _representatives(point_of: Ints) -> Ints:
    return np.unique(point_of, return_index=True)[1]


Pairs = tuple[Ints, Ints, Floats]


class Watch:
    """What the last look saw. Pairs it returned are in order ever after, as the caller makes arcs of them."""

    def __init__(self, cost: Cost, worst: int) -> None:
        n, m = cost.shape
        self.cost, self.worst = cost, worst
        self.f, self.g = np.full(n, -np.inf), np.full(m, -np.inf)
        self.more = np.ones(n, bool)

    def broken(self, f: Floats, g: Floats) -> Pairs:
        """Rows, columns and costs of broken pairs, the `worst` of each row; empty when no pair is broken.

        Time O(n m d) for the first look, then O((risen rows m + risen columns n) d).
        """
        # Adding a number to f and taking it from g changes nothing; what most rows did is taken as that number.
        shift = 0.0 if self.more.all() else float(np.median(f - self.f))
        rows = self.more | (f - self.f - shift > ROUNDING * (np.abs(f) + abs(shift)))
        columns = np.flatnonzero(g - self.g + shift > ROUNDING * (np.abs(g) + abs(shift)))
        rest = np.flatnonzero(~rows)
        self.f, self.g, self.more = f.copy(), g.copy(), np.zeros(len(f), bool)
        bar = f - ROUNDING * np.abs(f)
        found = [self._taken(*smallest(self.cost, g, self.worst, np.where(rows, bar, -np.inf)), np.arange(len(f)))]
        if len(rest) and len(columns):
            chosen, costs = smallest(self.cost.part(rest, columns), g[columns], self.worst, bar[rest])
            found.append(self._taken(np.where(chosen < 0, -1, columns[chosen]), costs, rest))
        return tuple(np.concatenate(parts) for parts in zip(*found, strict=True))  # pyright: ignore[reportReturnType]

    def _taken(self, chosen: Ints, costs: Floats, rows: Ints) -> Pairs:
        places, ranks = np.nonzero(chosen >= 0)
        self.more[rows[chosen[:, -1] >= 0]] = True
        return rows[places], chosen[places, ranks], costs[places, ranks]


CANDIDATES = 16  # pairs that a row and a column start with
WORST = 8  # broken constraints of a row that become arcs in a round


@dataclass
class SolverBudget:
    """The pivots that were made, and how many may be."""

    most: int
    made: int = 0

    @property
    def left(self) -> int:
        return max(0, self.most - self.made)


@dataclass(frozen=True)
class Optimum:
    """Where the pivots ended, after how many rounds, and whether at an optimum."""

    basis: Basis
    rounds: int
    finished: bool


def all_pairs(cost: Cost, supply: Ints, demand: Ints, budget: SolverBudget) -> Optimum:
    """The optimum with every pair an arc. Memory O(n m)."""
    n, m = cost.shape
    rows, columns = (part.ravel() for part in np.indices((n, m)))
    block = cost.block(slice(None), slice(None))
    # What a pair costs beyond the cheapest of its row and its column: greedy by this is a fair first plan.
    beyond = block - block.min(axis=1, keepdims=True)
    beyond -= beyond.min(axis=0)
    order = np.argsort(beyond, axis=None, kind="stable")
    basis = Basis.greedy(supply, demand, rows, columns, block.ravel(), order, cost.ceiling() or 1.0)
    made, ended = basis.improve(budget.left)
    budget.made += made
    return Optimum(basis, 1, ended)


def candidate_pairs(cost: Cost, supply: Ints, demand: Ints, g: Floats, budget: SolverBudget) -> Optimum:
    """The optimum from candidates that are good at the potentials g; any g will do, a near-optimal one is quick."""
    basis, watch = _first_basis(cost, supply, demand, g), Watch(cost, WORST)
    rounds = 0
    while True:
        made, ended = basis.improve(budget.left)
        budget.made += made
        rounds += 1
        if not ended:
            return Optimum(basis, rounds, False)
        rows, columns, costs = watch.broken(basis.f, basis.g)
        # Arcs that were added and led to no pivot were broken by rounding alone. The certificate will tell.
        if not len(rows) or (made == 0 and rounds > 1):
            return Optimum(basis, rounds, basis.complete)
        basis.add(rows, columns, costs)


def _first_basis(cost: Cost, supply: Ints, demand: Ints, g: Floats) -> Basis:
    """Pairs that are cheap for their row at g or for their column at its c-transform, filled in order of slack."""
    n, m = cost.shape
    columns, row_costs = smallest(cost, g, CANDIDATES)
    f = row_costs[:, 0] - g[columns[:, 0]]
    rows, column_costs = smallest(cost.flipped(), f, CANDIDATES)
    keys = np.concatenate([(np.arange(n)[:, None] * m + columns).ravel(), (rows * m + np.arange(m)[:, None]).ravel()])
    keys, origin = np.unique(keys, return_index=True)
    costs = np.concatenate([row_costs.ravel(), column_costs.ravel()])[origin]
    order = np.argsort(costs - f[keys // m] - g[keys % m], kind="stable")
    return Basis.greedy(supply, demand, keys // m, keys % m, costs, order, cost.ceiling() or 1.0)


def solve_dense(problem: TransportProblem, limit: int | None = None) -> Solution:
    """The optimum by the network simplex method; `limit` cuts its pivots. Memory O(n m)."""
    budget = SolverBudget(most_pivots(sum(problem.cost.shape)) if limit is None else limit)
    found = all_pairs(problem.cost, *integer_masses(problem.a, problem.b), budget)
    return as_solution(found, "dense", (f"{budget.made:,} pivots",))


def most_pivots(points: int) -> int:
    """A number of pivots that is reached only when something is wrong; 20 per point are usual."""
    return 100_000 + 2_000 * points


def as_solution(found: Optimum, method: str, notes: tuple[str, ...]) -> Solution:
    """The plan and the potentials of the tree. What still goes over the root is not in the plan: `verify` misses it."""
    rows, columns, mass = found.basis.plan()
    return Solution(rows, columns, mass, found.basis.f, found.basis.g, method, True, found.finished, notes)


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
