"""Countdown: reach the target from a row of numbers by arithmetic."""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Literal, Self, get_args

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.records import Reference
from lengthwise.seeds import Draws, Ints
from lengthwise.tasks import tasks
from lengthwise.tasks.alphabets import numerals
from lengthwise.tasks.batch import NOTHING, Samples
from lengthwise.tasks.facts import Facts
from lengthwise.tasks.ladder import Rung
from lengthwise.tasks.search.lockstep import Board, Flags, Trails, run_searches
from lengthwise.tasks.search.problem import POP, Move, Problem
from lengthwise.tasks.search.search_task import SearchTask, check_range, distinct_values, longest_trace, parsed

Targets = Literal["seen", "held_out"]
OPERATIONS = "+-*/"
HELD_OUT = 7  # targets that end in this digit are kept out of training: one in ten


@tasks.register("countdown")
@dataclass(frozen=True)
class Countdown(SearchTask):
    """Reach the target from a row of numbers by arithmetic, by depth-first search, and write the search.

    `2 3 4 5` → `+ 4 7 + 5 12 < + 5 7 - 5 2`: 3 + 4 is 7, 7 + 5 is 12, which is not 2; back to 7; 7 - 5 is 2. The
    running value starts as the first number; a step combines it with one of the next `branching` numbers of the row by
    an operation, and after as many steps as the size says it must be the target. Numbers are tried in order, and for
    each number the operations in order. A difference is the larger minus the smaller and not 0, a quotient is whole,
    nothing is multiplied or divided by 1 and nothing exceeds `top`. The row has size + branching numbers, so that there
    is always as much to choose from; with branching 1 the row is used up, as in Stream of Search.

    The target is the value of one of the first leaves, any with the same chance. Targets that end in 7 are held out of
    training; `targets=held_out` draws only those.
    """

    branching: int = 1
    content: int = 10
    span: int = 10
    operations: str = "+-"
    top: int = 24
    targets: Targets = "seen"

    # A prompt does not tell `branching`, so the task `along` cannot move it; the ladder, whose levels are tasks, can.
    axes = tuple(axis for axis in SearchTask.axes if axis.name != "branching")
    rungs = (Rung("depth", 1), Rung("branching", 1), Rung("content", 2))
    facts = Facts(references=(Reference("gandhi2024", "Stream of Search, the game and held-out targets"),))

    def __post_init__(self) -> None:
        check_range(self.branching, self.span, self.content, self.top)
        if not self.operations or not set(self.operations) <= set(OPERATIONS):
            raise UsageError(f"operations must be some of {OPERATIONS}, not {self.operations!r}")
        if len(set(self.operations)) < len(self.operations):
            raise UsageError(f"each operation must be named once, not as in {self.operations!r}")
        if self.targets not in get_args(Targets):
            raise UsageError(f"targets must be one of {', '.join(get_args(Targets))}, not {self.targets!r}")

    def part(self, role: Literal["train", "test"]) -> Self:
        return dataclasses.replace(self, targets="seen") if role == "train" else self

    @property
    def symbols(self) -> tuple[str, ...]:
        return (*OPERATIONS, POP, *numerals(self.top + 1))

    @property
    def kinds(self) -> int:
        return self.branching * len(self.operations)

    def deepest(self, size: int) -> int:
        """The way to the goal stays open, and no search goes beyond the last step."""
        return size

    def has(self, size: int) -> bool:
        return super().has(size) and size + self.branching <= self.span

    def events(self, size: int) -> int:
        """How far the search is followed to choose a target."""
        return 10 + size

    def attempt(self, size: int, draws: Draws) -> tuple[Samples, Flags]:
        values = distinct_values(draws, size + self.branching, self.span, self.content, self.top)
        which = draws.uniform(1)
        board = _NumbersBoard(values, size, self.branching, self.operations, self.top)
        trails = run_searches(board, self.events(size))
        target, lengths = self._chosen(trails, size, which)
        offset = len(OPERATIONS) + 1
        prompts = np.concatenate([np.maximum(target, 0)[:, None], values], axis=1) + offset
        longest = longest_trace(self.events(size), size, _NumbersBoard.push_width, _NumbersBoard.pop_width)
        traces = np.where(np.arange(longest) < lengths[:, None], trails.tokens[:, :longest], NOTHING)
        return Samples(prompts, traces), target > 0

    def _chosen(self, trails: Trails, size: int, which: np.ndarray) -> tuple[Ints, Ints]:
        """A target for each item (0 where none is allowed), and the length of the search up to its first leaf."""
        leaves = np.where(trails.levels == size, trails.pushed, NOTHING)
        allowed = (leaves > 0) & ((leaves % 10 == HELD_OUT) == (self.targets == "held_out"))
        count = allowed.sum(axis=1)
        nth = (which[:, 0] * count).astype(np.int64)
        place = (allowed & (np.cumsum(allowed, axis=1) == nth[:, None] + 1)).argmax(axis=1)
        target = np.where(count > 0, np.take_along_axis(leaves, place[:, None], axis=1)[:, 0], 0)
        first = (leaves == target[:, None]).argmax(axis=1)
        return target, np.take_along_axis(trails.ends, first[:, None], axis=1)[:, 0]

    def problem(self, prompt: Sequence[str]) -> Problem:
        if len(prompt) < 2 + self.branching:
            raise UsageError(
                f"a prompt must be a target and {1 + self.branching} numbers or more, not {' '.join(prompt)!r}"
            )
        target, *row = (parsed(text, self.top, "a number of the row") for text in prompt)
        return _Row(target, tuple(row), self.branching, self.operations, self.top)


@dataclass(frozen=True)
class _Row(Problem):
    """A state is (steps left, the running value, the numbers left in the row)."""

    target: int
    row: tuple[int, ...]
    branching: int
    operations: str
    top: int

    @property
    def root(self) -> Hashable:
        return (len(self.row) - self.branching, self.row[0], self.row[1:])

    def is_goal(self, state: Hashable) -> bool:
        left, value, _ = state  # pyright: ignore[reportGeneralTypeIssues]
        return left == 0 and value == self.target

    def moves(self, state: Hashable) -> Sequence[Move]:
        left, value, row = state  # pyright: ignore[reportGeneralTypeIssues]
        if left == 0:
            return ()
        moves = []
        for place, number in enumerate(row[: self.branching]):
            rest = (*row[:place], *row[place + 1 :])
            for index, operation in enumerate(self.operations):
                result = _result(operation, value, number)
                if result is None or not 1 <= result <= self.top:
                    continue
                choice = place * len(self.operations) + index
                push, pop = (operation, str(number), str(result)), (POP, operation, str(number), str(value))
                moves.append(Move(choice, push, pop, (left - 1, result, rest)))
        return moves


def _result(operation: str, value: int, number: int) -> int | None:
    small, large = sorted((value, number))
    if operation == "+":
        return value + number
    if operation == "-":
        return large - small
    if small == 1:
        return None
    if operation == "*":
        return value * number
    return large // small if large % small == 0 else None


class _NumbersBoard(Board):
    """The same on arrays, without a goal; a state is the value followed by the numbers left, 0 where there is none."""

    push_width, pop_width = 3, 4

    def __init__(self, values: Ints, depth: int, branching: int, operations: str, top: int) -> None:
        self.roots, self.depth, self.branching, self.top = values, depth, branching, top
        self.operations = np.array([OPERATIONS.index(sign) for sign in operations])

    def _results(self, states: Ints) -> Ints:
        """The result of every option, [rows, branching, operations]; 0 where the operation is not allowed."""
        value, number = states[:, :1], states[:, 1 : 1 + self.branching]
        small, large = np.minimum(value, number), np.maximum(value, number)
        divisor = np.maximum(small, 1)
        found = np.stack(
            [
                value + number,
                large - small,
                np.where(small > 1, value * number, 0),
                np.where((small > 1) & (large % divisor == 0), large // divisor, 0),
            ],
            axis=2,
        )[:, :, self.operations]
        return np.where((number[:, :, None] > 0) & (found <= self.top), found, 0)

    def valid(self, rows: Ints, levels: Ints, states: Ints) -> Flags:  # noqa: ARG002
        results = self._results(states).reshape(len(states), -1)
        return (results > 0) & (levels < self.depth)[:, None]

    def step(self, rows: Ints, levels: Ints, states: Ints, options: Ints) -> Ints:  # noqa: ARG002
        results = self._results(states).reshape(len(states), -1)
        after = np.zeros_like(states)
        after[:, 0] = np.take_along_axis(results, options[:, None], axis=1)[:, 0]
        place = options // len(self.operations) + 1
        moved = np.arange(1, states.shape[1] - 1)
        after[:, 1:-1] = np.take_along_axis(states, moved + (moved >= place[:, None]), axis=1)
        return after

    def _choice(self, states: Ints, options: Ints) -> tuple[Ints, Ints]:
        """The symbols of the operation and of the number."""
        number = np.take_along_axis(states, (options // len(self.operations) + 1)[:, None], axis=1)[:, 0]
        return self.operations[options % len(self.operations)], number + len(OPERATIONS) + 1

    def push(self, rows: Ints, levels: Ints, states: Ints, options: Ints, after: Ints) -> Ints:  # noqa: ARG002
        operation, number = self._choice(states, options)
        return np.column_stack([operation, number, after[:, 0] + len(OPERATIONS) + 1])

    def pop(self, rows: Ints, levels: Ints, states: Ints, options: Ints, after: Ints) -> Ints:  # noqa: ARG002
        operation, number = self._choice(states, options)
        back = np.full(len(states), len(OPERATIONS))
        return np.column_stack([back, operation, number, states[:, 0] + len(OPERATIONS) + 1])
