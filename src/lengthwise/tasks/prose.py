"""Text drawn from a source whose probabilities are known: a language model can be held against the truth."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.records import Reference
from lengthwise.seeds import Draws, Floats, Ints
from lengthwise.tasks import tasks
from lengthwise.tasks.batch import Readout, Samples
from lengthwise.tasks.facts import Facts
from lengthwise.tasks.markov import SYMBOLS, MarkovText, fit
from lengthwise.tasks.task import Axis, Task
from lengthwise.text import TITLE, built_in_text

_HIGHEST = 4  # the table of order 4 takes 115 MB, and each further order 27 times as much


@tasks.register("prose")
@dataclass(frozen=True)
class Prose(Task):
    """Say what comes next in a text written by a Markov chain: every place is asked for its symbol.

    `a l i c` → `a l i c e`: what is read at a place is the symbol before it, and the answer is the symbol itself, so a
    text of T symbols asks for T. The chain is fitted on the text that comes with this package, or on a file of yours
    (`prose:path=my.txt`): letters without case, and `_` for whatever is between words. The next symbol depends on the
    last `order` ones. Answers are drawn, so no model has them all right; what it can reach is the chain's own loss.
    """

    order: int = 3
    path: str = ""

    readout: ClassVar[Readout] = "tags"
    axes: ClassVar[tuple[Axis, ...]] = (Axis("length", "symbols of the text"),)
    certain: ClassVar[bool] = False
    facts = Facts(references=(Reference("witten1991", "method C"),))
    preset: ClassVar[Mapping[str, Any]] = {"depth": 1, "width": 40, "sizes": "fixed", "rate": 5e-3}

    def __post_init__(self) -> None:
        if not 1 <= self.order <= _HIGHEST:
            raise UsageError(f"order is a whole number from 1 to {_HIGHEST}, not {self.order}")

    @property
    def symbols(self) -> tuple[str, ...]:
        return SYMBOLS

    @functools.cached_property
    def source(self) -> MarkovText:
        """The chain. It is fitted at first use, so that a spec can be rebuilt where the file is not at hand."""
        if not self.path:
            return _fitted("", self.order, ())
        try:
            stat = Path(self.path).stat()
            return _fitted(self.path, self.order, (stat.st_dev, stat.st_ino, stat.st_mtime_ns, stat.st_size))
        except OSError as error:
            raise UsageError(f"{self.path} cannot be read: {error.strerror or error}") from None

    def sample(self, size: int, draws: Draws) -> Samples:
        texts = self.source.write(draws.uniform(size))
        return Samples(texts[:, :-1], texts)

    def solve(self, prompt: Sequence[str]) -> Sequence[str]:
        """The likeliest symbol at every place, each given the true symbols before it."""
        if unknown := set(prompt) - set(SYMBOLS):
            raise UsageError(f"{min(unknown)!r} is no symbol of the text; they are the letters a to z and `_`")
        text = np.array([[*(SYMBOLS.index(symbol) for symbol in prompt), 0]], dtype=np.int64)
        return self.spelled(self.log_probabilities(text)[0].argmax(axis=1))

    def log_probabilities(self, answers: Ints) -> Floats:
        return self.source.log_probabilities(answers)

    def best_loss(self, size: int) -> float:
        """The expected loss, in nats a symbol, of the chain itself on texts of this size: no model does better."""
        return float(self.source.entropies(size).mean())

    def warnings(self) -> list[str]:
        rate = self.source.entropy_rate()
        return [
            "the symbols of prose are drawn, so exact match of whole texts is near 0 for any model; look at the loss, "
            f"which far from the beginning of a text cannot be below {rate:.4f} nats ({rate / np.log(2):.4f} bits)"
        ]


@functools.lru_cache(maxsize=4)
def _fitted(path: str, order: int, state: tuple[int, ...]) -> MarkovText:  # noqa: ARG001
    """The chain of a file in a certain state; without a path, of the text that comes with the package."""
    if not path:
        return fit(built_in_text(), order)
    try:
        text = Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise UsageError(f"{path} is not a text in UTF-8; `prose:path=` takes a plain text, as {TITLE}") from None
    try:
        return fit(text, order)
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from None
