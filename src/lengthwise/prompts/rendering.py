"""The contract of a rendering, the plain one, and the prompts of a task."""

from __future__ import annotations

import abc
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lengthwise.errors import UsageError
from lengthwise.prompts.parsing import lenient_symbols, strict_symbols
from lengthwise.prompts.prompt import Prompt
from lengthwise.prompts.said import NOTHING_SAID, instruction_of, sayable, small_sizes, words_of
from lengthwise.prompts.template import BUILT_IN, Template
from lengthwise.registry import Registry, setting
from lengthwise.tasks.batch import Samples
from lengthwise.tasks.task import Task

_DECIMALS = 3  # of numbers in examples
_SPARE = 4  # candidates for each example: answers in examples differ where they can


class Rendering(abc.ABC):
    """How a task becomes text, and how a reply becomes symbols.

    Symbols are those of the task, or numbers written as decimals for a task whose answers are numbers. `template` says
    where instruction, examples, question and answer stand. What `answer` writes, `strict` and `lenient` read back.
    """

    template: Template = BUILT_IN

    @abc.abstractmethod
    def instruction(self, task: Task, size: int) -> str:
        """What to do. Let it be the same for all sizes where that is possible: then its computation is shared."""

    @abc.abstractmethod
    def question(self, task: Task, symbols: Sequence[str]) -> str:
        """A prompt of the task as text."""

    @abc.abstractmethod
    def answer(self, task: Task, symbols: Sequence[str]) -> str:
        """How a right answer is written, in examples too."""

    @abc.abstractmethod
    def strict(self, task: Task, text: str) -> tuple[str, ...] | None:
        """The symbols of an answer that keeps the format exactly; None where it does not."""

    @abc.abstractmethod
    def lenient(self, task: Task, text: str) -> tuple[str, ...] | None:
        """The symbols a patient reader would find; None where there are none."""


renderings: Registry[Rendering] = Registry(
    "rendering",
    "lengthwise.prompts.rendering",
    "lengthwise.renderings",
    base=Rendering,
    contract="lengthwise.testing.text:check_rendering",
)


@renderings.register("plain")
@dataclass(frozen=True)
class PlainRendering(Rendering):
    """The words of the task, with spaces between symbols, in the built-in template or in a file of yours."""

    file: str = setting("", "a text file with {instruction}, {examples}, {input} and {answer}", "FILE")

    def __post_init__(self) -> None:
        if self.file:
            object.__setattr__(self, "template", Template.read(self.file))

    def instruction(self, task: Task, size: int) -> str:  # noqa: ARG002
        return instruction_of(task)

    def question(self, task: Task, symbols: Sequence[str]) -> str:
        words = sayable(task)
        if words.told is not None:
            return words.told(symbols)
        return " ".join(words.names.get(symbol, symbol) for symbol in symbols)

    def answer(self, task: Task, symbols: Sequence[str]) -> str:
        if task.readout == "numbers":
            return " ".join(f"{float(number):.{_DECIMALS}f}" for number in symbols)
        words = words_of(task)
        return words.joint.join(words.names.get(symbol, symbol) for symbol in symbols) or NOTHING_SAID

    def strict(self, task: Task, text: str) -> tuple[str, ...] | None:
        return strict_symbols(task, text)

    def lenient(self, task: Task, text: str) -> tuple[str, ...] | None:
        return lenient_symbols(task, text, self.template.before)


def make_rendering(spec: str | Mapping[str, Any] | Rendering) -> Rendering:
    """The rendering that a text describes: `plain`, a template file such as `mine.txt`, or `my.py::Name`."""
    if isinstance(spec, Rendering):
        return spec
    if isinstance(spec, str) and Path(spec).suffix in (".txt", ".md", ".tmpl"):
        return PlainRendering(spec)
    return renderings.make(spec)


def prompts_of(
    task: Task, size: int, items: Sequence[int], seed: int, rendering: Rendering, shots: int
) -> list[tuple[Prompt, tuple[str, ...]]]:
    """The test items of these numbers as prompts, with the right answers.

    Examples are drawn in the role "shots", from what the task trains on, at small sizes, and do not depend on `size` or
    `items`. None has the question of the item: it is replaced by another one, or left out where there is none.
    """
    sayable(task)
    if shots < 0:
        raise UsageError(f"the number of examples must be at least 0, not {shots}")
    examples = _examples(task, seed, rendering, shots)
    system = rendering.instruction(task, size)
    found = []
    for symbols, answer in _spelled(task, task.part("test").draw(size, seed, items, role="test")):
        question = rendering.question(task, symbols)
        others = [example for example in examples if example[0] != question]
        found.append((Prompt(system, tuple(others[:shots]), question, rendering.template), answer))
    return found


def _examples(task: Task, seed: int, rendering: Rendering, shots: int) -> list[tuple[str, str]]:
    """Worked examples with different questions: as many as are wanted, and then those that may replace one. Sizes take
    turns; an answer that is its question, or that was there already, comes last."""
    part, candidates = task.part("train"), {}
    sizes = [size for size in small_sizes(task) if part.has(size)]
    sizes = sizes[2:] or sizes  # the smallest are often odd cases
    for number in range(_SPARE * shots):
        size = sizes[number % len(sizes)]
        symbols, answer = _spelled(task, part.draw(size, seed, [number], role="shots"))[0]
        candidates.setdefault(rendering.question(task, symbols), rendering.answer(task, answer))
    seen: Counter[str] = Counter()
    ranked = []
    for question, answer in candidates.items():
        ranked.append((answer == question, seen[answer], len(ranked), question, answer))
        seen[answer] += 1
    return [(question, answer) for *_, question, answer in sorted(ranked)]


def _spelled(task: Task, drawn: Samples) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Items as symbols; numbers as decimals."""
    numbers = task.readout == "numbers"
    return [
        (task.spelled(prompt), tuple(f"{x:.6f}" for x in answer) if numbers else task.spelled(answer))
        for prompt, answer in zip(drawn.prompts, drawn.answers, strict=True)
    ]
