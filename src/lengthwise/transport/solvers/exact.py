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

`smallest` finds the cheapest columns of each row at given potentials: for candidate edges, c-transforms and violated
constraints. Time O(n m d) for vectors, O(n m) for other costs; memory O(n k) and one block of costs. With numba, costs
of vectors are computed in tiles and never stored.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from lengthwise.transport.problem import Cost, Floats, Ints, Solution, TransportProblem, VectorCost
from lengthwise.transport.solvers.line import overlaps
from lengthwise.transport.solvers.simplex import ROUNDING, Basis, compile_if_possible, compiled, integer_masses

Pairs = tuple[Ints, Ints, Floats]
CANDIDATES = 16  # pairs that a row and a column start with
WORST = 8  # broken constraints of a row that become arcs in a round
RATIO = 4  # of the points of a level to those of the one below
ALL_PAIRS = 1 << 15  # pairs up to which all of them are edges
_LEAST = 64  # a side is not thinned below this
_BLOCK = 1 << 18
TILE = 256  # costs at once; they stay in the first-level cache
_vectorised = compile_if_possible(reorder=True)


@dataclass(frozen=True, eq=False)
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
            rows, columns = (
                np.unique(point_of, return_index=True)[1][places]
                for point_of, places in ((self.row_of, rows), (self.column_of, columns))
            )
        f, g = solution.f[self.row_of], solution.g[self.column_of]
        return replace(solution, rows=rows, columns=columns, mass=mass, f=f, g=g)


def merged(problem: TransportProblem) -> Merged:
    """The problem with equal vectors merged; costs that are not vectors stay as they are. O(n log n)."""
    cost, whole = problem.cost, Merged(problem, problem, np.arange(0), np.arange(0))
    if not isinstance(cost, VectorCost):
        return whole
    x, row_of = np.unique(cost.x, axis=0, return_inverse=True)
    y, column_of = np.unique(cost.y, axis=0, return_inverse=True)
    if (len(x), len(y)) == cost.shape:
        return whole
    row_of, column_of = row_of.ravel(), column_of.ravel()
    a, b = np.bincount(row_of, weights=problem.a), np.bincount(column_of, weights=problem.b)
    return Merged(problem, TransportProblem(VectorCost(x, y, cost.norm), a, b), row_of, column_of)


def _share(points: Ints, mass: Floats, point_of: Ints, weights: Floats) -> tuple[Ints, Ints, Floats]:
    """Cut the masses of a plan, which lie at `points`, among the items of each point: item, old place, mass."""
    places, items = np.argsort(points, kind="stable"), np.argsort(point_of, kind="stable")
    place, item, part = overlaps(mass[places], weights[items])
    return items[item], places[place], part


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
    rows, columns = (
        np.sort(generator.choice(count, max(min(count, _LEAST), count // RATIO), replace=False)) for count in (n, m)
    )
    lighter = a[rows] / a[rows].sum(), b[columns] / b[columns].sum()
    coarse, points = _level(cost.part(rows, columns), *lighter, budget, generator)
    g = transform(cost.part(rows, np.arange(m)).flipped(), coarse.basis.f)
    return candidate_pairs(cost, supply, demand, g, budget), (*points, n + m)


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
