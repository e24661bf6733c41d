"""Counting how often a letter occurs."""

from __future__ import annotations

import string
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.records import Reference
from lengthwise.seeds import Draws
from lengthwise.tasks import tasks
from lengthwise.tasks.batch import NOTHING, Samples
from lengthwise.tasks.chance import Chance
from lengthwise.tasks.facts import Facts
from lengthwise.tasks.task import Axis, Task
from lengthwise.tasks.words import Words


@tasks.register("count")
@dataclass(frozen=True)
class LetterCount(Task):
    """Count how often the letter at the end occurs before.

    `a c a b a` → `2`, `b b a c` → `0`; ten and more are written with two digits, `1 0`. The letter is uniform, its
    number is uniform from none to all of them, and the other letters are uniform.
    """

    letters: int = 4
    axes = (Axis("length", "letters among which is counted"),)
    facts = Facts(circuit_class="TC0, not AC0", references=(Reference("weiss2021", "histograms"),))
    preset = {"depth": 2, "heads": 2, "rate": 1e-3, "steps": 5000}

    def __post_init__(self) -> None:
        if not 2 <= self.letters <= 26:
            raise UsageError(f"the number of letters must lie between 2 and 26, not {self.letters}")

    @property
    def symbols(self) -> tuple[str, ...]:
        return (*string.ascii_lowercase[: self.letters], *string.digits)

    @property
    def words(self) -> Words:  # pyright: ignore[reportIncompatibleVariableOverride]
        return Words(
            "Count how often a letter occurs in a row of letters.",
            form="Reply with the number only, in digits.",
            joint="",
            told=lambda prompt: f"{' '.join(prompt[:-1])}\nHow many times does the letter {prompt[-1]} occur?",
        )

    def sample(self, size: int, draws: Draws) -> Samples:
        asked = draws.integers(0, self.letters, 1)
        count = draws.integers(0, size + 1, 1)
        others = (asked + draws.integers(1, self.letters, size)) % self.letters
        row = np.where(draws.permutation(size) < count, asked, others)
        powers = 10 ** np.arange(len(str(size)) - 1, -1, -1)
        shown = (count >= powers) | (powers == 1)
        digits = np.where(shown, self.letters + count // powers % 10, NOTHING)
        filled = np.take_along_axis(digits, np.argsort(~shown, axis=1, kind="stable"), axis=1)
        return Samples(np.concatenate([row, asked], axis=1), filled)

    def solve(self, prompt: Sequence[str]) -> Sequence[str]:
        if len(prompt) < 2 or not set(prompt) <= set(self.symbols[: self.letters]):
            last = self.symbols[self.letters - 1]
            raise UsageError(f"a prompt must be two or more of the letters a to {last}, not {' '.join(prompt)!r}")
        return tuple(str(list(prompt[:-1]).count(prompt[-1])))

    def chance(self, size: int) -> Chance:
        """Every number from 0 to the size is as likely; a place is guessed by its commonest digit."""
        numbers = [str(number) for number in range(size + 1)]
        places = [[number[place] for number in numbers if place < len(number)] for place in range(len(numbers[-1]))]
        best = sum(max(map(place.count, place)) for place in places)
        return Chance(1 / len(numbers), best / sum(map(len, numbers)))
