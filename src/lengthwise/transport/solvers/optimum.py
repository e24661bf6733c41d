"""The optimum over all pairs, with only the promising ones in memory.

Find the optimum on candidate pairs; then look at all pairs for constraints `f_i + g_j <= c_ij` that its potentials
break; add the worst of them and go on from the same tree. When no pair is broken, the potentials are feasible for the
whole problem and tight on the plan, so the plan is an optimum of the whole problem. Every round adds a pair that was
missing, so the rounds end; measured, three to six are usual.

Memory O((n + m) k). Time O(n m d) a round for looking, less in the last ones, and the pivots.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lengthwise.transport.problem import Cost, Floats, Ints
from lengthwise.transport.solvers.basis import Basis
from lengthwise.transport.solvers.broken import Watch
from lengthwise.transport.solvers.scan import smallest

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
    basis, watch = _first(cost, supply, demand, g), Watch(cost, WORST)
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


def _first(cost: Cost, supply: Ints, demand: Ints, g: Floats) -> Basis:
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
