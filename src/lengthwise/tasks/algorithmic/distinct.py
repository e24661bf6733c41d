"""What sorting and copying of distinct symbols share: an alphabet that bounds the size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lengthwise.errors import UsageError
from lengthwise.tasks.task import Task


@dataclass(frozen=True)
class DistinctSymbols(Task):
    """A task on distinct numbers below `alphabet`, which does not grow with the size: a longer prompt holds no unseen
    symbol. The published results are for 150 symbols and sizes up to 150."""

    alphabet: int = 64

    def __post_init__(self) -> None:
        if self.alphabet < 1:
            raise UsageError(f"the alphabet has at least one symbol, not {self.alphabet}")

    @property
    def symbols(self) -> tuple[str, ...]:
        return tuple(str(number) for number in range(self.alphabet))

    def has(self, size: int) -> bool:
        return 1 <= size <= self.alphabet

    def read(self, prompt: Sequence[str]) -> tuple[str, ...]:
        """The prompt, if its symbols are distinct and known."""
        if len(set(prompt)) < len(prompt):
            raise UsageError(f"the symbols of a prompt are distinct, and {' '.join(prompt)!r} repeats one")
        if not set(prompt) <= set(self.symbols):
            raise UsageError(f"a prompt holds numbers from 0 to {self.alphabet - 1}, not {' '.join(prompt)!r}")
        return tuple(prompt)
