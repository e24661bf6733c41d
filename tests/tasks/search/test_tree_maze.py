"""Tree mazes against their own prompt: rooms are visited in the order in which they are written."""

from __future__ import annotations

import collections
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from searches import made

TASK = made("tree_maze")
SPECS = (
    "tree_maze",
    "tree_maze:branching=3,content=30,span=30,top=40",
    "tree_maze:branching=1,content=12,span=12,top=20",
)


def nested(prompt: tuple[str, ...]) -> tuple[int, list]:
    """Goal and tree as [room, [way, ...]], read by JSON."""
    text = ""
    for token in prompt[1:]:
        if token == "(":
            text = text[:-4]
        elif token == ")":
            text = text.removesuffix(", ") + "]], "
        else:
            text += f"[{token}, []], "
    return int(prompt[0]), json.loads(text.removesuffix(", "))


def way_to(goal: int, tree: list) -> list[int] | None:
    """The rooms from the root to the goal."""
    room, ways = tree
    if room == goal:
        return [room]
    below = (way_to(goal, way) for way in ways)
    return next(([room, *rest] for rest in below if rest), None)


def items_of(spec: str, size: int, count: int) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    task = made(spec)
    drawn = task.draw(size, 5, range(count))
    return [(task.spelled(p), task.spelled(a)) for p, a in zip(drawn.prompts, drawn.answers, strict=True)]


def pushes(prompt: tuple[str, ...], trace: tuple[str, ...]) -> list[str]:
    return [event.move.push[0] for event in TASK.verify(prompt, trace).events if event.kind == "push"]


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("size", [2, 3, 5])
def test_rooms_are_entered_in_the_order_of_the_prompt(spec: str, size: int) -> None:
    """Depth-first order is the order of the labels in the prompt; the way left in force is the one to the goal."""
    for prompt, trace in items_of(spec, size, 60):
        labels = [token for token in prompt[2:] if token.isdecimal()]
        assert pushes(prompt, trace) == labels[: labels.index(prompt[0]) + 1]
        goal, tree = nested(prompt)
        way = way_to(goal, tree)
        assert way is not None and len(way) == size + 1
        assert [str(room) for room in way[1:]] == [move.push[0] for move in TASK.verify(prompt, trace).path]


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("size", [2, 4])
def test_the_shape_of_a_maze(spec: str, size: int) -> None:
    """Every room on the way has `branching` ways out; the others are dead ends, but one that has a room behind it."""
    branching = made(spec).branching  # pyright: ignore[reportAttributeAccessIssue]
    for prompt, _ in items_of(spec, size, 60):
        goal, tree = nested(prompt)
        way = way_to(goal, tree)
        ways: dict[int, list] = {}
        queue = [tree]
        for room, below in queue:
            ways[room] = below
            queue += below
        assert way is not None and len(ways) == len([token for token in prompt[1:] if token.isdecimal()])
        off = {room: below for room, below in ways.items() if room not in way}
        assert all(len(ways[room]) == branching for room in way[:-1]) and not ways[goal]
        deeper = [below for below in off.values() if below]
        assert len(deeper) == (branching > 1) and all(len(below) == 1 for below in deeper)


def test_every_way_is_the_right_one_equally_often() -> None:
    """At every level, whichever room it is."""
    task = made("tree_maze:branching=3,content=40,span=40,top=40")
    counts = np.zeros((3, 3), dtype=int)
    for prompt, trace in items_of("tree_maze:branching=3,content=40,span=40,top=40", 3, 1500):
        for level, move in enumerate(task.verify(prompt, trace).path):
            counts[level, move.choice] += 1
    assert (np.abs(counts - 500) < 5 * np.sqrt(500 * 2 / 3)).all(), counts


def test_a_dead_end_deeper_than_the_goal_can_be_entered() -> None:
    """The room behind a dead end of the last level lies one deeper than the goal."""
    depths = collections.Counter(
        max(TASK.brackets(prompt, trace).contour) for prompt, trace in items_of("tree_maze", 2, 300)
    )
    assert set(depths) == {2, 3} and depths[3] > 30


@st.composite
def mazes(draw) -> tuple[str, ...]:
    """Any tree with up to 12 rooms, written as a prompt; any room but the root is the goal."""
    count = draw(st.integers(2, 12))
    parents = [draw(st.integers(0, room - 1)) for room in range(1, count)]
    labels = [str(label) for label in draw(st.permutations(range(1, 21)))]

    def text(room: int) -> list[str]:
        below = [child for child, parent in enumerate(parents, start=1) if parent == room]
        inside = [token for child in below for token in text(child)]
        return [labels[room], *(["(", *inside, ")"] if inside else [])]

    return (labels[draw(st.integers(1, count - 1))], *text(0))


@settings(max_examples=60, deadline=None)
@given(mazes())
def test_any_maze(prompt: tuple[str, ...]) -> None:
    trace = tuple(TASK.solve(prompt))
    labels = [token for token in prompt[2:] if token.isdecimal()]
    assert pushes(prompt, trace) == labels[: labels.index(prompt[0]) + 1]
    assert TASK.verify(prompt, trace).valid
    way = way_to(*nested(prompt))
    assert way is not None and [str(room) for room in way[1:]] == [m.push[0] for m in TASK.verify(prompt, trace).path]


def test_a_goal_that_is_the_root_needs_no_search() -> None:
    assert tuple(TASK.solve(list("77(3)"))) == () and TASK.verify(list("77(3)"), ()).valid
