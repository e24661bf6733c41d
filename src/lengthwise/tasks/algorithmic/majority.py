"""The most frequent of many letters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.seeds import Draws, Ints
from lengthwise.tasks import tasks
from lengthwise.tasks.batch import Samples
from lengthwise.tasks.chance import Chance
from lengthwise.tasks.facts import huang
from lengthwise.tasks.letters import check_letters, first_letters
from lengthwise.tasks.task import Task

_TRIES = 4  # strings drawn at once for every item: most items find theirs among the first few


@tasks.register("majority")
@dataclass(frozen=True)
class Majority(Task):
    """Say which letter is the most frequent.

    `c a b a` → `a`. The letters are uniform and independent; a string with several most frequent letters is drawn
    again. The winner of a short string is therefore often a letter that occurs twice.
    """

    letters: int = 26
    facts = huang(
        circuit_class="TC0, not AC0",
        offset=(100, 99.6, 97.8),
        none=(100, 99.9, 98.5),
        regularised=(100, 99.9, 99.0),
        crasp=(True, True),
        chance=4.1,
    )

    def __post_init__(self) -> None:
        check_letters(self.letters)

    @property
    def symbols(self) -> tuple[str, ...]:
        return first_letters(self.letters)

    def sample(self, size: int, draws: Draws) -> Samples:
        items = len(draws)
        prompts, winners = np.zeros((items, size), dtype=np.int64), np.zeros((items, 1), dtype=np.int64)
        waiting = np.arange(items)
        while len(waiting):
            tries = draws.integers(0, self.letters, _TRIES * size).reshape(items, _TRIES, size)[waiting]
            winner, unique = _winners(tries, self.letters)
            first, found = unique.argmax(axis=1), unique.any(axis=1)
            rows = np.arange(len(waiting))
            prompts[waiting[found]] = tries[rows, first][found]
            winners[waiting[found], 0] = winner[rows, first][found]
            waiting = waiting[~found]
        return Samples(prompts, winners)

    def solve(self, prompt: Sequence[str]) -> Sequence[str]:
        if not prompt or not set(prompt) <= set(self.symbols):
            raise UsageError(f"a prompt is made of the letters a to {self.symbols[-1]}, not {' '.join(prompt)!r}")
        (winner, most), *others = Counter(prompt).most_common(2)
        if others and others[0][1] == most:
            raise UsageError(f"there is no single most frequent letter in {' '.join(prompt)!r}")
        return (winner,)

    def chance(self, size: int) -> Chance:  # noqa: ARG002
        """Renaming the letters maps the items onto themselves, so every letter is as likely."""
        return Chance(1 / self.letters, 1 / self.letters)


def _winners(strings: Ints, letters: int) -> tuple[Ints, np.ndarray]:
    """The most frequent letter of each string along the last axis, and whether it is the only one."""
    shape = strings.shape[:-1]
    flat = strings.reshape(-1, strings.shape[-1])
    places = flat + letters * np.arange(len(flat))[:, None]
    counts = np.bincount(places.ravel(), minlength=letters * len(flat)).reshape(len(flat), letters)
    unique = (counts == counts.max(axis=1, keepdims=True)).sum(axis=1) == 1
    return counts.argmax(axis=1).reshape(shape), unique.reshape(shape)
