"""Index hints: a symbol that counts stands in front of every element of a task."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Self

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.records import Reference
from lengthwise.registry import format_spec, with_commas
from lengthwise.seeds import Draws, Ints
from lengthwise.tasks import tasks
from lengthwise.tasks.batch import NOTHING, Samples
from lengthwise.tasks.facts import Facts
from lengthwise.tasks.task import Task
from lengthwise.tasks.words import Words

ZHOU = Reference("zhou2024", "index hints")


@tasks.register("hinted")
@dataclass(frozen=True)
class Hinted(Task):
    """A task with an index hint in front of every element of its prompt and its answer.

    `hinted:task=copy_repeat` asks `#4 a #5 b #6 b` → `#4 a #5 b #6 b`. An element is a token to which the task gives an
    id (`Task.ids`), and elements of one id have the same hint, so `1 0 + 1 1` becomes `#2 1 #3 0 + #2 1 #3 1`. Of a
    task without ids the symbols of the prompt are counted, and the answer has no hints. The hints of an item are
    consecutive and begin anywhere in `hints` symbols, uniformly, in training and in testing; their number bounds the
    size. An answer is right only with its hints. In text, semicolons separate the settings of the task.
    """

    task: str
    hints: int = 64
    words = Words(refusal="hints are for models that are trained on them")

    def __post_init__(self) -> None:
        if self.hints < 1:
            raise UsageError(f"hinted needs at least one hint, not {self.hints}")
        if self.base.readout != "answer" or not self.base.certain:
            raise UsageError(
                f"hints go with a task whose prompt decides an answer in symbols, which {self.task} does not"
            )
        if strange := set(self.base.symbols) & set(self._hints):
            raise UsageError(f"the symbol {min(strange)} of {self.task} is a hint too; give it another name")
        references = (*self.base.facts.references, ZHOU)
        for name, value in (
            ("axes", self.base.axes),
            ("preset", self.base.preset),
            ("facts", Facts("", {}, references)),
        ):
            object.__setattr__(self, name, value)

    @functools.cached_property
    def base(self) -> Task:
        return tasks.restore(with_commas(self.task))

    @functools.cached_property
    def _hints(self) -> tuple[str, ...]:
        return tuple(f"#{number}" for number in range(self.hints))

    @functools.cached_property
    def _needed(self) -> dict[int, int]:
        return {}

    @property
    def symbols(self) -> tuple[str, ...]:
        return (*self.base.symbols, *self._hints)

    def has(self, size: int) -> bool:
        """Whether there are hints enough: ids count places of the answer, or else of the prompt."""
        if not self.base.has(size):
            return False
        if size not in self._needed:
            one = self.base.draw(size, 0, [0])
            self._needed[size] = (one.answers if self._ids(one.prompts, 1)[:, -1].any() else one.prompts).shape[1]
        return self._needed[size] <= self.hints

    def part(self, role: Literal["train", "test"]) -> Self:
        part = self.base.part(role)
        return self if part == self.base else dataclasses.replace(self, task=format_spec(tasks.spec_of(part)))

    def warnings(self) -> list[str]:
        return self.base.warnings()

    def sample(self, size: int, draws: Draws) -> Samples:
        plain = self.base.sample(size, draws)
        prompts, answers = plain.prompts, np.asarray(plain.answers, dtype=np.int64)
        ids = self._ids(prompts, answers.shape[1])
        highest = ids.max(axis=1, keepdims=True)
        if (most := int(highest.max())) > self.hints:
            raise UsageError(f"an item of size {size} needs {most} hints, and there are {self.hints}; set hints={most}")
        start = draws.integers(0, self.hints - highest + 1, 1)
        return Samples(
            self._interleaved(prompts, ids[:, : prompts.shape[1]], start),
            self._interleaved(answers, ids[:, prompts.shape[1] :], start),
        )

    def solve(self, prompt: Sequence[str]) -> Sequence[str]:
        hints, numbers = set(self._hints), {symbol: number for number, symbol in enumerate(self.base.symbols)}
        plain = [symbol for symbol in prompt if symbol not in hints]
        if strange := [symbol for symbol in plain if symbol not in numbers]:
            raise UsageError(f"the task {self.task} has no symbol {strange[0]!r}")
        row, answer = np.array([[numbers[symbol] for symbol in plain]], dtype=np.int64), self.base.solve(plain)
        ids = self._ids(row, len(answer))[0].tolist()
        given = next((symbol for symbol in prompt if symbol in hints), "#0")
        first = self._hints.index(given) - next((one for one in ids if one > 0), 0)
        if [*prompt] != self._spelled(plain, ids[: len(plain)], first):
            raise UsageError(f"the hints of a prompt count its elements, which is not so in {' '.join(prompt)!r}")
        return self._spelled([str(symbol) for symbol in answer], ids[len(plain) :], first)

    def _ids(self, prompts: Ints, answer: int) -> Ints:
        """The ids of the task; of one without ids the places in the prompt."""
        try:
            return self.base.ids(prompts, answer)
        except UsageError:
            row = np.concatenate([np.arange(1, prompts.shape[1] + 1), np.zeros(answer, dtype=np.int64)])
            return np.tile(row, (len(prompts), 1))

    def _interleaved(self, rows: Ints, ids: Ints, start: Ints) -> Ints:
        """Symbols [items, width] with their hints before them, [items, up to 2 width]; filled up with NOTHING."""
        hinted = (ids > 0) & (rows != NOTHING)
        if not ids.any():
            return rows
        hints = np.where(hinted, len(self.base.symbols) + start + ids - 1, NOTHING)
        both = np.stack([hints, rows], axis=2).reshape(len(rows), -1)
        order = np.argsort(both == NOTHING, axis=1, kind="stable")
        return np.take_along_axis(both, order, axis=1)

    def _spelled(self, symbols: Sequence[str], ids: Sequence[int], first: int) -> list[str]:
        """Symbols with the hints of their ids before them; the hint of id j is number first + j."""
        pairs = zip(symbols, ids, strict=True)
        numbered = [((f"#{first + one}", symbol) if one > 0 else (symbol,)) for symbol, one in pairs]
        return [symbol for pair in numbered for symbol in pair]
