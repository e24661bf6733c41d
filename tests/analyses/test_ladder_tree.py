"""The search tree of a trace: the same search as the trace tells, drawn so that no two nodes meet."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lengthwise.analyses.ladder.traces import ROOT, search_tree
from lengthwise.tasks import tasks
from lengthwise.tasks.ladder import ladder_of
from lengthwise.tasks.search.problem import Event, Move


def traces(name: str):
    """Some items of every level, as (task, prompt, trace)."""
    for level in ladder_of(tasks.make(name), 3)[::6]:
        samples = level.task.draw(level.sizes[-1], 0, range(4), role="test")
        for prompt, answer in zip(samples.prompts, samples.answers, strict=True):
            yield level.task, level.task.spelled(prompt), level.task.spelled(answer)


@pytest.mark.parametrize("name", ["subset_sum", "countdown", "tree_maze"])
def test_the_tree_tells_the_search(name):
    for task, prompt, trace in traces(name):
        found = task.verify(prompt, trace)
        tree = search_tree(found.events)
        assert len(tree["labels"]) == 1 + sum(event.kind == "push" for event in found.events)
        on_path = [label for label, on in zip(tree["labels"], tree["path"], strict=True) if on]
        assert on_path[1:] == [" ".join(m.push) for m in found.path]
        # Every event, told again from the tree alone, gives the tokens of the trace.
        told = [token for _, _, start, end in tree["steps"] for token in trace[start:end]]
        assert told == list(trace)
        for (push, node, _, _), event in zip(tree["steps"], found.events, strict=True):
            assert event.depth == tree["down"][node] - (not push)


@st.composite
def walks(draw):
    """The events of any walk in a tree."""
    events, path = [], []
    for _ in range(draw(st.integers(0, 40))):
        if path and draw(st.booleans()):
            move = path.pop()
            events.append(Event("pop", move, len(path), len(events), len(events) + 1))
        else:
            path.append(Move(0, (str(len(events)),), ("<",), len(events)))
            events.append(Event("push", path[-1], len(path), len(events), len(events) + 1))
    return events


@given(walks())
def test_no_two_nodes_meet(events):
    tree = search_tree(events)
    assert tree["labels"][0] == ROOT and tree["parents"][0] == -1
    assert all(parent < place for place, parent in enumerate(tree["parents"]))  # the order of visits
    rows: dict[int, list[float]] = {}
    for down, across in zip(tree["down"], tree["across"], strict=True):
        rows.setdefault(down, []).append(across)
    for row in rows.values():
        assert all(right - left >= 1 for left, right in itertools.pairwise(row)), row
