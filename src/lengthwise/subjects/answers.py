"""The capability `answers`: which items of a task a subject answers correctly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from lengthwise.errors import UsageError
from lengthwise.seeds import Floats
from lengthwise.tasks.batch import NOTHING
from lengthwise.tasks.task import Task


@dataclass(frozen=True, eq=False)
class MarkedItems:
    """Items of one size after marking: which are right as a whole, [items], and token by token where that is known,
    [tokens], with the loss of each token in nats where the subject gives probabilities (squared errors for numbers)."""

    items: NDArray[np.bool_]
    tokens: NDArray[np.bool_] | None = None
    losses: Floats | None = None


class Answers(Protocol):
    """Anything that can be asked the items of a task."""

    def mark(self, task: Task, size: int, items: Sequence[int], seed: int) -> MarkedItems:
        """Mark the answers to the test items of these numbers at one size."""
        ...


@dataclass(frozen=True, eq=False)
class FunctionAnswers:
    """The answers of an object with `answer(prompts)`, where prompts are lists of symbols.

    It returns one answer per prompt: a list of symbols, or a text with spaces between them; for a task whose answers
    are numbers, a list of numbers.
    """

    name: str
    answer: Any

    def mark(self, task: Task, size: int, items: Sequence[int], seed: int) -> MarkedItems:
        drawn = task.draw(size, seed, items, role="test")
        given = self.answer([list(task.spelled(row)) for row in drawn.prompts])
        if not isinstance(given, Sequence) or len(given) != len(drawn.prompts):
            raise UsageError(f"{self.name} was asked {len(drawn.prompts)} prompts and did not return a list of as many")
        if task.readout == "numbers":
            return MarkedItems(
                np.array([self._close(one, row, task) for one, row in zip(given, drawn.answers, strict=True)])
            )
        wanted = [task.spelled(row[row != NOTHING]) for row in drawn.answers]
        return MarkedItems(np.array([self._symbols(one) == row for one, row in zip(given, wanted, strict=True)]))

    def _symbols(self, given: Any) -> tuple[str, ...]:
        if isinstance(given, str):
            return tuple(given.split())
        if not isinstance(given, Sequence):
            raise UsageError(f"an answer of {self.name} is a text or a list of symbols, not a {type(given).__name__}")
        return tuple(map(str, given))

    def _close(self, given: Any, wanted: Floats, task: Task) -> bool:
        try:
            numbers = np.asarray(given, dtype=np.float64)
        except (TypeError, ValueError):
            raise UsageError(f"an answer of {self.name} is a list of numbers, not {str(given)[:40]!r}") from None
        return numbers.shape == wanted.shape and bool((np.abs(numbers - wanted) <= task.tolerance).all())
