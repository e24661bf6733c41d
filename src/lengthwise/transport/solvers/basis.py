"""A spanning tree with a flow on it, from a greedy start to an optimum on the arcs it knows.

Masses are integers that sum to 2^60 on both sides, so a flow is conserved exactly and ends without dust; a weight is
off by at most 2^-60, which `verify` sees in the marginals. Costs stay real numbers: nothing is scaled or rounded.

Mass that the arcs cannot place goes over the root, by artificial arcs that cost `penalty` each way. With a penalty of
at least the largest cost this is dearer than any pair, so no optimum over all pairs uses it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from lengthwise.transport.problem import Floats, Ints
from lengthwise.transport.solvers.simplex import Arcs, Tree, compile_if_possible, compiled, pivot

UNIT = 1 << 60  # the mass of a sample
PIVOTS = 10_000  # after which the potentials are recomputed

_compiled = compile_if_possible()


def integer_masses(a: Floats, b: Floats) -> tuple[Ints, Ints]:
    """The weights as integers with the same sum on both sides; the heaviest item takes what rounding leaves."""
    supply, demand = (np.floor(weights * UNIT).astype(np.int64) for weights in (a, b))
    supply[np.argmax(a)] += UNIT - int(supply.sum())
    demand[np.argmax(b)] += UNIT - int(demand.sum())
    return supply, demand


@dataclass
class Basis:
    """A tree that spans n rows, m columns and the root, the arcs it may use, and the penalty of the root."""

    n: int
    m: int
    arcs: Arcs
    tree: Tree
    penalty: float

    @classmethod
    def greedy(
        cls, supply: Ints, demand: Ints, rows: Ints, columns: Ints, costs: Floats, order: Ints, penalty: float
    ) -> Basis:
        """Fill the pairs in the given order, each as far as it goes; what is left goes over the root. O(arcs)."""
        n, m = len(supply), len(demand)
        arcs = Arcs(rows, columns + n, costs)
        parts = [np.zeros(n + m + 1, np.int64) for _ in Tree._fields[:-1]]
        tree = Tree(*parts, potential=np.zeros(n + m + 1))
        left = np.concatenate([supply, demand])
        _on(_fill, arcs, order, left, n, tree)
        _on(_thread, tree, np.full(n + m + 1, -1), np.full(n + m + 1, -1))
        basis = cls(n, m, arcs, tree, penalty)
        basis.settle()
        return basis

    @property
    def f(self) -> Floats:
        return -self.tree.potential[: self.n]

    @property
    def g(self) -> Floats:
        return self.tree.potential[self.n : self.n + self.m]

    @property
    def complete(self) -> bool:
        """Whether nothing goes over the root."""
        return not self.tree.flow[(self.tree.arc < 0) & (self.tree.parent >= 0)].any()

    def add(self, rows: Ints, columns: Ints, costs: Floats) -> None:
        """More arcs; the tree stays."""
        new = (rows, columns + self.n, costs)
        self.arcs = Arcs(*(np.concatenate(parts) for parts in zip(self.arcs, new, strict=True)))

    def improve(self, limit: int) -> tuple[int, bool]:
        """Pivot to an optimum on the known arcs; returns the pivots made and whether it got there."""
        block = max(32, math.isqrt(len(self.arcs.cost)))
        made, ended, position = 0, False, 0
        while made < limit and not ended:
            some, ended, position = _on(pivot, self.arcs, self.tree, block, position, min(PIVOTS, limit - made))
            made += some
            self.settle()
        return made, ended

    def settle(self) -> None:
        """Recompute the potentials from the tree, so that the rounding of many pivots does not add up."""
        _on(_potentials, self.arcs, self.tree, self.penalty)

    def plan(self) -> tuple[Ints, Ints, Floats]:
        """Rows, columns and masses of the pairs in use."""
        used = np.flatnonzero((self.tree.arc >= 0) & (self.tree.flow > 0))
        arcs = self.tree.arc[used]
        return self.arcs.tail[arcs], self.arcs.head[arcs] - self.n, self.tree.flow[used] / UNIT


def _on(function: Any, *arguments: Any) -> Any:
    """Call a compiled function; an interpreted one gets lists, which it reads several times faster than arrays."""
    if compiled():
        return function(*arguments)
    given = [
        type(part)(*(values.tolist() for values in part))
        if isinstance(part, tuple)
        else part.tolist()
        if isinstance(part, np.ndarray)
        else part
        for part in arguments
    ]
    result = function(*given)
    for before, after in zip(arguments, given, strict=True):
        if isinstance(before, Tree):
            for values, changed in zip(before, after, strict=True):
                values[:] = changed
    return result


@_compiled
def _fill(arcs, order, left, n, tree):
    """Fill arcs in order. A filled arc spends one of its ends, which becomes the child of the other and is not used
    again; so the node by which a part of the forest hangs on the root is the one that is not spent."""
    root = len(left)
    for node in range(root + 1):
        tree.parent[node], tree.arc[node] = root, -1
    for arc in order:
        tail, head = arcs.tail[arc], arcs.head[arc]
        amount = min(left[tail], left[head])
        if amount == 0:
            continue
        left[tail] -= amount
        left[head] -= amount
        # When both are spent the row stays: an empty arc has to lead to the root.
        child, other = (head, tail) if left[head] == 0 else (tail, head)
        tree.parent[child], tree.arc[child], tree.flow[child] = other, arc, amount
        tree.up[child] = 1 if child == tail else 0
    for node in range(root):
        if tree.arc[node] < 0:
            tree.flow[node] = left[node]
            tree.up[node] = 1 if left[node] == 0 or node < n else 0
    tree.parent[root] = -1


@_compiled
def _thread(tree, eldest, sibling):
    """Thread, sizes and last nodes from the parents; `eldest` and `sibling` are filled with -1."""
    root = len(tree.parent) - 1
    for node in range(root):
        sibling[node], eldest[tree.parent[node]] = eldest[tree.parent[node]], node
    before = node = root
    while node >= 0:
        tree.thread[before], tree.back[node] = node, before
        tree.size[node], tree.last[node], before = 1, node, node
        if eldest[node] >= 0:
            node = eldest[node]
            continue
        while node >= 0 and sibling[node] < 0:
            above = tree.parent[node]
            if above >= 0:
                tree.size[above] += tree.size[node]
                tree.last[above] = tree.last[node]
            node = above
        if node >= 0:
            above = tree.parent[node]
            tree.size[above] += tree.size[node]
            node = sibling[node]
    tree.thread[before], tree.back[root] = root, before


@_compiled
def _potentials(arcs, tree, penalty):
    """Potentials from the root down, along the thread. The root has that of the penalty: an optimum hangs on it by an
    empty arc from a row, which so gets 0, and the penalty leaves no rounding in the potentials."""
    root = len(tree.parent) - 1
    tree.potential[root] = penalty
    node = tree.thread[root]
    while node != root:
        cost = penalty if tree.arc[node] < 0 else arcs.cost[tree.arc[node]]
        tree.potential[node] = tree.potential[tree.parent[node]] + (-cost if tree.up[node] else cost)
        node = tree.thread[node]
