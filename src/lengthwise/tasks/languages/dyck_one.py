"""Balanced brackets of one kind."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from lengthwise.seeds import Draws
from lengthwise.tasks import tasks
from lengthwise.tasks.batch import Samples
from lengthwise.tasks.chance import Chance
from lengthwise.tasks.languages.counters import balanced, counter_facts, heights, stacks
from lengthwise.tasks.languages.next_symbol import NextSymbol
from lengthwise.tasks.task import Axis


@tasks.register("dyck_1")
@dataclass(frozen=True)
class DyckOne(NextSymbol):
    """Tag every prefix of a balanced word of one kind of bracket with the symbols that may come next.

    `( ( ) )` → `{(,$} {(,)} {(,)} {(,)} {(,$}`. Words are uniform among those of their length, which is even; nothing
    bounds their depth.
    """

    axes: ClassVar[tuple[Axis, ...]] = (Axis("length", "brackets in the word", smallest=2),)
    facts = counter_facts(circuit_class="TC0, not AC0", offset=(100, 100, 100), none=(100, 100, 100))

    @property
    def symbols(self) -> tuple[str, ...]:
        return ("(", ")", "{(,$}", "{(,)}")

    def has(self, size: int) -> bool:
        return size >= 2 and size % 2 == 0

    def sample(self, size: int, draws: Draws) -> Samples:
        steps = balanced(np.full(len(draws), size // 2), size, draws)
        return Samples((steps < 0).astype(np.int64), np.where(heights(steps) > 0, 3, 2))

    def chance(self, size: int) -> Chance:
        """A uniform word of n pairs returns to the ground 3n / (n + 2) times on average; the empty prefix is there
        too, and another tag stands inside."""
        pairs = size // 2
        ground = (1 + 3 * pairs / (pairs + 2)) / (size + 1)
        return Chance(0.0, max(ground, 1 - ground))

    def legal(self, word: Sequence[str]) -> Iterator[str]:
        for stack in stacks(word, {"(": ")"}):
            yield "" if stack is None else "()" if stack else "($"
