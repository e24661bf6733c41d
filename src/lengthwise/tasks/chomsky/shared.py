"""What the tasks of the suite share: their reference, how settings and prompts are checked, strings of numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lengthwise.errors import UsageError
from lengthwise.records import Reference
from lengthwise.tasks.task import Task

DELETANG = Reference("deletang2023", "Table 2 and Appendix A")


def numerals(count: int) -> tuple[str, ...]:
    """The symbols `0`, `1`, … below `count`."""
    return tuple(str(number) for number in range(count))


def at_least(least: int, setting: str, value: int) -> None:
    """Refuse a setting below the smallest that makes sense."""
    if value < least:
        raise UsageError(f"{setting} must be at least {least}, not {value}")


def read(prompt: Sequence[str], count: int) -> list[int]:
    """A prompt of numerals below `count` as numbers."""
    known = numerals(count)
    strange = next((symbol for symbol in prompt if symbol not in known), None)
    if strange is not None:
        raise UsageError(f"the prompt holds {strange!r}; its symbols are the numbers 0 to {count - 1}")
    if not prompt:
        raise UsageError("the prompt is empty; it holds at least one symbol")
    return [int(symbol) for symbol in prompt]


@dataclass(frozen=True)
class StringTask(Task):
    """A task on strings of uniform numbers below `alphabet`."""

    alphabet: int = 2

    def __post_init__(self) -> None:
        at_least(2, "alphabet", self.alphabet)

    @property
    def symbols(self) -> tuple[str, ...]:
        return numerals(self.alphabet)
