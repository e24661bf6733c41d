"""The logit margin: the smallest positive difference of two logits that a query can meet.

A query is a symbol at a phase. What it can meet: itself at distance 0; any symbol at each distance up to the locality,
whose phase is then fixed; any symbol at any phase beyond it. The margin gamma is taken over all of these, not over
sampled words, which could only make it too large. Ties do not count.

`gap_of_words` is the sharper number that decides when attention is hard: of two *different* places of one word, one
with the largest logit of the word and one below it, the smallest difference. It is never below gamma.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from lengthwise.errors import UsageError
from lengthwise.oracle.limit.numbers import TIE, Number, written
from lengthwise.oracle.limit.parts import Head
from lengthwise.oracle.limit.transformer import LimitTransformer
from lengthwise.records import Assumption, Claim, Reference

IZZO = "izzo2026"
SECONDARY = Assumption("the statement is quoted as secondary sources report it; the paper itself was not read")


@dataclass(frozen=True)
class Key:
    """What a query can meet: a symbol at a phase, at this distance; `distance` None stands for beyond the locality."""

    symbol: str
    phase: int
    distance: int | None
    logit: Number

    def __str__(self) -> str:
        where = "far away" if self.distance is None else "itself" if not self.distance else f"{self.distance} before"
        return f"{self.symbol} at phase {self.phase} ({where}): logit {self.logit}"


@dataclass(frozen=True)
class Margin:
    """gamma and where it is attained; None when no query ever meets two different logits (attention is always hard)."""

    value: Number | None
    exact: bool
    head: int = 0
    query: str = ""
    keys: tuple[Key, ...] = ()

    def claim(self) -> Claim:
        rule = "exact rational arithmetic" if self.exact else f"logits within {TIE:g} of each other are called equal"
        return Claim(
            "logit margin",
            None if self.value is None else float(self.value),
            "",
            "certified" if self.exact else "measured",
            "vacuous" if self.value is None else "holds",
            assumptions=(Assumption(rule, "checked"), Assumption("taken over all attainable logits", "checked")),
            reference=Reference(IZZO, "logit margin"),
            evidence={"head": self.head, "query": self.query, "keys": [str(key) for key in self.keys]},
        )

    def explain(self) -> list[str]:
        if self.value is None:
            return ["every query meets keys of one logit only: attention is uniform, and hard at every length"]
        high, low = self.keys
        return [f"head {self.head + 1}, query {self.query}: {high} against {low}; the margin is {self.value}"]

    def plain(self) -> dict[str, Any]:
        value = None if self.value is None else written(self.value)
        keys = [str(key) for key in self.keys]
        return {"margin": value, "exact": self.exact, "head": self.head, "query": self.query, "keys": keys}


def logit_margin(model: LimitTransformer) -> Margin:
    """gamma of a one-layer limit transformer. O(heads · (symbols · period)² · (locality + period))."""
    model = _one_layer(model)
    best = Margin(None, model.exact_logits)
    for index, head in enumerate(model.layers[0].heads):
        for symbol in range(len(model.symbols)):
            for phase in range(model.period):
                keys = sorted(attainable(model, head, symbol, phase), key=lambda key: key.logit)
                for low, high in itertools.pairwise(keys):
                    gap = high.logit - low.logit
                    if gap > (0 if model.exact_logits else TIE) and (best.value is None or gap < best.value):
                        query = f"{model.symbols[symbol]} at phase {phase}"
                        best = Margin(gap, model.exact_logits, index, query, (high, low))
    return best


def attainable(model: LimitTransformer, head: Head, symbol: int, phase: int) -> Iterator[Key]:
    """Every key that the query can meet in some word."""
    logits = _Logits(model, head, symbol, phase)
    for distance in range(model.locality + 1):
        yield from logits.keys((phase - distance) % model.period, distance)
    for other in range(model.period):
        yield from logits.keys(other, None)


def gap_of_words(model: LimitTransformer, head: Head, length: int) -> Number | None:
    """Over all words of this length: the smallest positive difference between the largest logit and another one.

    Places choose their symbols freely, so with m the largest over places of their smallest logit, a is the largest
    logit of some word exactly when a >= m; another place can then hold any of its logits below a. Far places of one
    phase are alike, so two of each phase stand for all.
    """
    best: Number | None = None
    phase = (length - 1) % model.period
    for symbol in range(len(model.symbols)):
        places = [[key.logit for key in place] for place in _places(model, head, symbol, phase, length)]
        least_top = max(min(place) for place in places)
        for one, tops in enumerate(places):
            for top in {top for top in tops if top >= least_top}:
                for other, lower in enumerate(places):
                    gaps = [top - low for low in lower if top - low > (0 if model.exact_logits else TIE)]
                    if other != one and gaps and (best is None or min(gaps) < best):
                        best = min(gaps)
    return best


def settled_length(model: LimitTransformer) -> int:
    """From this length on, `gap_of_words` depends on the phase of the last place alone."""
    return model.locality + 1 + 2 * model.period


def _places(model: LimitTransformer, head: Head, symbol: int, phase: int, length: int) -> Iterator[list[Key]]:
    logits = _Logits(model, head, symbol, phase)
    for distance in range(min(model.locality + 1, length)):
        yield list(logits.keys((phase - distance) % model.period, distance))
    for distance in range(model.locality + 1, min(length, settled_length(model))):
        yield list(logits.keys((phase - distance) % model.period, None))


class _Logits:
    """The logits of all keys for one query."""

    def __init__(self, model: LimitTransformer, head: Head, symbol: int, phase: int) -> None:
        self.model, self.head, self.symbol = model, head, symbol
        self.asked = head.match @ (model.embeddings[symbol] + model.positions[phase])

    def keys(self, phase: int, distance: int | None) -> Iterator[Key]:
        model = self.model
        near = distance is not None and distance < len(self.head.local)
        local = self.head.local[distance] if near else Fraction(0)
        for symbol in [self.symbol] if distance == 0 else range(len(model.symbols)):
            logit = (model.embeddings[symbol] + model.positions[phase]) @ self.asked + local
            yield Key(model.symbols[symbol], phase, distance, logit if model.exact_logits else float(logit))


def _one_layer(model: LimitTransformer) -> LimitTransformer:
    if len(model.layers) != 1:
        raise UsageError("the logit margin is defined for one layer; of two layers, ask for the positional margin")
    if model.mode == "infinite":
        raise UsageError("the logit margin belongs to finite precision; in mode infinite ask for the positional margin")
    return model
