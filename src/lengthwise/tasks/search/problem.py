"""The rules of a search as plain Python: what can be tried where, the depth-first search that follows from it, and a
trace read back, event by event and as a word of brackets: what a verifier needs, and what a picture shows. It shares
nothing with the samplers, which write traces from arrays.

A push of choice c opens a bracket of kind c, and its pop closes it: `(2` and `)2`. The path to the goal stays open. k
is the number of kinds that can occur, the contour is the number of open brackets after every event.
"""

from __future__ import annotations

import abc
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Literal

from lengthwise.errors import UsageError

Tokens = tuple[str, ...]
POP = "<"


@dataclass(frozen=True)
class Move:
    """One choice: what is written when it is tried and when it is taken back, and the state it leads to.

    `choice` numbers it among everything that could be tried at its place, valid or not: the kind of its bracket.
    """

    choice: int
    push: Tokens
    pop: Tokens
    state: Hashable


class Problem(abc.ABC):
    """An instance, read from its prompt."""

    @property
    @abc.abstractmethod
    def root(self) -> Hashable:
        """The state before anything was tried."""

    @abc.abstractmethod
    def moves(self, state: Hashable) -> Sequence[Move]:
        """What can be tried in a state, in the order in which it is tried."""

    @abc.abstractmethod
    def is_goal(self, state: Hashable) -> bool:
        """Whether the search ends here."""


def search_trace(problem: Problem) -> Tokens:
    """The trace of the depth-first search, up to the push that reaches the goal. O(nodes visited)."""
    written: list[str] = []

    def reaches_goal(state: Hashable) -> bool:
        if problem.is_goal(state):
            return True
        for move in problem.moves(state):
            written.extend(move.push)
            if reaches_goal(move.state):
                return True
            written.extend(move.pop)
        return False

    if not reaches_goal(problem.root):
        raise UsageError("the search ends without a solution; a prompt of this task has one")
    return tuple(written)


@dataclass(frozen=True)
class Event:
    """One push or pop: its tokens are `trace[start:end]`, and `depth` is the number of moves in force after it."""

    kind: Literal["push", "pop"]
    move: Move
    depth: int
    start: int
    end: int


@dataclass(frozen=True)
class Replay:
    """How far a trace follows the depth-first search, and where it left it.

    `wrong` says what is wrong at token `at`; it is empty for the one right trace. `solved` says whether the moves in
    force at the end reach the goal by the rules, which a trace can also do after going wrong in its order.
    """

    events: tuple[Event, ...]
    path: tuple[Move, ...]
    solved: bool
    wrong: str = ""
    at: int = 0

    @property
    def valid(self) -> bool:
        return not self.wrong


class _ReplayFrame:
    """A node on the path: whether it is the goal, what can be tried there, and how many of that were tried."""

    def __init__(self, state: Hashable, problem: Problem) -> None:
        self.goal = problem.is_goal(state)
        self.moves = () if self.goal else tuple(problem.moves(state))
        self.tried = 0


def replay(problem: Problem, trace: Sequence[str], strict: bool = True) -> Replay:
    """Follow a trace. Strictly, every event must be the one that depth-first search does next; otherwise any push that
    the rules allow and any pop of the last move in force will do, tried before or not, in any order."""
    frames, path, events, at, wrong = [_ReplayFrame(problem.root, problem)], [], [], 0, ""
    while at < len(trace):
        here = frames[-1]
        if here.goal:
            wrong = "it continues after the goal"
            break
        pushes = here.moves[here.tried : here.tried + 1] if strict else here.moves
        offered: list[tuple[Literal["push", "pop"], Move, Tokens]] = [("push", move, move.push) for move in pushes]
        if path and not (strict and pushes):
            offered.append(("pop", path[-1], path[-1].pop))
        found = next((event for event in offered if tuple(trace[at : at + len(event[2])]) == event[2]), None)
        if found is None:
            following = " ".join(offered[0][2]) if offered else "nothing"
            wrong = f"the search continues with {following!r}" if strict else "no move is written so"
            break
        kind, move, tokens = found
        if kind == "push":
            here.tried = max(here.tried, here.moves.index(move) + 1)
            path.append(move)
            frames.append(_ReplayFrame(move.state, problem))
        else:
            path.pop()
            frames.pop()
        events.append(Event(kind, move, len(path), at, at + len(tokens)))
        at += len(tokens)
    solved = frames[-1].goal and not wrong
    if not wrong and not solved:
        wrong = "it ends before the goal"
    return Replay(tuple(events), tuple(path), solved, wrong, at)


@dataclass(frozen=True)
class DyckView:
    """The brackets of a trace."""

    word: Tokens
    kinds: int
    contour: tuple[int, ...]

    @property
    def depth(self) -> int:
        return max(self.contour, default=0)


def dyck_view(events: Sequence[Event], kinds: int) -> DyckView:
    """The brackets of the events of a trace."""
    word = tuple(f"{'(' if event.kind == 'push' else ')'}{event.move.choice}" for event in events)
    return DyckView(word, kinds, tuple(event.depth for event in events))


def trace_of(problem: Problem, word: Sequence[str]) -> Tokens:
    """The trace whose brackets these are: each opening one is looked up among the moves of the state it is read in."""
    frames, path, written = [_ReplayFrame(problem.root, problem)], [], []
    for place, bracket in enumerate(word, start=1):
        sign, kind = bracket[:1], bracket[1:]
        if sign == "(":
            found = next((move for move in frames[-1].moves if str(move.choice) == kind), None)
            if found is None:
                raise UsageError(f"bracket {place} is {bracket!r}, and there is no choice {kind} in that state")
            written.extend(found.push)
            path.append(found)
            frames.append(_ReplayFrame(found.state, problem))
        elif sign == ")" and path and str(path[-1].choice) == kind:
            written.extend(path.pop().pop)
            frames.pop()
        else:
            raise UsageError(f"bracket {place} is {bracket!r}, which closes nothing that is open")
    return tuple(written)
