"""A layout of the user's own as a task that can be trained, saved and measured."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from lengthwise.errors import UsageError
from lengthwise.messages import explain, sentence
from lengthwise.reading import stamp_of
from lengthwise.seeds import Draws, Ints
from lengthwise.tasks import tasks
from lengthwise.tasks.batch import NOTHING, Samples
from lengthwise.tasks.formulations.between import Side, applied
from lengthwise.tasks.formulations.formulation import Formulation, Labels, Sources, State, column, symbol
from lengthwise.tasks.formulations.functions import Functions, functions_in
from lengthwise.tasks.formulations.layout_sources import FunctionSource, StepSource
from lengthwise.tasks.formulations.layouts import DROP, END, KEEP
from lengthwise.tasks.formulations.pair_source import PairSource, state_digest
from lengthwise.tasks.task import Axis

explain(
    {
        "layout.axis": "size, as the file counts it",
        "layout.shared": (
            "{name}: no state is held out at size {sizes}, so test items of that size were also trained on"
        ),
        "layout.more": "{sizes} and {more} more",
        "layout.class": "a layout that is a class is a task of its own; use {path} as the task",
    }
)


@dataclass(frozen=True)
class LayoutChain:
    """The states of a chain and their labels, as indices into the symbols, [steps + 1, width]."""

    states: Ints
    labels: Ints


@tasks.register("layout")
@dataclass(frozen=True)
class OwnLayout(Formulation):
    """Take one step in a layout of your own, given by functions in a Python file or by pairs of states.

    `layout:path=layout.py` reads `step(state)` and `starts(size)`, `layout:path=pairs.jsonl` lines such as `{"state":
    "1 0 1", "next": "1 1"}`. A label keeps a column, drops it or replaces it; where steps append, the label of the last
    column is what comes next. `side` is where a change is put that could be in several places. Of pairs, a share
    `held_out` of the states is kept for testing, and `test` may name a second file whose chains are measured.
    """

    path: str
    side: Literal["", "left", "right"] = ""
    held_out: float = 0.1
    test: str = ""
    split: Literal["all", "train", "test"] = "all"
    readout = "tags"

    def __post_init__(self) -> None:
        if not 0 <= self.held_out < 1:
            raise UsageError(f"held_out must be a share of the states, at least 0 and below 1, not {self.held_out}")
        if "::" in self.path:
            raise UsageError(sentence("layout.class", {"path": self.path}))

    @functools.cached_property
    def source(self) -> StepSource:
        """Read at first use, so that a spec can be rebuilt where the file is not at hand."""
        return layout_source(self.path, self.side or "left", self.test)

    @property
    def symbols(self) -> tuple[str, ...]:
        return self._symbols

    @functools.cached_property
    def _symbols(self) -> tuple[str, ...]:
        source = self.source
        return (*source.columns, KEEP, *([DROP] if source.drops else []))

    @property
    def axes(self) -> tuple[Axis, ...]:  # pyright: ignore[reportIncompatibleVariableOverride]  # the file decides
        source = self.source
        return (Axis("size", sentence("layout.axis"), source.smallest, source.largest),)

    @property
    def preset(self) -> Mapping[str, Any]:  # pyright: ignore[reportIncompatibleVariableOverride]
        return {"causal": self.source.appending}

    @property
    def padded(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self.source.padded and not self.source.appending

    def has(self, size: int) -> bool:
        return self.source.has(size)

    def lacking(self, size: int) -> str:
        return self.source.lacking(size) if isinstance(self.source, PairSource) else super().lacking(size)

    def part(self, role: Literal["train", "test"]) -> Self:
        return dataclasses.replace(self, split=role) if isinstance(self.source, PairSource) else self

    def warnings(self) -> list[str]:
        source, notes = self.source, self.source.warnings()
        if isinstance(source, PairSource) and not self.test:
            shared = [size for size in sorted(source.pairs.sizes) if self._held(source, size) is None]
            if shared:
                sizes = ", ".join(map(str, shared[:8]))
                if len(shared) > 8:
                    sizes = sentence("layout.more", {"sizes": sizes, "more": len(shared) - 8})
                notes = [*notes, sentence("layout.shared", {"name": self.path, "sizes": sizes})]
        return notes

    def ranges(self, size: int) -> tuple[int, ...]:
        return (len(self._numbers(size)),)

    def start(self, size: int, row: Sequence[int] | Ints) -> State:
        return self.source.start(size, self._numbers(size)[int(row[0])])

    def _numbers(self, size: int) -> Sequence[int]:
        """The first states that this part draws from: of pairs those held out, where there are any."""
        source, count = self.source, self.source.count(size)
        if not isinstance(source, PairSource) or self.split != "test" or self.test:
            return range(count)
        held = [number for number in range(count) if self._is_held(source.start(size, number))]
        return held or range(count)

    def step(self, state: State) -> State | None:
        return self.source.following(state)

    def chain(self, start: State) -> Iterator[State]:
        """Refused where the user's functions never end it."""
        source = self.source
        return source.functions.chain(start) if isinstance(source, FunctionSource) else super().chain(start)

    def labels(self, state: State) -> Labels:
        """A finished text of an appending layout keeps its last column: nothing follows it."""
        return tuple(KEEP if label == END else label for label in self.source.labels(state))

    def apply(self, state: State, labels: Labels) -> State:
        return applied(state, labels, self.source.appending)

    def advance(self, states: Ints, labels: Ints) -> list[Ints | None]:
        keep = self.symbols.index(KEEP)
        if self.source.appending:
            last = labels[:, -1]
            columns = [row if label == keep else np.append(row, label) for row, label in zip(states, last, strict=True)]
            return [None if label > keep or label == NOTHING else row for row, label in zip(columns, last, strict=True)]
        stays = labels <= keep  # the label after it is to drop the column
        after = np.where(labels == keep, states, labels)
        lost = (labels == NOTHING).any(axis=1) | ~stays.any(axis=1)
        return [None if gone else row[here] for row, here, gone in zip(after, stays, lost, strict=True)]

    def sources(self, state: State) -> Sources:
        """Not known of a layout that is given by its states: every position counts as one source of the whole."""
        after = self.step(state) or state
        return (tuple(range(len(state))),) * len(after)

    def answer(self, state: State) -> tuple[str, ...]:
        """The whole finished state."""
        return tuple(map(symbol, state))

    def solve(self, prompt: Sequence[str]) -> Sequence[str]:
        return tuple(label for label in self.labels(self.read(prompt)) if label is not None)

    def sample(self, size: int, draws: Draws) -> Samples:
        """A random state of a random chain, its end included; of pairs, a random state of the file."""
        source, width, index = self.source, self.source.width(size), self._index
        prompts, answers = (np.full((len(draws), width), NOTHING) for _ in range(2))
        if isinstance(source, PairSource):
            pool = self._states(source, size)
            numbers = draws.integers(0, len(pool), 1)[:, 0]
            for row, number in enumerate(numbers.tolist()):
                state = pool[number]
                prompts[row, : len(state)] = [index[symbol(one)] for one in state]
                answers[row, : len(state)] = self._indices(self.labels(state))
            return Samples(prompts, answers)
        rows, when = self.some(size, draws)[:, 0], draws.uniform(1)[:, 0]
        for row, (number, time) in enumerate(zip(rows.tolist(), when.tolist(), strict=True)):
            chain = self._chain(size, number)
            at = int(time * len(chain.states))
            prompts[row], answers[row] = chain.states[at], chain.labels[at]
        return Samples(prompts, answers)

    @functools.cached_property
    def _index(self) -> dict[str, int]:
        return {text: number for number, text in enumerate(self.symbols)}

    @functools.cached_property
    def _chains(self) -> dict[tuple[int, int], LayoutChain]:
        return {}

    def _chain(self, size: int, number: int) -> LayoutChain:
        """A chain as arrays, made once. Of a text that grows, the states that fit into the width."""
        key = (size, number)
        if key not in self._chains:
            width = self.source.width(size)
            states = list(self.chain(self.start(size, [number])))
            if len(states[0]) > width:
                values = {"name": self.path, "size": size, "length": len(states[0]), "width": width, "tried": 200}
                raise UsageError(sentence("layout.wider", values))
            states = [state for state in states if len(state) <= width]
            rows = np.full((2, len(states), width), NOTHING, dtype=np.int64)
            for at, state in enumerate(states):
                rows[0, at, : len(state)] = self._written(state, size)
                rows[1, at, : len(state)] = self._indices(self.labels(state))
            self._chains[key] = LayoutChain(rows[0], rows[1])
        return self._chains[key]

    def _written(self, state: State, size: int) -> list[int]:
        try:
            return [self._index[symbol(one)] for one in state]
        except KeyError as error:
            known = sentence("layout.functions_where", {"first": 1, "last": 12})
            values = {"name": self.path, "column": error.args[0], "size": size, "where": known}
            raise UsageError(sentence("layout.unknown_column", values)) from None

    def _indices(self, labels: Labels) -> list[int]:
        return [NOTHING if label is None else self._index[label] for label in labels]

    def _states(self, source: PairSource, size: int) -> list[State]:
        """The states that this part draws from; all of them where it would have none."""
        if self.split == "test" and self.test:
            return source.states(size, tested=True) or source.states(size, tested=False)
        states, held = source.states(size, tested=False), self._held(source, size)
        if self.split == "all" or held is None:
            return states or source.states(size, tested=True)
        return [state for state, out in zip(states, held, strict=True) if out == (self.split == "test")]

    def _held(self, source: PairSource, size: int) -> NDArray[np.bool_] | None:
        """Which states of a size are held out; None where that would leave nothing to train on or to test on."""
        held = np.array([self._is_held(state) for state in source.states(size, tested=False)], dtype=bool)
        return None if held.all() or not held.any() else held

    def _is_held(self, state: State) -> bool:
        return state_digest(state) < int(self.held_out * 2.0**64)

    def read(self, prompt: Sequence[str]) -> State:
        state = super().read(prompt)
        if {(KEEP,), (DROP,)} & set(state):
            raise UsageError(f"{KEEP} and {DROP} are labels, not columns of a state")
        return tuple(column(symbol(one)) for one in state)


def layout_source(path: str, side: Side, test: str) -> StepSource:
    """The source that a path names: a Python file with functions, or a file of pairs."""
    if not path.endswith(".py"):
        return _pair_source(path, side, test, (*stamp_of(path), *(stamp_of(test) if test else ())))
    if test:
        raise UsageError("test names a second file of pairs; a Python file gives first states of every size itself")
    functions = functions_in(path)
    if functions is None:
        raise UsageError(f"{path} has no function step; a class is a task of its own, as in {path}::Class")
    return _function_source(functions, side)


@functools.lru_cache(maxsize=8)
def _function_source(functions: Functions, side: Side) -> FunctionSource:
    return FunctionSource(functions, side)


@functools.lru_cache(maxsize=4)
def _pair_source(path: str, side: Side, test: str, stamp: tuple[int, ...]) -> PairSource:  # noqa: ARG001
    return PairSource(path, side, test)
