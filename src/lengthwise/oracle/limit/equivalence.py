"""Do two limit transformers of one or two layers answer alike on all words up to a length?

One layer sees the last locality + 1 symbols in order, and before them how often each symbol occurs at each phase, since
the logit and the value of a key there depend on its symbol and its phase alone. So words fall into polynomially many
classes, and one word of each stands for all words. With two layers every word is tried.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.messages import explain
from lengthwise.oracle.limit.margins import hardmax_length
from lengthwise.oracle.limit.numbers import Array, Number, as_floats
from lengthwise.oracle.limit.simulation import compositions
from lengthwise.oracle.limit.theorems import IZZO, size, theorem_4_1
from lengthwise.oracle.limit.transformer import LimitTransformer, exact_weight
from lengthwise.records import Assumption, Claim, Reference
from lengthwise.seeds import Ints

MOST = 400_000  # words compared
ROUNDING = 1e-9  # two floating-point answers this close count as equal
Kind = tuple[int, int, int | None]  # symbol, phase, distance; None for beyond the locality
explain(
    {
        "limit.difference": "largest difference on all words up to length {length}",
        "limit.exact": "answers are compared in exact arithmetic",
        "limit.rounded": "answers are in double precision and count as equal within {within:g}",
        "limit.beyond": "beyond length {length} nothing is claimed; Theorem 4.1, as reported, would extend it to all "
        "lengths from C · {needed} on, C unknown",
        "limit.beyond_nothing": "beyond length {length} nothing is claimed; Theorem 4.1 does not apply (it needs one "
        "layer at finite precision, a constant L that is neither 0 nor infinite, and a tolerance below 1)",
        "limit.symbols_occur": "all symbols occur (missing: {missing})",
    }
)


@dataclass(frozen=True)
class WordComparison:
    """The largest difference on all words over `symbols` up to `length`, where it is, and the first word beyond the
    tolerance. `words` counts all words, `compared` those that stand for them. `theorem` is log2 of the length that
    Theorem 4.1 would ask for with constant 1; None where it does not apply."""

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
    theorem: float | None

    @property
    def agree(self) -> bool:
        return self.witness is None

    def claim(self) -> Claim:
        rounded = Assumption("limit.rounded", "checked", {"within": ROUNDING})
        assumptions = [Assumption("limit.exact", "checked") if self.exact else rounded]
        if self.theorem is None:
            assumptions.append(Assumption("limit.beyond_nothing", values={"length": self.length}))
        else:
            values = {"length": self.length, "needed": size(self.theorem)}
            assumptions.append(Assumption("limit.beyond", values=values))
        if self.missing:
            assumptions.append(Assumption("limit.symbols_occur", "violated", {"missing": " ".join(self.missing)}))
        return Claim(
            "limit.difference",
            self.difference,
            "",
            "certified" if self.exact else "measured",
            "holds" if self.agree else "refuted",
            assumptions=tuple(assumptions),
            reference=Reference(IZZO, "Theorem 4.1, for what would follow"),
            evidence={
                "length": self.length,
                "words": str(self.words),
                "compared": self.compared,
                "tolerance": self.tolerance,
                "worst": " ".join(self.worst),
                "witness": None if self.witness is None else " ".join(self.witness),
            },
        )


def compare(
    one: LimitTransformer,
    other: LimitTransformer,
    length: int,
    tolerance: float = 0.0,
    symbols: Sequence[str] | None = None,
) -> WordComparison:
    """Both on all words of 1 to `length` symbols (of all their symbols, or of those given).

    With one layer each, a word stands for all words that one layer cannot distinguish from it, so lengths of hundreds
    are possible; with two layers every word is tried.
    """
    chosen = _checked(one, other, length, tolerance, symbols)
    exact = one.exact and other.exact
    slack = tolerance if exact else tolerance + ROUNDING
    largest, worst, witness, compared = -1.0, (), None, 0
    answers, others = _answering(one, exact), _answering(other, exact)
    for n in range(1, length + 1):
        for words in representatives(chosen, *_resolution(one, other, n), n, 2048):
            differences = np.abs(answers(words) - others(words)).max(axis=1)
            place = int(np.argmax(differences))
            compared += len(words)
            if differences[place] > largest:
                largest, worst = float(differences[place]), one.spelled(words[place])
            if witness is None and np.any(differences > slack):
                witness = one.spelled(words[int(np.argmax(differences > slack))])
    names = tuple(one.symbols[symbol] for symbol in chosen)
    missing = tuple(symbol for symbol in one.symbols if symbol not in names)
    total = sum(len(chosen) ** n for n in range(1, length + 1))
    needed = _theorem(one, other, max(tolerance, ROUNDING))
    return WordComparison(length, names, missing, total, compared, tolerance, exact, largest, worst, witness, needed)


def differing_on(model: LimitTransformer, symbol: str) -> LimitTransformer:
    """A transformer equal to this one on all words without the symbol, of any length: its embedding is negated. So no
    training length suffices when short words lack a symbol."""
    if symbol not in model.symbols:
        raise UsageError(f"the symbols are {' '.join(model.symbols)}; {symbol!r} is none of them")
    embeddings = model.embeddings.copy()
    row = model.symbols.index(symbol)
    embeddings[row] = [-entry for entry in embeddings[row]]
    return replace(model, embeddings=embeddings)


def lipschitz_constant(model: LimitTransformer) -> float:
    """How strongly the answer of one layer depends on the frequencies that its heads average:

        L = ‖U‖ (1 + m ‖A‖ ‖B‖) · sum over heads of ‖V‖ · (max ‖E_s‖ + max ‖p_i‖)

    with m the Lipschitz constant of the activation, in the Euclidean norm of the answer; infinite with the activation
    "step". If x and z end in the same symbol at the same phase, and the weights with which each head sees each (symbol,
    phase) differ by at most d in total, the answers differ by at most L d (proof in docs/limit.md).
    """
    if len(model.layers) != 1:
        raise UsageError("the constant L is defined for one layer; that of two layers is known up to a polynomial")
    layer = model.layers[0]
    width = _longest(model.embeddings) + _longest(model.positions)
    heads = sum(_norm(head.value) for head in layer.heads)
    if layer.mlp is None:
        return _norm(model.readout) * heads * width
    if layer.mlp.activation == "step":
        return math.inf
    return _norm(model.readout) * (1 + _norm(layer.mlp.inner) * _norm(layer.mlp.outer)) * heads * width


def class_count(symbols: int, period: int, locality: int, length: int) -> int:
    """How many classes of words of this length there are."""
    end, totals = _shape(period, locality, length)
    return symbols**end * math.prod(math.comb(total + symbols - 1, symbols - 1) for total in totals)


def representatives(symbols: Sequence[int], period: int, locality: int, length: int, batch: int) -> Iterator[Ints]:
    """A word of each class over these symbols, some `batch` at a time, [words, length]."""
    end, totals = _shape(period, locality, length)
    choices = [list(compositions(total, len(symbols))) for total in totals]
    names = np.asarray(symbols, dtype=np.int64)
    every = itertools.product(itertools.product(symbols, repeat=end), *choices)
    while some := list(itertools.islice(every, batch)):
        words = np.empty((len(some), length), dtype=np.int64)
        words[:, length - end :] = [tail for tail, *_ in some]
        for phase, total in enumerate(totals):
            upto = np.array([counts[phase] for _, *counts in some]).cumsum(axis=1)
            rank = (np.arange(total)[None, :, None] >= upto[:, None, :]).sum(axis=2)
            words[:, phase : length - end : period] = names[rank]
        yield words


def _shape(period: int, locality: int, length: int) -> tuple[int, list[int]]:
    """How many last symbols are kept in order, and how many places of each phase come before them."""
    end = min(locality + 1, length)
    return end, [len(range(phase, length - end, period)) for phase in range(period)]


Kind = tuple[int, int, int | None]  # symbol, phase, distance; None for beyond the locality


class ExactLayer:
    """The answers of an exact limit transformer of one layer: each kind of key (symbol, phase, distance if near) is
    computed once and then counted, as fractions are slow position by position."""

    def __init__(self, model: LimitTransformer) -> None:
        self.model = model
        self.locality = model.locality
        self._logit = functools.cache(self._new_logit)
        self._value = functools.cache(self._new_value)

    def answers(self, words: Ints) -> Array:
        """[words, outputs], the same as the definition gives."""
        rows = [self._answer(word) for word in words.tolist()]
        packed = np.empty((len(rows), len(self.model.readout)), dtype=object)
        for index, row in enumerate(rows):
            packed[index] = list(row)
        return packed

    def _answer(self, word: list[int]) -> Array:
        model, length = self.model, len(word)
        kinds: Counter[Kind] = Counter()
        for place, symbol in enumerate(word):
            distance = length - 1 - place
            kinds[symbol, place % model.period, distance if distance <= self.locality else None] += 1
        query = word[-1], (length - 1) % model.period
        state = model.embeddings[query[0]] + model.positions[query[1]]
        for index in range(len(model.layers[0].heads)):
            state = state + self._mean(index, query, kinds, length)
        mlp = model.layers[0].mlp
        state = state if mlp is None else state + mlp.outer @ mlp.activated(state)
        return model.readout @ state

    def _mean(self, head: int, query: tuple[int, int], kinds: Counter[Kind], length: int) -> Array:
        """What a head adds: the mean of the values of all keys under its weights."""
        logits = {kind: self._logit(head, query, kind) for kind in kinds}
        top = max(logits.values())
        total: Number = Fraction(0)
        mean: Array | None = None
        for kind, count in kinds.items():
            weight = exact_weight(top - logits[kind], self.model.mode, self.model.bits, length)
            if weight:
                total += count * weight
                part = self._value(head, kind[0], kind[1]) * (count * weight)
                mean = part if mean is None else mean + part
        assert mean is not None  # the key with the largest logit has weight 1
        return mean / total

    def _new_logit(self, head: int, query: tuple[int, int], kind: Kind) -> Fraction:
        model, part = self.model, self.model.layers[0].heads[head]
        symbol, phase, distance = kind
        asked = part.match @ (model.embeddings[query[0]] + model.positions[query[1]])
        near = distance is not None and distance < len(part.local)
        return (model.embeddings[symbol] + model.positions[phase]) @ asked + (part.local[distance] if near else 0)

    def _new_value(self, head: int, symbol: int, phase: int) -> Array:
        model = self.model
        return model.layers[0].heads[head].value @ (model.embeddings[symbol] + model.positions[phase])


def _norm(matrix: Array) -> float:
    return float(np.linalg.norm(as_floats(matrix), ord=2))


def _longest(rows: Array) -> float:
    return float(np.linalg.norm(as_floats(rows), axis=1).max())


MOST = 400_000  # words compared
ROUNDING = 1e-9  # two floating answers this close are called equal


def _answering(model: LimitTransformer, exact: bool) -> Callable[[Ints], Array]:
    if exact:
        return ExactLayer(model).answers if len(model.layers) == 1 else model.answers
    return model.in_floats().answers


def _resolution(one: LimitTransformer, other: LimitTransformer, length: int) -> tuple[int, int]:
    """The period and locality that distinguish what either does; for two layers, whole words."""
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


def _theorem(one: LimitTransformer, other: LimitTransformer, error: float) -> float | None:
    """What Theorem 4.1 would ask for, where it applies: one layer each at finite precision."""
    if max(len(one.layers), len(other.layers)) > 1 or "infinite" in (one.mode, other.mode):
        return None
    norms = max(lipschitz_constant(one), lipschitz_constant(other))
    if not 0 < norms < math.inf or error >= 1:
        return None
    margins = [m for m in (hardmax_length(f).margin.value for f in (one, other)) if m is not None]
    return theorem_4_1(
        lipschitz=norms,
        period=math.lcm(one.period, other.period),
        alphabet=len(one.symbols),
        locality=max(one.locality, other.locality),
        error=error,
        bits=max(one.bits, other.bits),
        margin=float(min(margins)) if margins else None,
    )
