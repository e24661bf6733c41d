"""Depth-first search for a whole batch at once: every tick each search that is still going makes one push or pop.

A `Board` holds the rules of a batch of instances on arrays. The samplers use it; the solver and the verifier do not.
"""

from __future__ import annotations

import abc
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lengthwise.seeds import Ints
from lengthwise.tasks.batch import NOTHING

Flags = NDArray[np.bool_]


class Board(abc.ABC):
    """The rules of a batch. `rows` picks instances; a state is a row of whole numbers."""

    roots: Ints  # the states before anything was tried, [items, numbers]
    depth: int  # the most moves that can be in force
    push_width: int
    pop_width: int

    @abc.abstractmethod
    def valid(self, rows: Ints, levels: Ints, states: Ints) -> Flags:
        """Which options can be tried in these states, [rows, options]; none in a dead end."""

    @abc.abstractmethod
    def step(self, rows: Ints, levels: Ints, states: Ints, options: Ints) -> Ints:
        """The states that options lead to."""

    def goal(self, rows: Ints, levels: Ints, states: Ints) -> Flags:  # noqa: ARG002
        """Whether the search ends here; `levels` counts the moves in force. Without a goal it visits everything."""
        return np.zeros(len(rows), dtype=bool)

    @abc.abstractmethod
    def push(self, rows: Ints, levels: Ints, states: Ints, options: Ints, after: Ints) -> Ints:
        """What is written when an option is tried in `states`, [rows, push_width]."""

    @abc.abstractmethod
    def pop(self, rows: Ints, levels: Ints, states: Ints, options: Ints, after: Ints) -> Ints:
        """What is written when it is taken back, [rows, pop_width]."""


@dataclass(frozen=True)
class Trails:
    """What a batch of searches did. `tokens` is filled with NOTHING behind `lengths`; `depth` moves are in force at the
    end; event e of an item ended at token `ends[:, e]` and pushed the state whose first number is `pushed[:, e]` to
    level `levels[:, e]` (NOTHING for pops and for events that did not happen)."""

    tokens: Ints
    lengths: Ints
    solved: Flags
    depth: Ints
    ends: Ints
    pushed: Ints
    levels: Ints


def run_searches(board: Board, events: int) -> Trails:
    """Search until the goal, until nothing is left to try, or for this number of events. O(events) ticks on arrays."""
    roots = board.roots
    items, numbers = roots.shape
    level = np.zeros(items, dtype=np.int64)
    states = np.zeros((items, board.depth + 1, numbers), dtype=np.int64)
    states[:, 0] = roots
    options = np.zeros((items, board.depth + 1), dtype=np.int64)  # the move in force out of each level
    rows = np.arange(items)
    first = board.valid(rows, level, roots)
    untried = np.zeros((items, board.depth + 1, first.shape[1]), dtype=bool)
    untried[:, 0] = first
    tokens = np.full((items, events * max(board.push_width, board.pop_width)), NOTHING)
    lengths = np.zeros(items, dtype=np.int64)
    solved = np.zeros(items, dtype=bool)
    ends, pushed, levels = (np.full((items, events), NOTHING) for _ in range(3))
    for event in range(events):
        at = level[rows]
        left = untried[rows, at]
        goes_on = left.any(axis=1)
        alive = np.flatnonzero(goes_on | (at > 0))
        rows, at, left, goes_on = rows[alive], at[alive], left[alive], np.take(goes_on, alive)
        if not len(rows):
            break
        down, here, option = rows[goes_on], at[goes_on], left[goes_on].argmax(axis=1)
        if len(down):
            before = states[down, here]
            after = board.step(down, here, before, option)
            _write(tokens, lengths, down, board.push(down, here, before, option, after))
            untried[down, here, option] = False
            options[down, here] = option
            states[down, here + 1] = after
            level[down] = here + 1
            solved[down] = board.goal(down, here + 1, after)
            untried[down, here + 1] = board.valid(down, here + 1, after) & ~solved[down, None]
            pushed[down, event], levels[down, event] = after[:, 0], here + 1
        up, above = rows[~goes_on], at[~goes_on] - 1
        if len(up):
            before, after = states[up, above], states[up, above + 1]
            _write(tokens, lengths, up, board.pop(up, above, before, options[up, above], after))
            level[up] = above
        ends[rows, event] = lengths[rows]
        rows = rows[~solved[rows]]
    return Trails(tokens, lengths, solved, level, ends, pushed, levels)


def _write(tokens: Ints, lengths: Ints, rows: Ints, written: Ints) -> None:
    width = written.shape[1]
    tokens[rows[:, None], lengths[rows, None] + np.arange(width)] = written
    lengths[rows] += width
