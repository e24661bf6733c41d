"""Subset sum: which numbers add up to the target, at most one of each group."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.seeds import Draws, Ints
from lengthwise.tasks import tasks
from lengthwise.tasks.alphabets import numerals
from lengthwise.tasks.batch import Samples
from lengthwise.tasks.ladder import Rung
from lengthwise.tasks.search.lockstep import Board, Flags, run_searches
from lengthwise.tasks.search.problem import POP, Move, Problem
from lengthwise.tasks.search.search_task import SearchTask, check_range, distinct_values, longest_trace, parsed

BAR, TAKE, SKIP = "|", "+", "-"


@tasks.register("subset_sum")
@dataclass(frozen=True)
class SubsetSum(SearchTask):
    """Find numbers that add up to the target by depth-first search with pruning, and write the search.

    `6 | 5 | 2 | 4` → `+ 5 1 - 2 1 - 4 1 < - 4 1 < - 2 1 < + 5 6 - 5 6 + 2 4 + 4 0`: take 5 and 1 remains; 2 and 4 are
    too much and are skipped, which leads nowhere; all three are taken back and 6 remains; skip 5; take 2; take 4. A
    group holds `branching` numbers, of which one is taken or none; its numbers are tried in order, skipping comes last.
    Two rules prune: a number above what remains is not tried, and a state whose remainder is more than all later groups
    can give is left at once. Items are such that the search decides about every group before it succeeds.
    """

    branching: int = 1
    content: int = 21
    span: int = 21
    top: int = 33

    rungs = (Rung("depth", 1), Rung("branching", 1), Rung("content", 2))

    def __post_init__(self) -> None:
        check_range(self.branching, self.span, self.content, self.top)

    @property
    def symbols(self) -> tuple[str, ...]:
        return (BAR, TAKE, SKIP, POP, *numerals(self.top + 1))

    @property
    def kinds(self) -> int:
        return self.branching + 1

    def deepest(self, size: int) -> int:
        """The way to the goal stays open, and no search goes beyond the last group."""
        return size

    def has(self, size: int) -> bool:
        return super().has(size) and size * self.branching <= self.span

    def events(self, size: int) -> int:
        """The longest search that is drawn; longer ones are drawn again."""
        return 10 + size

    def attempt(self, size: int, draws: Draws) -> tuple[Samples, Flags]:
        values = distinct_values(draws, size * self.branching, self.span, self.content, self.top)
        groups = values.reshape(len(draws), size, self.branching)
        planned = np.concatenate([groups, np.zeros((len(draws), size, 1), dtype=np.int64)], axis=2)
        chosen = draws.integers(0, self.branching + 1, size)
        chosen[:, -1] = draws.integers(0, self.branching, 1)[:, 0]  # the last group is needed
        taken = np.take_along_axis(planned, chosen[:, :, None], axis=2)[:, :, 0]
        target = np.zeros(len(draws), dtype=np.int64)
        for group in reversed(range(size)):
            target += np.where(target + taken[:, group] <= self.top, taken[:, group], 0)
        trails = run_searches(_SumBoard(target, groups), self.events(size))
        offset = 4  # of the numerals among the symbols
        bars = np.zeros((len(draws), size, 1), dtype=np.int64)
        rows = np.concatenate([bars, groups + offset], axis=2).reshape(len(draws), -1)
        longest = longest_trace(self.events(size), size, _SumBoard.push_width, _SumBoard.pop_width)
        prompts = np.concatenate([target[:, None] + offset, rows], axis=1)
        return Samples(prompts, trails.tokens[:, :longest]), trails.solved & (trails.depth == size)

    def problem(self, prompt: Sequence[str]) -> Problem:
        target, *rest = prompt or [""]
        groups: list[tuple[int, ...]] = []
        for text in rest:
            if text == BAR:
                groups.append(())
            elif groups:
                groups[-1] = (*groups[-1], parsed(text, self.top, "a number of a group"))
        if not groups or rest[0] != BAR or not all(groups):
            raise UsageError(f"a prompt must be a target and groups, such as 6 | 5 | 2 | 4, not {' '.join(prompt)!r}")
        return _Groups(parsed(target, self.top, "the target"), tuple(groups))


@dataclass(frozen=True)
class _Groups(Problem):
    """A state is (groups decided, what remains)."""

    target: int
    groups: tuple[tuple[int, ...], ...]

    @property
    def root(self) -> Hashable:
        return (0, self.target)

    def is_goal(self, state: Hashable) -> bool:
        return state[1] == 0  # pyright: ignore[reportIndexIssue]

    def moves(self, state: Hashable) -> Sequence[Move]:
        place, remains = state  # pyright: ignore[reportGeneralTypeIssues]
        if place == len(self.groups) or remains > sum(max(group) for group in self.groups[place:]):
            return ()
        group, back = self.groups[place], str(remains)
        moves = [
            Move(choice, (TAKE, str(n), str(remains - n)), (POP, TAKE, str(n), back), (place + 1, remains - n))
            for choice, n in enumerate(group)
            if n <= remains
        ]
        last = str(group[-1])
        skip = Move(len(group), (SKIP, last, back), (POP, SKIP, last, back), (place + 1, remains))
        return (*moves, skip)


class _SumBoard(Board):
    """The same on arrays; a state is what remains, and the level says how many groups are decided."""

    push_width, pop_width = 3, 4

    def __init__(self, target: Ints, groups: Ints) -> None:
        self.roots, self.groups = target[:, None], groups
        self.depth = groups.shape[1]
        best = groups.max(axis=2)
        self.reach = np.zeros((len(target), self.depth + 1), dtype=np.int64)  # the most that later groups give
        self.reach[:, :-1] = np.cumsum(best[:, ::-1], axis=1)[:, ::-1]
        # Behind the last group nothing can be tried; a row of numbers that never fit stands there.
        never = np.full((len(target), 1, groups.shape[2]), 1 << 20)
        self.padded = np.concatenate([groups, never], axis=1)

    def valid(self, rows: Ints, levels: Ints, states: Ints) -> Flags:
        alive = states <= self.reach[rows, levels][:, None]
        fits = self.padded[rows, levels] <= states
        skips = np.broadcast_to((levels < self.depth)[:, None], states.shape)
        return alive & np.concatenate([fits, skips], axis=1)

    def _number(self, rows: Ints, levels: Ints, options: Ints) -> tuple[Ints, Flags]:
        """The number an option is about, and whether it is taken; skipping names the last of the group."""
        count = self.groups.shape[2]
        return self.groups[rows, levels, np.minimum(options, count - 1)], options < count

    def step(self, rows: Ints, levels: Ints, states: Ints, options: Ints) -> Ints:
        number, taken = self._number(rows, levels, options)
        return states - np.where(taken, number, 0)[:, None]

    def goal(self, rows: Ints, levels: Ints, states: Ints) -> Flags:  # noqa: ARG002
        return states[:, 0] == 0

    def push(self, rows: Ints, levels: Ints, states: Ints, options: Ints, after: Ints) -> Ints:  # noqa: ARG002
        number, taken = self._number(rows, levels, options)
        return np.column_stack([np.where(taken, 1, 2), number + 4, after[:, 0] + 4])

    def pop(self, rows: Ints, levels: Ints, states: Ints, options: Ints, after: Ints) -> Ints:  # noqa: ARG002
        number, taken = self._number(rows, levels, options)
        return np.column_stack([np.full(len(rows), 3), np.where(taken, 1, 2), number + 4, states[:, 0] + 4])
