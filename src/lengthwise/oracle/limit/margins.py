"""When attention becomes hard: the margin of logits, and the length that follows from it.

A query is a symbol at a phase. It can meet itself at distance 0; any symbol at each distance up to the locality, whose
phase is then fixed; any symbol at any phase beyond it. The logit margin gamma is the smallest positive difference of
two logits over all of these, not over sampled words, which could only make it too large. `gap_of_words` is the sharper
number that decides when attention is hard: over all words of a length, the smallest difference between the largest
logit of a word and one of *another* position below it. It is never below gamma.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from lengthwise.errors import UsageError
from lengthwise.oracle.limit.transformer import TIE, LimitHead, LimitTransformer, Number


@dataclass(frozen=True)
class Key:
    """What a query can meet: a symbol at a phase, at this distance; `distance` None stands for beyond the locality."""

    symbol: str
    phase: int
    distance: int | None
    logit: Number


@dataclass(frozen=True)
class Margin:
    """gamma, and the query (symbol and phase) and keys of the head that attain it; None when no query ever meets two
    different logits, so that attention is always hard."""

    value: Number | None
    head: int = 0
    query: tuple[str, int] | None = None
    keys: tuple[Key, ...] = ()


@dataclass(frozen=True)
class HardmaxLength:
    """`predicted` is the smallest n with n^gamma >= 2^bits. `observed` is the smallest n such that all words of that
    length and of every greater one have hard attention at their last position. None: beyond 4,000 digits."""

    margin: Margin
    predicted: int | None
    observed: int | None


def logit_margin(model: LimitTransformer) -> Margin:
    """gamma of a one-layer limit transformer. O(heads · (symbols · period)² · (locality + period))."""
    if len(model.layers) != 1 or model.mode == "infinite":
        raise UsageError("the logit margin is defined for one layer at finite precision")
    best = Margin(None)
    for index, head in enumerate(model.layers[0].heads):
        for symbol, phase in itertools.product(range(len(model.symbols)), range(model.period)):
            near = [((phase - distance) % model.period, distance) for distance in range(model.locality + 1)]
            places = [*near, *((other, None) for other in range(model.period))]
            found = (key for place in places for key in _keys(model, head, (symbol, phase), *place))
            keys = sorted(found, key=lambda key: key.logit)
            for low, high in itertools.pairwise(keys):
                gap = high.logit - low.logit
                if gap > _slack(model) and (best.value is None or gap < best.value):
                    best = Margin(gap, index, (model.symbols[symbol], phase), (high, low))
    return best


def hardmax_length(model: LimitTransformer) -> HardmaxLength:
    """From which length on attention is hard, by the margin and in fact (exact over all words, without listing)."""
    margin = logit_margin(model)
    predicted = 1 if margin.value is None else smallest_length(margin.value, model.bits)
    return HardmaxLength(margin, predicted, _observed(model))


def gap_of_words(model: LimitTransformer, head: LimitHead, length: int) -> Number | None:
    """Over all words of this length: the smallest positive difference between the largest logit and another one.

    Positions choose their symbols freely, so with m the largest over positions of their smallest logit, a is the
    largest logit of some word exactly when a >= m; another position can then have any of its logits below a. Distant
    positions of one phase are alike, so two of each phase stand for all.
    """
    best: Number | None = None
    phase = (length - 1) % model.period
    for symbol in range(len(model.symbols)):
        places = [[key.logit for key in place] for place in _places(model, head, symbol, phase, length)]
        least_top = max(min(place) for place in places)
        for one, tops in enumerate(places):
            for top in {top for top in tops if top >= least_top}:
                for other, lower in enumerate(places):
                    gaps = [top - low for low in lower if top - low > _slack(model)]
                    if other != one and gaps and (best is None or min(gaps) < best):
                        best = min(gaps)
    return best


def smallest_length(gap: Number, bits: int) -> int | None:
    """The smallest n with n^gap >= 2^bits, by whole numbers where the gap is rational; None beyond 4,000 digits."""
    if bits / float(gap) > 13_000:
        return None
    if not isinstance(gap, Fraction):
        return math.ceil(2.0 ** (bits / gap) * (1 - 1e-12)) if bits / gap < 1000 else None  # the range of a float
    low, high = 1, 2 ** (math.ceil(bits / gap))
    enough = 2 ** (bits * gap.denominator)
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if middle**gap.numerator >= enough else (middle + 1, high)
    return low


def _observed(model: LimitTransformer) -> int | None:
    """One more than the longest length at which some word is not hard. Beyond the settled length the gap depends on the
    phase alone, so the longest soft length of each phase is found from the smallest n with n^gap >= 2^bits; the few
    lengths before it are examined one by one."""
    longest = 0
    settled = _settled_length(model)
    for head in model.layers[0].heads:
        for length in range(1, settled + model.period):
            gap = gap_of_words(model, head, length)
            if gap is None:
                continue
            hard = smallest_length(gap, model.bits)
            if hard is None:
                return None
            if length < settled:
                longest = max(longest, length) if length < hard else longest
            elif hard > length:  # the longest length below `hard` in the phase of `length`
                longest = max(longest, length + (hard - 1 - length) // model.period * model.period)
    return longest + 1


def _settled_length(model: LimitTransformer) -> int:
    """From this length on, `gap_of_words` depends on the phase of the last position alone."""
    return model.locality + 1 + 2 * model.period


def _slack(model: LimitTransformer) -> float:
    return 0 if model.exact_logits else TIE


def _places(model: LimitTransformer, head: LimitHead, symbol: int, phase: int, length: int) -> Iterator[list[Key]]:
    for distance in range(min(length, _settled_length(model))):
        near = distance if distance <= model.locality else None
        yield list(_keys(model, head, (symbol, phase), (phase - distance) % model.period, near))


def _keys(
    model: LimitTransformer, head: LimitHead, query: tuple[int, int], phase: int, distance: int | None
) -> Iterator[Key]:
    """The keys of a phase and distance, with their logits for a query."""
    asked = head.match @ (model.embeddings[query[0]] + model.positions[query[1]])
    near = distance is not None and distance < len(head.local)
    local = head.local[distance] if near else Fraction(0)
    for symbol in [query[0]] if distance == 0 else range(len(model.symbols)):
        logit = (model.embeddings[symbol] + model.positions[phase]) @ asked + local
        yield Key(model.symbols[symbol], phase, distance, logit if model.exact_logits else float(logit))
