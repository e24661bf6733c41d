"""Blocks of equal length: a^n b^n and its longer relatives."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.seeds import Draws
from lengthwise.tasks import tasks
from lengthwise.tasks.batch import Samples
from lengthwise.tasks.chance import Chance
from lengthwise.tasks.languages.counters import counter_facts
from lengthwise.tasks.languages.next_symbol import END, NextSymbol, label
from lengthwise.tasks.task import Axis


class EqualBlocks(NextSymbol):
    """n times the first letter, n times the second, and so on, with n at least 1. One word a length."""

    letters: ClassVar[str]

    @property
    def symbols(self) -> tuple[str, ...]:
        """The letters, the tags `{a}` to the last letter's and `{$}`, and the tag inside the first block."""
        return (*self.letters, *map(label, self.letters), label(END), label(self.letters[:2]))

    def has(self, size: int) -> bool:
        return size >= 1 and size % len(self.letters) == 0

    def sample(self, size: int, draws: Draws) -> Samples:
        kinds = len(self.letters)
        prompt = np.repeat(np.arange(kinds), size // kinds)
        # After the first block the next letter is certain; inside it, another a or the first b.
        following = np.append(kinds + prompt, 2 * kinds)
        following[1 : size // kinds + 1] = 2 * kinds + 1
        return Samples(np.tile(prompt, (len(draws), 1)), np.tile(following, (len(draws), 1)))

    def chance(self, size: int) -> Chance:
        """Of the one word, whose first two prefixes have different tags."""
        tags = self.draw(size, seed=0, items=[0]).answers[0]
        return Chance(0.0, float(np.bincount(tags.astype(np.int64)).max() / len(tags)))

    def legal(self, word: Sequence[str]) -> Iterator[list[str]]:
        first, *others = self.letters
        yield [first]
        for end, letter in enumerate(word, start=1):
            if letter not in self.letters:
                raise UsageError(f"{letter!r} is none of the letters {' '.join(self.letters)}")
            counts = [word[:end].count(letter) for letter in self.letters]
            if list(word[:end]) != sorted(word[:end]) or not _begins(counts):
                yield []
                return
            if counts[0] == end:
                yield [first, others[0]]
            else:
                unfinished = [letter for letter, count in zip(self.letters, counts, strict=True) if count < counts[0]]
                yield [unfinished[0]] if unfinished else [END]


def _begins(counts: list[int]) -> bool:
    """Whether sorted letters with these counts begin a word: blocks as long as the first, one shorter, then none."""
    short = next((i for i, count in enumerate(counts) if count != counts[0]), len(counts) - 1)
    return counts[short] <= counts[0] and not any(counts[short + 1 :])


@tasks.register("anbn")
@dataclass(frozen=True)
class TwoBlocks(EqualBlocks):
    """Tag every prefix of a word a^n b^n with the symbols that may come next.

    `a a b b` → `{a} {a,b} {a,b} {b} {$}`.
    """

    letters: ClassVar[str] = "ab"
    axes: ClassVar[tuple[Axis, ...]] = (Axis("length", "letters of the word", smallest=2),)
    facts = counter_facts(circuit_class="AC0", offset=(100, 99.4, 92.3), none=(100, 100, 100))


@tasks.register("anbncn")
@dataclass(frozen=True)
class ThreeBlocks(EqualBlocks):
    """Tag every prefix of a word a^n b^n c^n with the symbols that may come next.

    `a a b b c c` → `{a} {a,b} {a,b} {b} {c} {c} {$}`.
    """

    letters: ClassVar[str] = "abc"
    axes: ClassVar[tuple[Axis, ...]] = (Axis("length", "letters of the word", smallest=3),)
    facts = counter_facts(circuit_class="AC0", offset=(100, 91.2, 87.4), none=(100, 100, 100))


@tasks.register("anbncndn")
@dataclass(frozen=True)
class FourBlocks(EqualBlocks):
    """Tag every prefix of a word a^n b^n c^n d^n with the symbols that may come next.

    `a b c d` → `{a} {a,b} {c} {d} {$}`.
    """

    letters: ClassVar[str] = "abcd"
    axes: ClassVar[tuple[Axis, ...]] = (Axis("length", "letters of the word", smallest=4),)
    facts = counter_facts(circuit_class="AC0", offset=(100, 86.4, 75.2), none=(100, 100, 100))
