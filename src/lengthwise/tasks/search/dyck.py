"""A search trace as a word of brackets, and back.

A push of choice c opens a bracket of kind c, and its pop closes it: `(2` and `)2`. The path to the goal stays open. k
is the number of kinds that can occur, the contour is the number of open brackets after every event.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lengthwise.errors import UsageError
from lengthwise.tasks.search.problem import Problem, Tokens
from lengthwise.tasks.search.replay import Event, _ReplayFrame


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
