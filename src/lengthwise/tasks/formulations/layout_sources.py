"""Where the steps of a user's layout come from: functions in a Python file, or pairs of states in a JSONL file.

A source gives the columns that states hold, the first states of a size, the step from any state, and the labels that
say it. What cannot be trained is refused here with the reason.
"""

from __future__ import annotations

import abc
import functools
import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from lengthwise.errors import UsageError
from lengthwise.messages import explain, sentence
from lengthwise.tasks.formulations.between import (
    Side,
    appends,
    applied,
    written,
)
from lengthwise.tasks.formulations.formulation import Column, Labels, State, StepMove, symbol
from lengthwise.tasks.formulations.functions import INSTANCES, LOOKED_AT, Functions
from lengthwise.tasks.formulations.layouts import DROP, KEEP

STATES = 1_000  # of a size that the vocabulary is taken from
EXAMINED = range(1, 13)  # sizes that it is taken from
_TRIED = 200  # first states that show how wide a size is
_AGAIN = 20  # first states that are asked for twice
explain(
    {
        "layout.too_many": (
            "{name}: starts({size}) returns {count:,} first states or more, and the first ones of an "
            "enumeration are too similar; define draw(size, random), which returns one of them at random"
        ),
        "layout.unsteady": (
            "{name}: starts({size}) returns different states when it is called again; draw them with "
            "random.Random(size), or define draw(size, random)"
        ),
        "layout.no_start": "{name} has no first state of size {size}",
        "layout.grows": "{name}: `{state}` grows to `{after}`; steps that can be trained keep the number of columns, "
        "reduce it, or append one column at the end; give the state blank columns that steps fill in",
        "layout.taken": "{name}: the token {token} is reserved for keeping or dropping a column; rename it",
        "layout.other_labels": "{name}: its labels do not give the next state by themselves, so a model is trained on "
        "labels that are found by comparing a state with the next",
        "layout.wider": "{name}: a first state of size {size} has {length} columns, more than {width}, the most among "
        "the first {tried}; give all first states of a size the same length",
        "layout.unknown_column": "{name}: the column {column} of size {size} occurs in none of the states from which "
        "the vocabulary was taken ({where})",
        "layout.functions_where": "sizes {first} to {last}",
    }
)


class StepSource(abc.ABC):
    """The steps of a layout. `columns` are all columns that states hold, `drops` says that states shrink, `appending`
    that steps append one column, and `padded` that a state which has shrunk is filled up to the width of its size."""

    name: str
    side: Side
    columns: tuple[str, ...]
    drops = False
    appending = False
    padded = True
    smallest = 1
    largest: int | None = None

    @abc.abstractmethod
    def has(self, size: int) -> bool:
        """Whether there are items of this size."""

    @abc.abstractmethod
    def count(self, size: int) -> int:
        """How many first states of this size can be drawn; a usage error if there is none."""

    @abc.abstractmethod
    def start(self, size: int, number: int) -> State:
        """One of them."""

    @abc.abstractmethod
    def following(self, state: State) -> State | None:
        """The next state, None for a finished one; a usage error where the layout knows no such state."""

    @abc.abstractmethod
    def labels(self, state: State) -> Labels:
        """What is asked of a state."""

    @abc.abstractmethod
    def width(self, size: int) -> int:
        """How many columns an item of this size has at most."""

    def warnings(self) -> list[str]:
        """What to know before training, one sentence each."""
        return []

    def _examine(self, moves: Iterable[StepMove]) -> None:
        """Take the columns and the kind of layout from these steps, and refuse what cannot be trained."""
        found, grown, appending, others = dict[Column, None](), None, False, False
        for move in moves:
            found.update(dict.fromkeys((*move.state, *move.after)))
            if move.after == move.state:
                continue
            appended = appends(move.state, move.after)
            appending, others = appending or appended, others or not appended
            self.drops = self.drops or len(move.after) < len(move.state)
            if len(move.after) > len(move.state) and (grown is None or not appended):
                grown = move
        if grown is not None and others:
            raise UsageError(self._said("grows", state=written(grown.state), after=written(grown.after)))
        self.appending = appending
        self.columns = tuple(sorted(map(symbol, _closed(found))))
        for token in (KEEP, DROP):
            if token in self.columns:
                raise UsageError(self._said("taken", token=token))

    def _said(self, key: str, **values: Any) -> str:
        return sentence(f"layout.{key}", {"name": self.name, **values})


class FunctionSource(StepSource):
    """The functions `step` and `starts` of a Python file. The vocabulary is taken from the smaller sizes."""

    def __init__(self, functions: Functions, side: Side) -> None:
        self.name, self.side, self.notes = functions.name, side, list[str]()
        self.functions = functions
        self._examine(self._examined())
        if functions.labels is not None and not all(
            applied(move.state, move.labels, self.appending) == move.after for move in self._examined(100)
        ):
            self.notes.append(self._said("other_labels"))
            self.functions = replace(functions, labels=None)
        known = [size for size in EXAMINED if self.has(size)]
        if not known:
            raise UsageError(self._said("no_start", size=f"{EXAMINED[0]} to {EXAMINED[-1]}"))
        self.smallest = known[0]
        self._pools: dict[int, list[State]] = {}

    def _examined(self, most: int = STATES) -> Iterator[StepMove]:
        for size in EXAMINED:
            left = most
            for start in self._some(size):
                for move in self.functions.moves(start, {}, self.side):
                    yield move
                    left -= 1
                if left <= 0:
                    break

    def _some(self, size: int) -> Iterator[State]:
        if self.functions.draw is None:
            return iter(self.functions.first(size))
        return (self.functions.drawn(size, number) for number in range(INSTANCES)) if self.has(size) else iter(())

    def has(self, size: int) -> bool:
        """Asked of `starts` for the smaller sizes; larger ones are taken to exist until they are drawn."""
        if size not in EXAMINED:
            return size > EXAMINED[-1]
        return self._begins(size)

    @functools.cache  # noqa: B019  # a source lives as long as the program
    def _begins(self, size: int) -> bool:
        return bool(self.functions.listed(size, 1))

    def count(self, size: int) -> int:
        return INSTANCES if self.functions.draw is not None else len(self._pool(size))

    def start(self, size: int, number: int) -> State:
        if self.functions.draw is not None:
            return self.functions.drawn(size, number)
        return self._pool(size)[number]

    def _pool(self, size: int) -> list[State]:
        if size not in self._pools:
            if not (found := self.functions.first(size)):
                raise UsageError(self._said("no_start", size=size))
            if len(found) == INSTANCES and len(self.functions.listed(size)) >= LOOKED_AT:
                raise UsageError(self._said("too_many", size=size, count=LOOKED_AT))
            if self.functions.listed(size, _AGAIN) != self.functions.listed(size, _AGAIN):
                raise UsageError(self._said("unsteady", size=size))
            self._pools[size] = found
        return self._pools[size]

    def following(self, state: State) -> State | None:
        return self.functions.following(state)

    def labels(self, state: State) -> Labels:
        after = self.functions.following(state)
        return self.functions.labels_of(state, after, self.side)

    def width(self, size: int) -> int:
        return self._width(size)

    @functools.cache  # noqa: B019
    def _width(self, size: int) -> int:
        tried = min(self.count(size), _TRIED)
        numbers = range(self.count(size) if self.functions.draw is None else tried)
        if not self.appending:
            return max(len(self.start(size, number)) for number in numbers)
        return max(len(self._last(self.start(size, number))) for number in range(tried))

    def _last(self, start: State) -> State:
        *_, last = self.functions.moves(start, {}, self.side)
        return last.state

    def warnings(self) -> list[str]:
        return self.notes


def _closed(columns: Iterable[Column]) -> Sequence[Column]:
    """All columns made of the tokens that each line holds, where these are not many more than those that were seen: a
    rare one may be missing from a sample of states."""
    found = list(columns)
    lines = {len(column) for column in found}
    if len(lines) != 1:
        return found
    tokens = [list(dict.fromkeys(line)) for line in zip(*found, strict=True)]
    return list(itertools.product(*tokens)) if math.prod(map(len, tokens)) <= 2 * len(found) + 20 else found
