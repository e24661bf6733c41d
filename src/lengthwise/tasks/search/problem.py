"""The rules of a search as plain Python: what can be tried where, and the depth-first search that follows from it."""

from __future__ import annotations

import abc
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

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
