"""A trace as brackets: the mapping, its inverse, and what brackets say of depth."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lengthwise.errors import UsageError
from lengthwise.oracle.depth import peeling_rounds, read_trace
from lengthwise.tasks.search.problem import Move, Problem, dyck_view, replay, search_trace, trace_of
from searches import PROBLEMS, every_setting, items, made


class Tree(Problem):
    """Any tree: a node is the tuple of choices that lead to it; the goal is a node."""

    def __init__(self, children: dict[tuple[int, ...], tuple[int, ...]], goal: tuple[int, ...]) -> None:
        self.children, self.goal = children, goal

    @property
    def root(self) -> tuple[int, ...]:
        return ()

    def is_goal(self, state) -> bool:
        return state == self.goal

    def moves(self, state) -> list[Move]:
        return [Move(c, (f"to{c}",), ("back", f"to{c}"), (*state, c)) for c in self.children.get(state, ())]


@st.composite
def trees(draw) -> Tree:
    """A random tree of up to 30 nodes in which choices can be missing, and any node as its goal."""
    nodes: list[tuple[int, ...]] = [()]
    children: dict[tuple[int, ...], tuple[int, ...]] = {}
    for node in nodes:
        if len(nodes) < 25 and len(node) < 6:
            children[node] = tuple(sorted(draw(st.sets(st.integers(0, 4), max_size=3))))
            nodes += [(*node, choice) for choice in children[node]]
    return Tree(children, draw(st.sampled_from(nodes)))


def closed(word: tuple[str, ...]) -> list[str]:
    """The word with its open brackets closed."""
    stack = []
    for bracket in word:
        if bracket[0] == "(":
            stack.append(bracket[1:])
        else:
            assert stack.pop() == bracket[1:], "a bracket closes the last that is open"
    return [*word, *(f"){kind}" for kind in reversed(stack))]


@settings(max_examples=80, deadline=None)
@given(trees())
def test_random_searches_there_and_back(tree: Tree) -> None:
    trace = search_trace(tree)
    found = replay(tree, trace)
    assert found.valid and tuple(move.choice for move in found.path) == tree.goal
    view = dyck_view(found.events, kinds=5)
    assert trace_of(tree, view.word) == trace
    heights = list(itertools.accumulate(1 if bracket[0] == "(" else -1 for bracket in view.word))
    assert list(view.contour) == heights and view.depth == max(heights, default=0)
    assert heights[-1:] == ([len(tree.goal)] if trace else [])
    assert peeling_rounds(closed(view.word)) == view.depth


@pytest.mark.parametrize(("task", "size"), every_setting(), ids=str)
def test_traces_there_and_back(task, size) -> None:
    for prompt, trace in items(task, size, 20):
        view = task.brackets(prompt, trace)
        assert task.unbracketed(prompt, view.word) == trace
        assert view.kinds == task.kinds > max(int(bracket[1:]) for bracket in view.word)
        assert len(view.word) == len(view.contour) and view.contour[-1] == size
        whole = closed(view.word)
        assert peeling_rounds(whole) == view.depth
        known = read_trace(list(view.word))
        assert known.depth == view.depth and known.kinds <= view.kinds


@pytest.mark.parametrize("name", PROBLEMS)
def test_contour_of_tokens_follows_that_of_events(name: str) -> None:
    task = made(name)
    for prompt, trace in items(task, 3, 20):
        events = task.verify(prompt, trace).events
        tokens = task.contour(prompt, trace)[len(prompt) :]
        assert tuple(tokens[event.end - 1] for event in events) == task.brackets(prompt, trace).contour


MAZE = "4 7 ( 3 5 ( 8 4 ) )"


def test_brackets_by_hand() -> None:
    view = made("tree_maze").brackets(MAZE.split(), list("3<3758<854"))
    assert view.word == ("(0", ")0", "(1", "(0", ")0", "(1")
    assert (view.contour, view.depth, view.kinds) == ((1, 0, 1, 2, 1, 2), 2, 2)
    view = made("countdown").brackets(list("2345"), ["+", "4", "7", *"+5", "12", *"<+57-52"])
    assert view.word == ("(0", "(0", ")0", "(1")


WRONG = [
    ("(2", r"^bracket 1 is '\(2', and there is no choice 2 in that state$"),
    ("(0 )1", r"^bracket 2 is '\)1', which closes nothing that is open$"),
    (")0", r"^bracket 1 is '\)0', which closes"),
    ("(0 )0 )0", r"^bracket 3 is '\)0', which closes"),
    ("(0 (0", r"^bracket 2 is '\(0', and there is no choice 0"),  # room 3 has no ways out
    ("(1 (1 (0", r"^bracket 3 is '\(0', and there is no choice 0"),  # the goal is reached
    ("[0", r"^bracket 1 is '\[0'"),
    ("(", r"^bracket 1 is '\('"),
    ("(0 x", r"^bracket 2 is 'x'"),
]


@pytest.mark.parametrize(("word", "said"), WRONG)
def test_a_word_that_is_no_search_is_refused(word: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        made("tree_maze").unbracketed(MAZE.split(), word.split())


def test_a_trace_that_is_no_search_has_no_brackets() -> None:
    with pytest.raises(UsageError, match=r"^this is not a trace of the search: at token 1, .*continues with '3'$"):
        made("tree_maze").brackets(MAZE.split(), ["5", "4"])


@pytest.mark.parametrize("name", PROBLEMS)
def test_spoiled_words_give_another_trace_or_none(name: str) -> None:
    """The mapping is one to one: no other word leads to the same trace."""
    task, rng = made(name), np.random.default_rng(1)
    for prompt, trace in items(task, 3, 40):
        word = list(task.brackets(prompt, trace).word)
        place = int(rng.integers(len(word)))
        word[place] = f"{rng.choice(['(', ')'])}{rng.integers(task.kinds)}"
        if tuple(word) != task.brackets(prompt, trace).word:
            try:
                assert task.unbracketed(prompt, word) != trace
            except UsageError:
                continue
