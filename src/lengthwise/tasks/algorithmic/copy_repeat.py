"""Copying a string in which the same few symbols come back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lengthwise.errors import UsageError
from lengthwise.seeds import Draws
from lengthwise.tasks import tasks
from lengthwise.tasks.batch import Samples
from lengthwise.tasks.chance import Chance
from lengthwise.tasks.facts import huang
from lengthwise.tasks.task import Task


@tasks.register("copy_repeat")
@dataclass(frozen=True)
class CopyRepeat(Task):
    """Write a string of two repeated symbols again.

    `a b b a` → `a b b a`. The symbols are uniform and independent. The last few symbols written occur at many places,
    so they do not tell where the copy stands.
    """

    preset = {"depth": 3, "rate": 1e-3, "steps": 3000}
    facts = huang(
        circuit_class="AC0",
        offset=(100, 25.6, 0),
        none=(100, 28.0, 0),
        regularised=(100, 25.1, 0),
        crasp=(False, False),
        chance=0,
    )

    @property
    def symbols(self) -> tuple[str, ...]:
        return ("a", "b")

    def sample(self, size: int, draws: Draws) -> Samples:
        prompts = draws.integers(0, 2, size)
        return Samples(prompts, prompts)

    def solve(self, prompt: Sequence[str]) -> Sequence[str]:
        if not set(prompt) <= {"a", "b"}:
            raise UsageError(f"a prompt holds only a and b, not {' '.join(prompt)!r}")
        return tuple(prompt)

    def chance(self, size: int) -> Chance:
        """All strings are equally likely."""
        return Chance(0.5**size, 0.5)
