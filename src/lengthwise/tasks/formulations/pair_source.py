"""A file of pairs as the source of a layout's steps: a step is known from the states of the file alone."""

from __future__ import annotations

import functools
import hashlib
from dataclasses import dataclass, field
from typing import Any

from lengthwise.errors import UsageError
from lengthwise.messages import explain, sentence
from lengthwise.reading import stamp_of
from lengthwise.tasks.formulations.between import Side, finished_labels, labels_between, state_of, written
from lengthwise.tasks.formulations.formulation import Labels, State, StepMove
from lengthwise.tasks.formulations.layout_sources import StepSource
from lengthwise.tasks.jsonl import object_of, read_alike

KEPT = 200_000  # different states of a file of pairs that are trained on
PAIR = '{"state": "1 0 1", "next": "1 1"}'
explain(
    {
        "layout.two_nexts": "{name}: the state `{state}` has one next state in line {one} and another in line {other}",
        "layout.unknown_step": "{name} has no step from `{state}`",
        "layout.kept": "{name}: only the first {kept:,} different states of the file are trained on",
        "layout.no_end": "{name}: no state is its own next state, so a model cannot learn where to stop, and no chain "
        "can be run to its end",
        "layout.sizes": "{name} has no chain of size {size} that reaches a finished state; the sizes that have one "
        "are {sizes}; longer ones need a second file, as in layout:path={name},test=longer.jsonl",
    }
)


@dataclass(frozen=True)
class PairStates:
    """The pairs of a file: the next state of each state, its size, and the states of each size."""

    nexts: dict[State, State]
    sizes: dict[int, list[State]]
    sized: bool  # a size was given that is not the number of columns
    lines: int


@dataclass
class _PairTaker:
    path: str
    nexts: dict[State, State] = field(default_factory=dict)
    where: dict[State, int] = field(default_factory=dict)
    sizes: dict[int, list[State]] = field(default_factory=dict)
    sized: bool = False
    lines: int = 0

    def take(self, text: str, line: int) -> None:
        state, after, item = pair_of(text)
        size = size_of(item, state)
        self.lines += 1
        if state in self.nexts:
            if self.nexts[state] != after:
                values = {"name": self.path, "state": written(state), "one": self.where[state], "other": line}
                raise UsageError(sentence("layout.two_nexts", values))
            return
        if len(self.nexts) < KEPT:
            self.nexts[state], self.where[state] = after, line
            self.sizes.setdefault(size, []).append(state)
            self.sized |= size != len(state)


@functools.lru_cache(maxsize=4)
def _pairs(path: str, stamp: tuple[int, ...]) -> PairStates:  # noqa: ARG001  # the stamp changes with the file
    (taker,) = read_alike([path], lambda _: _PairTaker(path))
    if not taker.nexts:
        raise UsageError(f"{path} is empty; each line holds a pair such as {PAIR}")
    return PairStates(taker.nexts, taker.sizes, taker.sized, taker.lines)


class PairSource(StepSource):
    """A file of pairs: a step is known from its states alone. `test` is a second file, whose states are measured."""

    def __init__(self, path: str, side: Side, test: str = "") -> None:
        self.name, self.side = path, side
        self.pairs = _pairs(path, stamp_of(path))
        self.tested = _pairs(test, stamp_of(test)) if test else self.pairs
        self._nexts = {**self.tested.nexts, **self.pairs.nexts}
        self._examine(StepMove(state, after, (), ()) for state, after in self.pairs.nexts.items())
        self.padded, self.smallest = self.pairs.sized and not self.appending, min(self.pairs.sizes)
        self.largest = max(*self.pairs.sizes, *self.tested.sizes)

    def has(self, size: int) -> bool:
        return size in self.pairs.sizes or size in self.tested.sizes

    def states(self, size: int, tested: bool) -> list[State]:
        """The states of a size in the file, or in the one for testing."""
        return (self.tested if tested else self.pairs).sizes.get(size, [])

    @functools.cached_property
    def firsts(self) -> dict[int, list[State]]:
        """The states that no step of the file leads to and whose chain reaches a finished state, by size."""
        nexts = self.tested.nexts
        later = {after for state, after in nexts.items() if after != state}
        return {
            size: [state for state in states if state not in later and self._ends(state)]
            for size, states in self.tested.sizes.items()
        }

    def _ends(self, state: State) -> bool:
        met = {state}
        while (after := self._nexts.get(state)) is not None:
            if after == state:
                return True
            if after in met:
                return False
            met.add(after)
            state = after
        return False

    def lacking(self, size: int) -> str:
        """Why no chain of a size can be run."""
        sizes = ", ".join(str(one) for one, found in sorted(self.firsts.items()) if found)
        return self._said("sizes", size=size, sizes=sizes) if sizes else self._said("no_end")

    def count(self, size: int) -> int:
        if not self.firsts.get(size):
            raise UsageError(self.lacking(size))
        return len(self.firsts[size])

    def start(self, size: int, number: int) -> State:
        return self.firsts[size][number]

    def following(self, state: State) -> State | None:
        after = self._nexts.get(state)
        if after is None:
            raise UsageError(self._said("unknown_step", state=written(state)))
        return None if after == state else after

    def labels(self, state: State) -> Labels:
        after = self.following(state)
        return finished_labels(state, self.appending) if after is None else labels_between(state, after, self.side)

    def width(self, size: int) -> int:
        return max(len(state) for pairs in (self.pairs, self.tested) for state in pairs.sizes.get(size, ()))

    def warnings(self) -> list[str]:
        notes = []
        if len(self.pairs.nexts) == KEPT:
            notes.append(self._said("kept", kept=KEPT))
        if not any(state == after for state, after in self.pairs.nexts.items()):
            notes.append(self._said("no_end"))
        return notes


def pair_of(text: str) -> tuple[State, State, dict[str, Any]]:
    """The state, the next state and the other fields of one line in a file of pairs."""
    item = object_of(text, PAIR)
    for key in ("state", "next"):
        if key not in item:
            raise UsageError(f"the key {key!r} is missing; a pair is an object such as {PAIR}")
    return state_of(item["state"]), state_of(item["next"]), item


def size_of(item: dict[str, Any], state: State) -> int:
    """The size of a pair: its number of columns, or the number under "size"."""
    size = item.get("size", len(state))
    if type(size) is not int or size < 1:
        raise UsageError(f"the size must be a positive whole number, not {str(size)[:40]!r}")
    return size


def state_digest(state: State) -> int:
    """64 bits that depend on the state alone."""
    text = "\0".join(["|".join(column) for column in state])
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")
