"""The question asked of most languages here: which symbols may come next, after every prefix of a word."""

from __future__ import annotations

import abc
from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar

from lengthwise.errors import UsageError
from lengthwise.tasks.batch import Readout
from lengthwise.tasks.task import Axis, Task

END = "$"


def label(legal: Iterable[str]) -> str:
    """The legal symbols as one tag: `{a,b,$}`."""
    return "{" + ",".join(legal) + "}"


class NextSymbol(Task):
    """A word is read, and every prefix of it, the empty one first, is tagged with the symbols that may come next.

    A letter is legal when the prefix followed by it begins some word of the language, of any length; the end mark `$`
    is legal when the prefix itself is a word.
    """

    readout: ClassVar[Readout] = "tags"
    axes: ClassVar[tuple[Axis, ...]] = (Axis("length", "letters of the word"),)

    @abc.abstractmethod
    def legal(self, word: Sequence[str]) -> Iterator[Iterable[str]]:
        """The legal symbols after every prefix, found without the sampler; none at all where it begins no word."""

    def solve(self, prompt: Sequence[str]) -> Sequence[str]:
        tags = []
        for length, legal in enumerate(self.legal(prompt)):
            if not legal:
                raise UsageError(f"no word of the language begins with {' '.join(prompt[:length])!r}")
            tags.append(label(legal))
        return tags
