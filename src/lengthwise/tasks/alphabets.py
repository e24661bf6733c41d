"""Symbols that tasks share (bits, numbers, letters) and the check that a prompt holds nothing else."""

from __future__ import annotations

import functools
import string
from collections.abc import Collection, Sequence

from lengthwise.errors import UsageError
from lengthwise.tasks.chance import Chance
from lengthwise.tasks.task import Task


@functools.lru_cache(maxsize=64)
def numerals(*bounds: int) -> tuple[str, ...]:
    """The numbers of `range(*bounds)` as symbols."""
    return tuple(map(str, range(*bounds)))


def check_symbols(prompt: Sequence[str], known: Collection[str], what: str) -> None:
    """Refuse a prompt that holds anything but the `known` symbols, which `what` describes."""
    if not set(prompt) <= set(known):
        raise UsageError(f"a prompt must hold {what}, not {' '.join(prompt)!r}")


class BitTask(Task):
    """A task on the bits 0 and 1, which has no other symbols."""

    @property
    def symbols(self) -> tuple[str, ...]:
        return ("0", "1")

    def check_bits(self, prompt: Sequence[str]) -> None:
        check_symbols(prompt, self.symbols, "only 0 and 1")


class LetterTask(Task):
    """A task on the first `letters` letters, which are alike: renaming them maps its items onto themselves."""

    letters: int

    def __post_init__(self) -> None:
        if not 2 <= self.letters <= len(string.ascii_lowercase):
            most = len(string.ascii_lowercase)
            raise UsageError(f"the number of letters must lie between 2 and {most}, not {self.letters}")

    @property
    def symbols(self) -> tuple[str, ...]:
        return tuple(string.ascii_lowercase[: self.letters])

    def check_letters(self, prompt: Sequence[str]) -> None:
        check_symbols(prompt or ("",), self.symbols, f"only the letters a to {self.symbols[-1]}")

    def chance(self, size: int) -> Chance:  # noqa: ARG002
        """Every letter is as likely to be the answer."""
        return Chance(1 / self.letters, 1 / self.letters)
