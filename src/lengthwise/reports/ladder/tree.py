"""The search tree of a trace: what was visited, in which order, and which way led to the goal.

A push makes a node below the one the search stands at, a pop goes back up. Each node has a place: leaves stand side by
side in the order they were visited, and a node with children above their middle, so that no two nodes meet.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lengthwise.tasks.search.replay import Event

ROOT = "start"


@dataclass(frozen=True)
class Node:
    """One state that was visited. `parent` is the place of the node above among the nodes, -1 for the root; `across`
    and `down` say where it is drawn, in steps."""

    label: str
    parent: int
    across: float
    down: int
    on_path: bool


@dataclass(frozen=True)
class Step:
    """One event: the node it enters or leaves, and its tokens `trace[start:end]`."""

    kind: str
    node: int
    start: int
    end: int


@dataclass(frozen=True)
class SearchTree:
    """The nodes in the order they were visited, and the events that visited them."""

    nodes: tuple[Node, ...]
    steps: tuple[Step, ...]

    def plain(self) -> dict[str, Any]:
        """By columns, as the page holds it."""
        return {
            "labels": [node.label for node in self.nodes],
            "parents": [node.parent for node in self.nodes],
            "across": [node.across for node in self.nodes],
            "down": [node.down for node in self.nodes],
            "path": [int(node.on_path) for node in self.nodes],
            "steps": [[int(step.kind == "push"), step.node, step.start, step.end] for step in self.steps],
        }


def search_tree(events: Sequence[Event]) -> SearchTree:
    """The tree of the events of a trace. O(nodes)."""
    labels, parents, steps, open_nodes = [ROOT], [-1], [], [0]
    for event in events:
        if event.kind == "push":
            labels.append(" ".join(event.move.push))
            parents.append(open_nodes[-1])
            open_nodes.append(len(labels) - 1)
            steps.append(Step("push", open_nodes[-1], event.start, event.end))
        else:
            steps.append(Step("pop", open_nodes.pop(), event.start, event.end))
    across = _across(parents)
    down = [0] * len(parents)
    for node in range(1, len(parents)):
        down[node] = down[parents[node]] + 1
    path = set(open_nodes)
    rows = zip(labels, parents, across, down, strict=True)
    nodes = tuple(Node(*row, on_path=place in path) for place, row in enumerate(rows))
    return SearchTree(nodes, tuple(steps))


def _across(parents: Sequence[int]) -> list[float]:
    """Leaves at 0, 1, 2, …; a parent in the middle between its first and its last child."""
    children: list[list[int]] = [[] for _ in parents]
    for node, parent in enumerate(parents):
        if parent >= 0:
            children[parent].append(node)
    across, leaves = [0.0] * len(parents), 0
    for node in range(len(parents)):  # nodes are numbered as they were visited, so leaves come from left to right
        if not children[node]:
            across[node], leaves = float(leaves), leaves + 1
    for node in reversed(range(len(parents))):
        if below := children[node]:
            across[node] = (across[below[0]] + across[below[-1]]) / 2
    return across
