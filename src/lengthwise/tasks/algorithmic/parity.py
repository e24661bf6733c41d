"""Whether the number of ones is even."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.seeds import Draws
from lengthwise.tasks import tasks
from lengthwise.tasks.batch import Samples
from lengthwise.tasks.chance import Chance
from lengthwise.tasks.facts import huang
from lengthwise.tasks.task import Task

_EVEN = 2  # the index of `e` in the symbols; `o` follows


@tasks.register("parity")
@dataclass(frozen=True)
class Parity(Task):
    """Say whether the number of ones is even (`e`) or odd (`o`).

    `1 0 1 1` → `o`. The number of ones is uniform from none to all of them.
    """

    facts = huang(
        circuit_class="ACC0, not AC0",
        offset=(100, 83.0, 62.1),
        none=(97.5, 74.5, 63.3),
        regularised=(100, 83.4, 64.2),
        crasp=(False, False),
        chance=52.3,
    )

    @property
    def symbols(self) -> tuple[str, ...]:
        return ("0", "1", "e", "o")

    def sample(self, size: int, draws: Draws) -> Samples:
        ones = draws.integers(0, size + 1, 1)
        prompts = (draws.permutation(size) < ones).astype(np.int64)
        return Samples(prompts, _EVEN + ones % 2)

    def solve(self, prompt: Sequence[str]) -> Sequence[str]:
        if not set(prompt) <= {"0", "1"}:
            raise UsageError(f"a prompt of bits holds only 0 and 1, not {' '.join(prompt)!r}")
        return ("o",) if prompt.count("1") % 2 else ("e",)

    def chance(self, size: int) -> Chance:
        """Of the size + 1 counts, size // 2 + 1 are even: never fewer than the odd ones."""
        even = (size // 2 + 1) / (size + 1)
        return Chance(even, even)
