"""Searches in lockstep against the recursive one, on trees that no sampler draws."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lengthwise.tasks.batch import NOTHING
from lengthwise.tasks.search.lockstep import Board, run_searches
from lengthwise.tasks.search.search_task import longest_trace

WAYS, DEPTH = 3, 4


class Forest(Board):
    """A complete tree of choices for each row; `open_` says which can be tried, `goals` where it ends. A state is the
    number of a node, counted row by row from the root."""

    depth, push_width, pop_width = DEPTH, 1, 2

    def __init__(self, open_: np.ndarray, goals: np.ndarray) -> None:
        self.open, self.goals = open_, goals
        self.roots = np.zeros((len(open_), 1), dtype=np.int64)

    def valid(self, rows, levels, states) -> np.ndarray:
        return self.open[rows, states[:, 0]] & (levels < DEPTH)[:, None]

    def step(self, rows, levels, states, options) -> np.ndarray:
        return states * WAYS + 1 + options[:, None]

    def goal(self, rows, levels, states) -> np.ndarray:
        return self.goals[rows, states[:, 0]]

    def push(self, rows, levels, states, options, after) -> np.ndarray:
        return after

    def pop(self, rows, levels, states, options, after) -> np.ndarray:
        return np.column_stack([after[:, 0] + 1000, states[:, 0] + 2000])


def recursive(open_: np.ndarray, goals: np.ndarray, events: int) -> tuple[list[int], bool, int]:
    """Tokens, success and depth at the end of one row, by the obvious recursion, cut off after so many events."""
    written: list[list[int]] = []
    depths: list[int] = []

    def visit(node: int, level: int) -> bool:
        for option in range(WAYS):
            if level < DEPTH and open_[node, option]:
                child = node * WAYS + 1 + option
                written.append([child])
                depths.append(level + 1)
                if goals[child] or visit(child, level + 1):
                    return True
                written.append([child + 1000, node + 2000])
                depths.append(level)
        return False

    solved = visit(0, 0) and len(written) <= events
    kept = written[:events]
    return [token for event in kept for token in event], solved, (depths[: len(kept)] or [0])[-1]


NODES = sum(WAYS**level for level in range(DEPTH + 1))


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 2**32), st.floats(0.1, 1.0), st.floats(0.0, 0.2), st.integers(1, 2 * NODES + 5), st.integers(1, 12)
)
def test_lockstep_does_what_recursion_does(seed: int, often: float, goals: float, events: int, rows: int) -> None:
    rng = np.random.default_rng(seed)
    open_, ends = rng.random((rows, NODES, WAYS)) < often, rng.random((rows, NODES)) < goals
    trails = run_searches(Forest(open_, ends), events)
    for row in range(rows):
        tokens, solved, depth = recursive(open_[row], ends[row], events)
        length = trails.lengths[row]
        assert trails.tokens[row, :length].tolist() == tokens
        assert (trails.tokens[row, length:] == NOTHING).all()
        assert trails.solved[row] == solved and trails.depth[row] == depth


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 40))
def test_what_is_noted_of_events_fits_the_tokens(seed: int, events: int) -> None:
    rng = np.random.default_rng(seed)
    trails = run_searches(Forest(rng.random((6, NODES, WAYS)) < 0.7, rng.random((6, NODES)) < 0.03), events)
    for row in range(6):
        ends = trails.ends[row][trails.ends[row] != NOTHING]
        assert ends.tolist() == sorted(set(ends.tolist())) and (ends[-1] if len(ends) else 0) == trails.lengths[row]
        level = 0
        for event, end in enumerate(ends.tolist()):
            start = int(ends[event - 1]) if event else 0
            if trails.levels[row, event] == NOTHING:
                assert end - start == Forest.pop_width and trails.pushed[row, event] == NOTHING
                level -= 1
            else:
                assert end - start == Forest.push_width and trails.pushed[row, event] == trails.tokens[row, start]
                level += 1
                assert trails.levels[row, event] == level
        assert trails.depth[row] == level
        assert (trails.levels[row, len(ends) :] == NOTHING).all()


def test_a_row_does_not_know_its_batch() -> None:
    rng = np.random.default_rng(0)
    open_, ends = rng.random((20, NODES, WAYS)) < 0.6, rng.random((20, NODES)) < 0.05
    whole = run_searches(Forest(open_, ends), 30)
    some = [19, 3, 3, 0]
    part = run_searches(Forest(open_[some], ends[some]), 30)
    for name in ("tokens", "lengths", "solved", "depth", "ends", "pushed", "levels"):
        assert np.array_equal(getattr(whole, name)[some], getattr(part, name)), name


@pytest.mark.parametrize(("push", "pop"), [(3, 4), (1, 3), (2, 2)])
@pytest.mark.parametrize("depth", [1, 2, 5])
@pytest.mark.parametrize("events", [1, 2, 5, 8, 13])
def test_the_longest_trace_by_trying_all(events: int, depth: int, push: int, pop: int) -> None:
    """Over all numbers of pushes and pops that a search can have when it ends at the goal."""
    possible = [
        pushes * push + pops * pop
        for pushes in range(events + 1)
        for pops in range(events + 1 - pushes)
        if 1 <= pushes - pops <= depth
    ]
    assert longest_trace(events, depth, push, pop) >= max(possible)
    # One event can be left over where its parity does not fit.
    assert longest_trace(events, depth, push, pop) <= max(possible) + push + pop
