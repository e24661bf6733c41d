"""The contract of a task: what is asked, at which size, and what the right answer is."""

from __future__ import annotations

import abc
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.seeds import Draws, Floats, Ints, Seeds
from lengthwise.tasks.batch import NOTHING, SEP, SPECIALS, Batch, Readout, Samples, pack
from lengthwise.tasks.chance import Chance, chance_of_sample
from lengthwise.tasks.facts import Facts
from lengthwise.tasks.words import Words


@dataclass(frozen=True)
class Axis:
    """A way in which a task grows: what one unit of size is, and the sizes for which the task is defined."""

    name: str
    meaning: str
    smallest: int = 1
    largest: int | None = None


class Task(abc.ABC):
    """What is asked. A subclass is a frozen dataclass: its fields are settings, its methods take data.

    A subclass gives `symbols`, `sample` and `solve`, its `axes` (the first is what `size` counts), and the `readout`:
    "answer" is written token by token after the prompt, "tags" is one label per position, "numbers" is a real vector.
    Where the prompt does not decide the answer, `certain` is False and `log_probabilities` gives its distribution.
    The first line of its docstring is its description, and the rest shows a worked example. `check_task` in
    `lengthwise.testing` holds it to this contract.
    """

    readout: ClassVar[Readout] = "answer"
    axes: ClassVar[tuple[Axis, ...]] = (Axis("length", "symbols in the prompt"),)
    certain: ClassVar[bool] = True  # False: answers are drawn, and `log_probabilities` says from what
    tolerance: ClassVar[float] = 0.0  # for "numbers": an answer this close, in every entry, counts as right
    facts: Facts = Facts()
    preset: ClassVar[Mapping[str, Any]] = {}  # model and training settings known to be enough at small sizes
    words: Words = Words()  # how it is put to a language model, where its description does not say it

    @property
    @abc.abstractmethod
    def symbols(self) -> tuple[str, ...]:
        """Every symbol a prompt, an answer or a tag can hold, whatever the size."""

    @abc.abstractmethod
    def sample(self, size: int, draws: Draws) -> Samples:
        """One item of this size for each row of `draws`, as indices into `symbols`; widths depend on the size alone."""

    @abc.abstractmethod
    def solve(self, prompt: Sequence[str]) -> Sequence[str] | Sequence[float]:
        """The exact answer to a prompt, found without the sampler; the likeliest one where answers are drawn."""

    def log_probabilities(self, answers: Ints) -> Floats:  # noqa: ARG002
        """ln P(symbol | what stands before it) at every place of drawn answers, [items, width, symbols]; exact.

        Only a task whose answers are not certain has these; the entries at a place depend on earlier places alone.
        """
        raise UsageError(
            f"the answers of {type(self).__name__} follow from the prompt, so there are no probabilities to give; "
            "a task such as prose has them"
        )

    def ids(self, prompts: Ints, answer: int) -> Ints:  # noqa: ARG002
        """Which tokens belong together, [items, prompt width + answer]: an id for every symbol of the prompts and for
        the first `answer` places of the answer, before it is written. A task that has no ids leaves this out.

        Digits of equal significance share an id, or a symbol and its copy. Ids count from 1; 0 is for signs and for
        places behind the longest answer. A sign that shares an id all the same has its negative: the `+` of a sum has
        that of the last digit of the sum. The position encodings `coupled` and `abacus` need ids.
        """
        raise UsageError(
            f"the task {type(self).__name__} gives its tokens no ids; tasks on numbers and strings such as "
            "addition_appended, copy_repeat and reverse_string do, and a task of your own does with a method `ids`"
        )

    def has(self, size: int) -> bool:
        """Whether items of this size exist."""
        axis = self.axes[0]
        return axis.smallest <= size and (axis.largest is None or size <= axis.largest)

    def part(self, role: Literal["train", "test"]) -> Self:  # noqa: ARG002
        """The task as seen in training or in testing; they differ when the items are finite and some are held out."""
        return self

    def warnings(self) -> list[str]:
        """What a user should know before trusting a measurement on this task, one sentence each."""
        return []

    def chance(self, size: int) -> Chance:
        """What guessing scores at this size, here estimated on 1,000 fixed items, with its standard error. A task that
        knows the distribution of its answers overrides this and gives `Chance(exact, token)`. O(1,000 x width)."""
        answers = self.draw(size, seed=0, items=range(1000), role="chance").answers
        return chance_of_sample(answers, self.readout, self.tolerance)

    @property
    def vocabulary(self) -> tuple[str, ...]:
        return (*SPECIALS, *self.symbols)

    @property
    def outputs(self) -> int:
        """How many numbers a model gives at a scored position."""
        return len(self.vocabulary)

    def draw(self, size: int, seed: int, items: Sequence[int] | Ints, role: str = "train") -> Samples:
        """Items by their number: item i of a seed, role and size is the same whatever the batch."""
        if not self.has(size):
            raise UsageError(f"the task has no items of size {size}; {self._known_sizes()}")
        return self.sample(size, Seeds(seed).draws(role, size, items=items))

    def batch(
        self, size: int, seed: int, items: Sequence[int] | Ints, role: str = "train", causal: bool = True
    ) -> Batch:
        """The same items laid out for a model."""
        return pack(self.draw(size, seed, items, role), self.readout, causal)

    def ids_of(self, tokens: Ints) -> Ints:
        """The ids of tokens [items, places] that are laid out for a model; 0 for `<bos>` and `<sep>`. The tokens of the
        answer do not matter, only how many places there are."""
        ends = np.where((tokens == SEP).any(axis=1), (tokens == SEP).argmax(axis=1), tokens.shape[1])
        found = np.zeros_like(tokens)
        for end in np.unique(ends).tolist():
            rows, answer = np.flatnonzero(ends == end), max(tokens.shape[1] - end - 1, 0)
            ids = self.ids(np.maximum(tokens[rows, 1:end] - len(SPECIALS), NOTHING), answer)
            found[rows, 1:end], found[rows, end + 1 :] = ids[:, : end - 1], ids[:, end - 1 :]
        return found

    def width(self, size: int, causal: bool = True) -> int:
        """Number of tokens that models read at this size."""
        return self.batch(size, 0, [0], causal=causal).inputs.shape[1]

    def spelled(self, row: Sequence[int] | Ints) -> tuple[str, ...]:
        """Indices into `symbols` as symbols."""
        symbols = self.symbols
        return tuple(symbols[index] for index in row if index != NOTHING)

    def _known_sizes(self) -> str:
        axis = self.axes[0]
        some = ", ".join(str(size) for size in self.sizes(axis.smallest, axis.smallest + 1000)[:4])
        known = f"its sizes ({axis.meaning}) begin {some}" if some else "no size is possible with these settings"
        return known + (f" and end at {axis.largest}" if axis.largest else "")

    def sizes(self, low: int, high: int) -> list[int]:
        """The sizes in [low, high] at which items exist."""
        return [size for size in range(low, high + 1) if self.has(size)]
