"""Exact answers of one layer on many words: each kind of key is computed once and then counted.

`LimitTransformer.answers` follows the definition place by place, in which fractions are slow. Here a word becomes the
numbers of its keys of each kind (symbol, phase, distance if near); logits and values of kinds are kept.
"""

from __future__ import annotations

import functools
from collections import Counter
from fractions import Fraction

import numpy as np

from lengthwise.oracle.limit.attention import exact_weight
from lengthwise.oracle.limit.numbers import Array, Number
from lengthwise.oracle.limit.parts import activated
from lengthwise.oracle.limit.transformer import LimitTransformer
from lengthwise.seeds import Ints

Kind = tuple[int, int, int | None]  # symbol, phase, distance; None for beyond the locality


class ExactLayer:
    """The answers of an exact limit transformer of one layer."""

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
        state = state if mlp is None else state + mlp.outer @ activated(mlp, state)
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
