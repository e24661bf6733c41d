"""Text drawn from a source whose probabilities are known, so that a language model can be held against the truth: an
interpolated Markov chain fitted on a text.

The next symbol depends on the last `order` ones (at the beginning of a text, on those there are). With N(c, x) the
number of times x follows the context c in the fitted text, N(c) their sum, D(c) the number of different symbols that
follow c, and c' the context without its oldest symbol,

    P(x | c) = (N(c, x) + D(c) P(x | c')) / (N(c) + D(c)),        P(x | no context, nothing seen) = 1 / 27,

which is the estimate of witten1991 (method C), interpolated; a context that never occurs is as its shorter one. Every
symbol so has a positive probability after every context, as long as the numbers below can tell it from zero.

Probabilities are exact: what is stored are the partial sums of P, rounded to multiples of 2**-53, and a symbol is drawn
by comparing a uniform multiple of 2**-53 with them. So the differences of the partial sums *are* the probabilities of
the sampler, not an approximation of them.
"""

from __future__ import annotations

import functools
import re
import string
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.reading import read_text, stamp_of
from lengthwise.records import Reference
from lengthwise.seeds import Draws, Floats, Ints
from lengthwise.tasks import tasks
from lengthwise.tasks.batch import Readout, Samples
from lengthwise.tasks.facts import Facts
from lengthwise.tasks.task import Axis, Task
from lengthwise.text import built_in_text

SYMBOLS = (*string.ascii_lowercase, "_")  # the last stands for whatever is between words
COUNT = len(SYMBOLS)
_GRAIN = 2.0**53
_HIGHEST = 4  # the table of order 4 takes 115 MB, and each further order 27 times as much


def encode(text: str) -> Ints:
    """A text as indices into `SYMBOLS`: letters without case and accents; all else is one space between words."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    words = re.sub(r"[^a-z]+", "_", plain).strip("_")
    codes = np.frombuffer(words.encode(), dtype=np.uint8).astype(np.int64)
    return np.where(codes == ord("_"), COUNT - 1, codes - ord("a"))


@dataclass(frozen=True, eq=False)
class MarkovText:
    """A chain of symbols. `sums[k]` are the partial sums of P(· | the last k symbols), [27**k, 27]; the contexts are
    read as numbers in base 27, the oldest symbol first."""

    sums: tuple[Floats, ...]

    @property
    def order(self) -> int:
        return len(self.sums) - 1

    @functools.lru_cache(maxsize=8)  # noqa: B019 (sources are few and kept for good)
    def probabilities(self, length: int) -> Floats:
        """P(next symbol | context) for every context of `length` symbols, [27**length, 27]."""
        return np.diff(self.sums[length], axis=1, prepend=0.0)

    def write(self, uniform: Floats) -> Ints:
        """Texts from uniform numbers, [items, T] both. O(items x T x 27)."""
        texts = np.empty(uniform.shape, dtype=np.int64)
        context = np.zeros(len(uniform), dtype=np.int64)
        for place in range(uniform.shape[1]):
            sums = self.sums[min(place, self.order)][context]
            texts[:, place] = (sums <= uniform[:, place, None]).sum(axis=1)
            context = self._next(context, texts[:, place], place)
        return texts

    def log_probabilities(self, texts: Ints) -> Floats:
        """ln P(every symbol | what stands before) at every place of the texts, [items, T, 27]."""
        known = np.empty((*texts.shape, COUNT))
        context = np.zeros(len(texts), dtype=np.int64)
        for place in range(texts.shape[1]):
            known[:, place] = np.diff(self.sums[min(place, self.order)][context], axis=1, prepend=0.0)
            context = self._next(context, texts[:, place], place)
        with np.errstate(divide="ignore"):  # what is never drawn has the logarithm -inf
            return np.log(known)

    def _next(self, context: Ints, symbols: Ints, place: int) -> Ints:
        """The contexts after one more symbol; a full one drops its oldest."""
        longer = context * COUNT + symbols
        return longer % COUNT**self.order if place >= self.order else longer

    def entropies(self, size: int) -> Floats:
        """The expected surprise, in nats, at each place of a text of `size` symbols: what no model can beat there.

        Found by carrying the distribution over contexts forward, without sampling. O(size x 27**(order + 1)), or less:
        when the distribution has come to rest the remaining places are alike.
        """
        found = np.empty(size)
        contexts = np.ones(1)
        for place in range(size):
            joint = contexts[:, None] * self.probabilities(min(place, self.order))
            found[place] = contexts @ self._surprises(min(place, self.order))
            if place < self.order:
                contexts = joint.ravel()
                continue
            before, contexts = contexts, joint.reshape(COUNT, -1).sum(axis=0)
            if np.abs(contexts - before).sum() < 1e-13:
                found[place + 1 :] = found[place]
                break
        return found

    def entropy_rate(self) -> float:
        """The expected surprise of a symbol far from the beginning, in nats."""
        return float(self.entropies(10_000)[-1])

    @functools.lru_cache(maxsize=8)  # noqa: B019
    def _surprises(self, length: int) -> Floats:
        """The entropy of the next symbol after every context."""
        known = self.probabilities(length)
        return -np.where(known > 0, known * np.log(np.where(known > 0, known, 1.0)), 0.0).sum(axis=1)


def fit(text: str, order: int) -> MarkovText:
    """The chain of this order that the text suggests. O(length x order + 27**(order + 1))."""
    codes = encode(text)
    if len(codes) <= order:
        raise UsageError(f"the text has {len(codes)} letters and spaces; a chain of order {order} needs more than that")
    known = np.full((1, COUNT), 1.0 / COUNT)
    sums = []
    for length in range(order + 1):
        grams = np.zeros(len(codes) - length, dtype=np.int64)
        for place in range(length + 1):
            grams = grams * COUNT + codes[place : place + len(grams)]
        counts = np.bincount(grams, minlength=COUNT ** (length + 1)).reshape(-1, COUNT).astype(np.float64)
        different = (counts > 0).sum(axis=1, keepdims=True)
        shorter = known if length == 0 else np.tile(known, (COUNT, 1))
        total = counts.sum(axis=1, keepdims=True) + different
        known = np.where(total > 0, (counts + different * shorter) / np.maximum(total, 1), shorter)
        partial = np.round(np.cumsum(known, axis=1) * _GRAIN) / _GRAIN
        partial[:, -1] = 1.0
        sums.append(np.minimum(partial, 1.0))
    return MarkovText(tuple(sums))


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
            raise UsageError(f"order must be a whole number from 1 to {_HIGHEST}, not {self.order}")

    @property
    def symbols(self) -> tuple[str, ...]:
        return SYMBOLS

    @functools.cached_property
    def source(self) -> MarkovText:
        """The chain. It is fitted at first use, so that a spec can be rebuilt where the file is not at hand."""
        if not self.path:
            return _fitted("", self.order, ())
        return _fitted(self.path, self.order, stamp_of(self.path))

    def sample(self, size: int, draws: Draws) -> Samples:
        texts = self.source.write(draws.uniform(size))
        return Samples(texts[:, :-1], texts)

    def solve(self, prompt: Sequence[str]) -> Sequence[str]:
        """The likeliest symbol at every place, each given the true symbols before it."""
        if unknown := set(prompt) - set(SYMBOLS):
            raise UsageError(
                f"{min(unknown)!r} is not a symbol of the text; its symbols are the letters a to z and `_`"
            )
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
    text = read_text(path)
    try:
        return fit(text, order)
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from None
