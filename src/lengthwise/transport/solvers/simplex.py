"""The network simplex method on a bipartite graph (ahuja1993, chapter 11): a spanning tree with a flow on it, from a
greedy start to an optimum on the arcs it knows.

Nodes are the n rows, the m columns and a root. Arcs lead from rows to columns and have no upper bound on their flow,
so arcs outside the tree carry nothing, and the tree is stored by node: the arc between v and its parent, its
direction and its flow. `thread` lists the nodes in preorder, `size` and `last` are the size and the last node of the
subtree below v in it.

A pivot takes an arc with negative slack into the tree, sends flow around the cycle it closes until an arc is empty, and
takes that one out. Of several empty ones it is the last on the way around the cycle from its top, which keeps all empty
tree arcs pointing to the root; then no sequence of pivots repeats (cunningham1976). A pivot costs O(block) for choosing
and O(depth + smaller part of the tree) for the rest.

Masses are integers that sum to 2^60 on both sides, so a flow is conserved exactly and ends without dust; a weight is
off by at most 2^-60, which `verify` sees in the marginals. Costs stay real numbers: nothing is scaled or rounded. Mass
that the arcs cannot place goes over the root, by artificial arcs that cost `penalty` each way. With a penalty of at
least the largest cost this is dearer than any pair, so no optimum over all pairs uses it.

The compiled functions use neither numpy nor containers, so that they run interpreted on lists when numba is not there.
"""

from __future__ import annotations

import functools
import importlib.util
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from lengthwise.transport.problem import Floats, Ints

ROUNDING = 1e-14
UNIT = 1 << 60  # the mass of a sample
PIVOTS = 10_000  # after which the potentials are recomputed
INSTALL = "pip install 'lengthwise[ot]'"


@functools.cache
def compiled() -> bool:
    """Whether numba is installed."""
    return importlib.util.find_spec("numba") is not None


def compile_if_possible(reorder: bool = False) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator that compiles at the first call and keeps the result on disk, or that does nothing without numba.

    `reorder` lets sums be reordered, so that loops become vector instructions; infinities keep their meaning.
    """
    if not compiled():
        return lambda function: function
    import numba

    return numba.njit(cache=True, nogil=True, fastmath={"contract", "reassoc", "nsz"} if reorder else False)


_compiled = compile_if_possible()


class Arcs(NamedTuple):
    """Arcs from rows to columns, as nodes, with their costs."""

    tail: Any
    head: Any
    cost: Any


class Tree(NamedTuple):
    """A spanning tree by node: see above. The arc of v is -1 when it is the artificial one between v and the root."""

    parent: Any
    arc: Any
    up: Any  # 1: the arc leads from v to its parent; 0: from the parent to v
    flow: Any
    thread: Any
    back: Any  # the thread backwards
    size: Any
    last: Any
    potential: Any  # cost + potential[tail] - potential[head] is the slack of an arc


@_compiled
def pivot(arcs, tree, block, position, limit):
    """Pivot until no arc has a negative slack or `limit` pivots are made; returns the pivots made, whether it ended,
    and the position it came to. Arcs are looked at in blocks, in turn; the one with the least slack of a block
    enters."""
    made, clean, count = 0, 0, len(arcs.cost)
    while clean < count:
        least, entering = 0.0, -1
        for _ in range(min(block, count)):
            cost = arcs.cost[position]
            tail, head = tree.potential[arcs.tail[position]], tree.potential[arcs.head[position]]
            slack = cost + tail - head
            # A slack that is nothing but the rounding of its three terms is none.
            if slack < least and slack < -ROUNDING * (cost + abs(tail) + abs(head)):
                least, entering = slack, position
            position = position + 1 if position + 1 < count else 0
        if entering < 0:
            clean += block
            continue
        if made >= limit:
            return made, False, position
        clean = 0
        made += 1
        _exchange(arcs, tree, entering, least)
    return made, True, position


@_compiled
def _exchange(arcs, tree, entering, slack):
    """One pivot with the given entering arc."""
    tail, head = arcs.tail[entering], arcs.head[entering]
    top = _join(tree, tail, head)
    child, amount, below_tail = _leaving(tree, tail, head, top)
    node = tail
    while node != top:
        tree.flow[node] += -amount if tree.up[node] else amount
        node = tree.parent[node]
    node = head
    while node != top:
        tree.flow[node] += amount if tree.up[node] else -amount
        node = tree.parent[node]
    inner, outer = (tail, head) if below_tail else (head, tail)
    _cut(tree, child, top)
    _turn(tree, inner, child)
    tree.parent[inner], tree.arc[inner], tree.flow[inner] = outer, entering, amount
    tree.up[inner] = 1 if below_tail else 0
    _graft(tree, inner, outer, top)
    _shift(tree, inner, -slack if below_tail else slack)


@_compiled
def _join(tree, one, other):
    """The lowest common ancestor: of two nodes, the one with the smaller subtree is no ancestor of the other."""
    while one != other:
        if tree.size[one] < tree.size[other]:
            one = tree.parent[one]
        else:
            other = tree.parent[other]
    return one


@_compiled
def _leaving(tree, tail, head, top):
    """The child end of the arc that empties first when flow goes top … tail, head … top, the last of several in this
    order; how much flow that takes; and whether it lies between the tail and the top."""
    amount, child, below_tail = -1, -1, True
    node = tail
    while node != top:
        if tree.up[node] and (amount < 0 or tree.flow[node] < amount):
            amount, child = tree.flow[node], node
        node = tree.parent[node]
    node = head
    while node != top:
        if not tree.up[node] and (amount < 0 or tree.flow[node] <= amount):
            amount, child, below_tail = tree.flow[node], node, False
        node = tree.parent[node]
    return child, amount, below_tail


@_compiled
def _cut(tree, child, top):
    """Take the subtree below `child` out of the thread, and out of sizes up to `top`; its own thread becomes a ring."""
    end, before, size = tree.last[child], tree.back[child], tree.size[child]
    after = tree.thread[end]
    tree.thread[before], tree.back[after] = after, before
    tree.thread[end], tree.back[child] = child, end
    node = tree.parent[child]
    while node != top:
        tree.size[node] -= size
        node = tree.parent[node]
    node = tree.parent[child]
    while node >= 0 and tree.last[node] == end:
        tree.last[node] = before
        node = tree.parent[node]


@_compiled
def _turn(tree, new, old):
    """Make `new` the root of the cut subtree whose root was `old`.

    Along the path new = s0, s1, …, old each node becomes the last child of the one before. In preorder what was below
    s(i) but not below s(i - 1) follows as a piece: the nodes from s(i) to where the hole begins, then those behind it.
    """
    whole = tree.size[old]
    end = tree.last[new]  # of the new preorder so far
    node, below = tree.parent[new], new
    arc, up, flow = tree.arc[new], tree.up[new], tree.flow[new]
    size_below, last_below, first_behind, before = tree.size[new], tree.last[new], tree.thread[end], tree.back[new]
    while below != old:
        following, last, size = tree.parent[node], tree.last[node], tree.size[node]
        # Where the hole reached the end of the piece, what lay behind it lies behind the piece as well.
        next_behind = first_behind if last == last_below else tree.thread[last]
        next_before = tree.back[node]
        # The piece: node … before, and first_behind … last when something lies behind the hole.
        tree.thread[end], tree.back[node] = node, end
        end = before
        if last != last_below:
            tree.thread[end], tree.back[first_behind] = first_behind, end
            end = last
        tree.parent[node] = below
        tree.arc[node], arc = arc, tree.arc[node]
        tree.flow[node], flow = flow, tree.flow[node]
        tree.up[node], up = 1 - up, tree.up[node]
        tree.size[node] = whole - size_below
        size_below, last_below, first_behind, before = size, last, next_behind, next_before
        below, node = node, following
    tree.thread[end], tree.back[new] = new, end
    tree.size[new] = whole
    node = old
    while node != new:
        tree.last[node] = end
        node = tree.parent[node]
    tree.last[new] = end


@_compiled
def _graft(tree, child, node, top):
    """Put the subtree below `child`, whose parent is set, into the thread right behind `node`."""
    end, after = tree.last[child], tree.thread[node]
    tree.thread[node], tree.back[child] = child, node
    tree.thread[end], tree.back[after] = after, end
    above = node
    while above != top:
        tree.size[above] += tree.size[child]
        above = tree.parent[above]
    above = node
    while above >= 0 and tree.last[above] == node:
        tree.last[above] = end
        above = tree.parent[above]


@_compiled
def _shift(tree, child, amount):
    """Move the potentials below `child` by an amount against the others; the smaller part moves."""
    total = len(tree.parent)
    if 2 * tree.size[child] <= total:
        node, count = child, tree.size[child]
    else:
        node, count, amount = tree.thread[tree.last[child]], total - tree.size[child], -amount
    for _ in range(count):
        tree.potential[node] += amount
        node = tree.thread[node]


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
        """Fill the pairs in the given order, each as far as possible; the rest goes through the root. O(arcs)."""
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
