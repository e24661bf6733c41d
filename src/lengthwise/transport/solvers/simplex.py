"""The network simplex method on a bipartite graph (ahuja1993, chapter 11): pivots on a spanning tree.

Nodes are the n rows, the m columns and a root. Arcs lead from rows to columns and have no upper bound on their flow,
so arcs outside the tree carry nothing, and the tree is stored by node: the arc between v and its parent, its
direction and its flow. `thread` lists the nodes in preorder, `size` and `last` are the size and the last node of the
subtree below v in it.

A pivot takes an arc with negative slack into the tree, sends flow around the cycle it closes until an arc is empty, and
takes that one out. Of several empty ones it is the last on the way around the cycle from its top, which keeps all empty
tree arcs pointing to the root; then no sequence of pivots repeats (cunningham1976).

A pivot costs O(block) for choosing and O(depth + smaller part of the tree) for the rest. The functions use neither
numpy nor containers, so that they run compiled on arrays, and interpreted on lists when numba is not there.
"""

from __future__ import annotations

import functools
import importlib.util
from collections.abc import Callable
from typing import Any, NamedTuple

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


ROUNDING = 1e-14

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
