"""Whether two limit transformers agree on all words up to a length, and the shortest word on which they do not.

Two layers are compared on every word. One layer is compared on one word of each class: the answer depends on the last
locality + 1 symbols and on how often each symbol stands at each phase before them (docs/explanation/limit.md, statement
1), so with the larger locality and the common multiple of the periods, polynomially many words stand for all.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.oracle.limit.classes import ClassAnswers, class_count, class_words
from lengthwise.oracle.limit.transformer import Array, LimitTransformer
from lengthwise.progress import Progress, silent
from lengthwise.seeds import Ints

BUDGET, EXACT_BUDGET = 20_000, 2_000  # words compared, in floats and in rational numbers, unless a length is given
LONGEST = 200  # symbols, unless a length is given
CHUNK = 2048
ROUNDING = 1e-9  # two answers in floating point that are this close count as equal
_SURE = 1e-6  # a difference in floating point that no rounding explains

Way = Literal["words", "classes"]


@dataclass(frozen=True)
class Comparison:
    """`length`: how far all words agree within `error`. `word` is a shortest one on which the answers differ by more,
    None where there is none up to the length asked for. `largest` is the largest difference on all words up to the
    length, or the difference on `word`. `words` were compared; each stands for its class where `way` says so."""

    length: int
    error: float
    way: Way
    words: int
    largest: float
    exact: bool
    word: tuple[str, ...] | None = None
    answers: tuple[tuple[float, ...], tuple[float, ...]] | None = None

    @property
    def agree(self) -> bool:
        return self.word is None


def compare(
    one: LimitTransformer,
    other: LimitTransformer,
    length: int | None = None,
    error: float = 0.0,
    progress: Progress = silent,
) -> Comparison:
    """Compare two limit transformers on all words up to `length`, or as far as a budget of words reaches.

    In exact arithmetic where both transformers are exact, else in floating point with a slack of 1e-9. It stops at the
    first word, of the shortest length, on which the answers differ by more than `error`.
    """
    if not error >= 0:
        raise UsageError(f"an error must be 0 or more, not {error}")
    other = _alike(one, other)
    exact = one.exact and other.exact
    way: Way = "classes" if len(one.layers) == len(other.layers) == 1 else "words"
    longest = _longest(one, other, way, EXACT_BUDGET if exact else BUDGET) if length is None else length
    if longest < 1:
        raise UsageError(f"words of up to 1 symbol or more are compared, not of {longest}")
    compared, largest = 0, 0.0
    for now in range(1, longest + 1):
        for words in _chunks(one, other, way, now):
            compared += len(words)
            differences, rational = _differences(one, other, words, error, exact)
            largest, exact = max(largest, float(differences.max())), exact and rational
            wrong = np.flatnonzero(differences > error + (0 if rational else ROUNDING))
            if len(wrong):
                word, largest = one.spelled(words[wrong[0]]), float(differences[wrong[0]])
                answers = tuple(tuple(map(float, model.answer(word))) for model in (one, other))
                return Comparison(now - 1, error, way, compared, largest, exact, word, (answers[0], answers[1]))
        progress(f"words of {now} symbols", now, longest)
    return Comparison(longest, error, way, compared, largest, exact)


def _alike(one: LimitTransformer, other: LimitTransformer) -> LimitTransformer:
    """The other transformer with its symbols in the order of the first."""
    if set(one.symbols) != set(other.symbols):
        raise UsageError(
            f"two models are compared on words over the same symbols, not over {' '.join(one.symbols)} and "
            f"{' '.join(other.symbols)}"
        )
    if len(one.readout) != len(other.readout):
        raise UsageError(f"the answers of one model have {len(one.readout)} numbers, of the other {len(other.readout)}")
    order = [other.symbols.index(symbol) for symbol in one.symbols]
    return replace(other, symbols=one.symbols, embeddings=other.embeddings[order])


def _shared(one: LimitTransformer, other: LimitTransformer) -> tuple[int, int]:
    """A period and a locality that suit both."""
    return math.lcm(one.period, other.period), max(one.locality, other.locality)


def _longest(one: LimitTransformer, other: LimitTransformer, way: Way, budget: int) -> int:
    """The longest length up to which the words fit into the budget; at least 1."""
    symbols, total = len(one.symbols), 0
    shared = _shared(one, other)
    for length in itertools.count(1):
        total += class_count(symbols, *shared, length) if way == "classes" else symbols**length
        if total > budget or length > LONGEST:
            return max(1, length - 1)
    raise AssertionError


def _chunks(one: LimitTransformer, other: LimitTransformer, way: Way, length: int) -> Iterator[Ints]:
    """All words of a length, or one of each class, in arrays of a bounded size."""
    symbols = range(len(one.symbols))
    if way == "words":
        found: Iterator[tuple[int, ...]] = itertools.product(symbols, repeat=length)
    else:
        found = class_words(len(one.symbols), *_shared(one, other), length)
    while chunk := list(itertools.islice(found, CHUNK)):
        yield np.array(chunk, dtype=np.int64)


def _differences(
    one: LimitTransformer, other: LimitTransformer, words: Ints, error: float, exact: bool
) -> tuple[Array, bool]:
    """The largest difference of an entry for each word, and whether all of them are rational numbers. Of exact
    transformers, floats only find a word that differs quickly; rational numbers decide."""
    found = np.abs(one.in_floats().answers(words) - other.in_floats().answers(words)).max(axis=1)
    if not exact:
        return found, False
    suspect = np.flatnonzero(found > error + _SURE)[:1]
    if len(suspect):
        gap, rational = _gaps(one, other, words[suspect], error)
        if gap[0] > error:
            alone = np.zeros(len(words))
            alone[suspect] = gap
            return alone, rational
    return _gaps(one, other, words, error)


def _gaps(one: LimitTransformer, other: LimitTransformer, words: Ints, error: float) -> tuple[Array, bool]:
    """The differences by rational numbers; one above the error stays above it when it is rounded to a float. Weights of
    the mode "finite" that are no rational numbers leave floats."""
    if len(one.layers) == len(other.layers) == 1:
        sides = [
            [counted.answer(tuple(word)) for word in words.tolist()] for counted in map(ClassAnswers, (one, other))
        ]
        gaps = [max(abs(a - b) for a, b in zip(*pair, strict=True)) for pair in zip(*sides, strict=True)]
    else:
        gaps = list(np.abs(one.answers(words) - other.answers(words)).max(axis=1))
    rational = not any(isinstance(gap, float) for gap in gaps)
    above = math.nextafter(error, math.inf)
    return np.array([max(above, float(gap)) if gap > error else min(error, float(gap)) for gap in gaps]), rational
