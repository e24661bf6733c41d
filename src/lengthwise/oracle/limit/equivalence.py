"""Do two limit transformers answer alike on all words up to a length? Decided by trying them all, or all classes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.oracle.limit.classes import class_count, representatives
from lengthwise.oracle.limit.exact import ExactLayer
from lengthwise.oracle.limit.hardmax import hardmax_length
from lengthwise.oracle.limit.lipschitz import lipschitz_constant
from lengthwise.oracle.limit.margin import IZZO
from lengthwise.oracle.limit.numbers import Array
from lengthwise.oracle.limit.theorems import size, theorem_4_1
from lengthwise.oracle.limit.transformer import LimitTransformer
from lengthwise.records import Assumption, Claim, Reference
from lengthwise.seeds import Ints

MOST = 400_000  # words compared
ROUNDING = 1e-9  # two floating answers this close are called equal


@dataclass(frozen=True)
class Comparison:
    """The largest difference on all words over `symbols` up to `length`, where it is, and the first word beyond the
    tolerance. `words` counts all words, `compared` those that stand for them."""

    length: int
    symbols: tuple[str, ...]
    missing: tuple[str, ...]
    words: int
    compared: int
    tolerance: float
    exact: bool
    difference: float
    worst: tuple[str, ...]
    witness: tuple[str, ...] | None
    theorem: str

    @property
    def agree(self) -> bool:
        return self.witness is None

    def claim(self) -> Claim:
        carried = f"beyond length {self.length} nothing is claimed; {self.theorem}"
        numbers = "answers are compared in exact arithmetic"
        if not self.exact:
            numbers = f"answers are in double precision and equal if within {ROUNDING:g}"
        assumptions = [Assumption(numbers, "checked"), Assumption(carried)]
        if self.missing:
            assumptions.append(Assumption(f"all symbols occur ({' '.join(self.missing)} do not)", "violated"))
        return Claim(
            f"largest difference on all words up to length {self.length}",
            self.difference,
            "",
            "certified" if self.exact else "measured",
            "holds" if self.agree else "refuted",
            assumptions=tuple(assumptions),
            reference=Reference(IZZO, "Theorem 4.1, for what would follow"),
            evidence=self.plain(),
        )

    def explain(self) -> list[str]:
        how = f"all {size(math.log2(self.words))} words up to length {self.length} were covered by {self.compared:,}"
        if self.witness is None:
            return [how, f"they differ by at most {self.difference:.4g}, on {' '.join(self.worst)}"]
        return [how, f"they differ by more than {self.tolerance:g} on {' '.join(self.witness)}"]

    def plain(self) -> dict[str, Any]:
        return {
            "length": self.length,
            "symbols": list(self.symbols),
            "missing": list(self.missing),
            "words": str(self.words),
            "compared": self.compared,
            "tolerance": self.tolerance,
            "exact": self.exact,
            "difference": self.difference,
            "worst": " ".join(self.worst),
            "witness": None if self.witness is None else " ".join(self.witness),
            "agree": self.agree,
        }


def compare(
    one: LimitTransformer,
    other: LimitTransformer,
    length: int,
    tolerance: float = 0.0,
    symbols: Sequence[str] | None = None,
) -> Comparison:
    """Both on all words of 1 to `length` symbols (of all their symbols, or of those given).

    With one layer each, a word stands for all words that one layer cannot tell from it, so lengths of hundreds are
    possible; with two layers every word is tried.
    """
    chosen = _checked(one, other, length, tolerance, symbols)
    exact = one.exact and other.exact
    slack = tolerance if exact else tolerance + ROUNDING
    largest, worst, witness, compared = -1.0, (), None, 0
    answers, others = _answering(one, exact), _answering(other, exact)
    for words in _words(one, other, length, chosen):
        differences = np.abs(answers(words) - others(words)).max(axis=1)
        place = int(np.argmax(differences))
        compared += len(words)
        if differences[place] > largest:
            largest, worst = float(differences[place]), _spelled(one, words[place])
        if witness is None and np.any(differences > slack):
            witness = _spelled(one, words[int(np.argmax(differences > slack))])
    names = tuple(one.symbols[symbol] for symbol in chosen)
    missing = tuple(symbol for symbol in one.symbols if symbol not in names)
    total = sum(len(chosen) ** n for n in range(1, length + 1))
    needed = _theorem(one, other, max(tolerance, ROUNDING))
    return Comparison(
        length, names, missing, total, compared, tolerance, exact, largest, worst, witness, theorem=needed
    )


def _answering(model: LimitTransformer, exact: bool) -> Callable[[Ints], Array]:
    if exact:
        return ExactLayer(model).answers if len(model.layers) == 1 else model.answers
    return model.in_floats().answers


def _words(one: LimitTransformer, other: LimitTransformer, length: int, symbols: Sequence[int]) -> Iterator[Ints]:
    for n in range(1, length + 1):
        yield from representatives(symbols, *_resolution(one, other, n), n, 2048)


def _resolution(one: LimitTransformer, other: LimitTransformer, length: int) -> tuple[int, int]:
    """The period and locality that tell apart what either can; for two layers, whole words."""
    if max(len(one.layers), len(other.layers)) > 1:
        return 1, length
    return math.lcm(one.period, other.period), max(one.locality, other.locality)


def _checked(
    one: LimitTransformer, other: LimitTransformer, length: int, tolerance: float, symbols: Sequence[str] | None
) -> list[int]:
    if one.symbols != other.symbols or len(one.readout) != len(other.readout):
        raise UsageError("two transformers are compared over the same symbols, in the same order, with as many outputs")
    if length < 1 or not 0 <= tolerance < math.inf:
        raise UsageError(f"a length is at least 1 and a tolerance 0 or more, not {length} and {tolerance}")
    chosen = sorted({int(place) for place in one.read(list(one.symbols if symbols is None else symbols))[0]})
    total = list(
        itertools.accumulate(class_count(len(chosen), *_resolution(one, other, n), n) for n in range(1, length + 1))
    )
    if total[-1] > MOST:
        possible = sum(count <= MOST for count in total)
        raise UsageError(
            f"up to length {length} there are {total[-1]:,} words to compare; up to {possible} it is possible"
        )
    return chosen


def _theorem(one: LimitTransformer, other: LimitTransformer, error: float) -> str:
    """What Theorem 4.1 would ask for, where it applies: one layer each at finite precision."""
    if max(len(one.layers), len(other.layers)) > 1 or "infinite" in (one.mode, other.mode):
        return "Theorem 4.1 is about one layer at finite precision and does not apply"
    norms = max(lipschitz_constant(one), lipschitz_constant(other))
    if not 0 < norms < math.inf or error >= 1:
        return "Theorem 4.1 does not apply: its constant L is 0 or infinite, or the tolerance is 1 or more"
    margins = [m for m in (hardmax_length(f).margin.value for f in (one, other)) if m is not None]
    scaling = theorem_4_1(
        lipschitz=norms,
        period=math.lcm(one.period, other.period),
        alphabet=len(one.symbols),
        locality=max(one.locality, other.locality),
        error=error,
        bits=max(one.bits, other.bits),
        margin=float(min(margins)) if margins else None,
    )
    return f"Theorem 4.1, as reported, would carry it to all lengths from C · {size(scaling.log2)} on, C unknown"


def _spelled(model: LimitTransformer, word: Ints) -> tuple[str, ...]:
    return tuple(model.symbols[symbol] for symbol in word)
