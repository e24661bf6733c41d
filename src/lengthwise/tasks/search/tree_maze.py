"""A maze that is a tree: find the way to the goal."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.seeds import Draws, Ints
from lengthwise.tasks import tasks
from lengthwise.tasks.alphabets import numerals
from lengthwise.tasks.batch import NOTHING, Samples
from lengthwise.tasks.ladder import Rung
from lengthwise.tasks.search.lockstep import Board, Flags, run_searches
from lengthwise.tasks.search.problem import POP, Move, Problem
from lengthwise.tasks.search.search_task import SearchTask, check_range, distinct_values, parsed

OPEN, CLOSE = "(", ")"


@tasks.register("tree_maze")
@dataclass(frozen=True)
class TreeMaze(SearchTask):
    """Find the way from the root of a tree to the goal by depth-first search, and write the search.

    `4 7 ( 3 5 ( 8 4 ) )` → `3 < 3 7 5 8 < 8 5 4`: from 7 to 3, which leads nowhere, from 3 back to 7, on to 5 and to 8,
    back to 5, and to the goal 4. The prompt is the goal, the root, and behind every room with ways out, in brackets,
    the rooms they lead to; they are tried in this order. The goal is as deep as the size says; each room on the way to
    it has `branching` ways out, of which the others are dead ends; one dead end of the maze leads into one room more.
    All labels of an item are different.
    """

    branching: int = 2
    content: int = 26
    span: int = 26
    top: int = 44

    rungs = (Rung("depth", 1), Rung("branching", 1), Rung("content", 3))

    def __post_init__(self) -> None:
        check_range(self.branching, self.span, self.content, self.top)

    @property
    def symbols(self) -> tuple[str, ...]:
        return (OPEN, CLOSE, POP, *numerals(1, self.top + 1))

    @property
    def kinds(self) -> int:
        return self.branching

    def rooms(self, size: int) -> int:
        """The rooms of a maze: the root, all ways out on the way, and a room behind one dead end, if there is one."""
        return 1 + size * self.branching + (self.branching > 1)

    def deepest(self, size: int) -> int:
        """The goal, or the room behind a dead end next to it."""
        return size + (self.branching > 1)

    def has(self, size: int) -> bool:
        return super().has(size) and self.rooms(size) <= self.span

    def attempt(self, size: int, draws: Draws) -> tuple[Samples, Flags]:
        items, ways = len(draws), self.branching
        labels = distinct_values(draws, self.rooms(size), self.span, self.content, self.top)
        onward = draws.integers(0, ways, size)  # which way leads to the goal
        other = (onward + draws.integers(1, max(2, ways), size)) % ways  # a dead end of each room on the way
        deeper = draws.integers(0, size, 1)[:, 0]  # the level whose dead end goes on
        # Room 0 is the root, 1 + level * ways + way a way out of the room on the path, the last is behind a dead end.
        children = np.full((items, self.rooms(size), ways), NOTHING)
        rows, path = np.arange(items), np.zeros(items, dtype=np.int64)
        for level in range(size):
            first = 1 + level * ways
            children[rows, path] = first + np.arange(ways)
            path = first + onward[:, level]
        if ways > 1:
            children[rows, 1 + deeper * ways + other[rows, deeper], 0] = 1 + size * ways
        label = labels + 2  # as symbols
        plan = run_searches(_Printer(children, label, path, size + 1), 2 * self.rooms(size)).tokens
        written = np.argsort(plan == NOTHING, axis=1, kind="stable")[:, : self.rooms(size) - 1 + 2 * (size + 1)]
        prompts = np.column_stack([label[rows, path], label[:, 0], np.take_along_axis(plan, written, axis=1)])
        trails = run_searches(_MazeBoard(children, label, path, size + 1), 2 * self.rooms(size))
        longest = self.rooms(size) + (self.rooms(size) - 1 - size) * _MazeBoard.pop_width
        return Samples(prompts, trails.tokens[:, :longest]), trails.solved

    def problem(self, prompt: Sequence[str]) -> Problem:
        wanted = "every room is written once, its ways in brackets behind it, as in 4 7 ( 3 5 ( 8 4 ) )"
        ways: dict[int, list[int]] = {}
        around: list[int] = []  # the rooms whose brackets are open
        before = ""
        for text in prompt[1:]:
            if text == OPEN and before.isdigit():
                around.append(int(before))
            elif text == CLOSE and around and before != OPEN:
                around.pop()
            elif text.isdecimal() and parsed(text, self.top, "a room") not in ways and bool(around) == bool(ways):
                ways[parsed(text, self.top, "a room")] = []
                if around:
                    ways[around[-1]].append(int(text))
            else:
                raise UsageError(f"{wanted}, not {' '.join(prompt)!r}")
            before = text
        if around or not ways:
            raise UsageError(f"{wanted}, not {' '.join(prompt)!r}")
        return _Maze(parsed(prompt[1], self.top, "a room"), parsed(prompt[0], self.top, "the goal"), ways)


@dataclass(frozen=True, eq=False)
class _Maze(Problem):
    """A state is a room."""

    start: int
    end: int
    ways: Mapping[int, Sequence[int]]

    @property
    def root(self) -> Hashable:
        return self.start

    def is_goal(self, state: Hashable) -> bool:
        return state == self.end

    def moves(self, state: Hashable) -> Sequence[Move]:
        here = int(state)  # pyright: ignore[reportArgumentType]
        return [
            Move(choice, (str(room),), (POP, str(room), str(here)), room) for choice, room in enumerate(self.ways[here])
        ]


class _MazeBoard(Board):
    """The same on arrays; a state is the number of a room, `label` its symbol."""

    push_width, pop_width = 1, 3

    def __init__(self, children: Ints, label: Ints, goals: Ints, depth: int) -> None:
        self.children, self.label, self.goals, self.depth = children, label, goals, depth
        self.roots = np.zeros((len(label), 1), dtype=np.int64)

    def valid(self, rows: Ints, levels: Ints, states: Ints) -> Flags:  # noqa: ARG002
        return self.children[rows, states[:, 0]] != NOTHING

    def step(self, rows: Ints, levels: Ints, states: Ints, options: Ints) -> Ints:  # noqa: ARG002
        return self.children[rows, states[:, 0], options][:, None]

    def goal(self, rows: Ints, levels: Ints, states: Ints) -> Flags:  # noqa: ARG002
        return states[:, 0] == self.goals[rows]

    def push(self, rows: Ints, levels: Ints, states: Ints, options: Ints, after: Ints) -> Ints:  # noqa: ARG002
        return self.label[rows, after[:, 0]][:, None]

    def pop(self, rows: Ints, levels: Ints, states: Ints, options: Ints, after: Ints) -> Ints:  # noqa: ARG002
        return np.column_stack([np.full(len(rows), 2), self.label[rows, after[:, 0]], self.label[rows, states[:, 0]]])


class _Printer(_MazeBoard):
    """Walks the whole tree and writes it down: a label for each room, brackets around the ways of one."""

    push_width, pop_width = 2, 1
    goal = Board.goal

    def push(self, rows: Ints, levels: Ints, states: Ints, options: Ints, after: Ints) -> Ints:  # noqa: ARG002
        return np.column_stack([np.where(options == 0, 0, NOTHING), self.label[rows, after[:, 0]]])

    def pop(self, rows: Ints, levels: Ints, states: Ints, options: Ints, after: Ints) -> Ints:  # noqa: ARG002
        ways = (self.children[rows, states[:, 0]] != NOTHING).sum(axis=1)
        return np.where(options == ways - 1, 1, NOTHING)[:, None]
