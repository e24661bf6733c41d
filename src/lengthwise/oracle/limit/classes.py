"""The classes of words that one layer cannot distinguish, and its answer to a class without a word being written out.

One layer sees the last locality + 1 symbols and, before them, how often each symbol stands at each phase
(docs/explanation/limit.md, statement 1). `class_words` gives one word of each class. `ClassAnswers` adds up counts
times values, in rational numbers where the transformer has them: a class of words of 40 symbols costs as much as one of
400.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.oracle.limit.transformer import LimitTransformer, exact_weight

Word = tuple[int, ...]


def class_count(symbols: int, period: int, locality: int, length: int) -> int:
    """How many classes the words of a length have."""
    before = max(0, length - locality - 1)
    places = [len(range(phase, before, period)) for phase in range(period)]
    return symbols ** (length - before) * math.prod(math.comb(many + symbols - 1, many) for many in places)


def class_words(symbols: int, period: int, locality: int, length: int) -> Iterator[Word]:
    """One word of each class: the symbols at each phase in order, then the end."""
    before = max(0, length - locality - 1)
    places = [range(phase, before, period) for phase in range(period)]
    kinds = [itertools.combinations_with_replacement(range(symbols), len(own)) for own in places]
    ends = itertools.product(range(symbols), repeat=length - before)
    for *chosen, end in itertools.product(*map(list, kinds), list(ends)):
        word = [0] * before
        for own, letters in zip(places, chosen, strict=True):
            word[own.start : before : period] = letters
        yield (*word, *end)


class ClassAnswers:
    """The exact answers of a one-layer transformer in the mode "hardmax" or "finite", word by word.

    What a key adds to the answer goes through U and through the MLP's A, so both are applied to the values of each
    symbol at each phase once; a word is then a sum of counts times these.
    """

    def __init__(self, model: LimitTransformer) -> None:
        if len(model.layers) != 1 or not model.exact:
            raise UsageError("answers are added up in rational numbers for one layer whose numbers are rational")
        layer = model.layers[0]
        self.model, self.mlp = model, layer.mlp
        rows = model.readout if layer.mlp is None else np.concatenate([model.readout, layer.mlp.inner])
        states = model.positions[:, None] + model.embeddings[None]  # [period, symbols, width]
        self.own = states @ rows.T
        self.heads = [(head, states @ head.value.T @ rows.T) for head in layer.heads]
        self.states, self.logits = states, {}

    def answer(self, word: Word) -> tuple[Any, ...]:
        """The answer, a number for each row of the readout."""
        model, length = self.model, len(word)
        phase, last, period = (length - 1) % model.period, word[-1], model.period
        before = max(0, length - model.locality - 1)
        far = Counter((place % period, word[place]) for place in range(before))
        found = list(self.own[phase, last])
        for number, (head, values) in enumerate(self.heads):
            table = self._logits(number, phase, last)
            keys = [(kind, table[kind], many) for kind, many in far.items()]
            for place in range(before, length):
                kind, distance = (place % period, word[place]), length - 1 - place
                keys.append((kind, table[kind] + (head.local[distance] if distance < len(head.local) else 0), 1))
            top = max(logit for _, logit, _ in keys)
            spent: Counter[tuple[int, int]] = Counter()
            for kind, logit, many in keys:
                spent[kind] += many * exact_weight(top - logit, model.mode, model.bits, length)  # pyright: ignore
            total = sum(spent.values())
            for kind, weight in spent.items():
                if weight:
                    found = [old + new * weight / total for old, new in zip(found, values[kind], strict=True)]
        return self._read(found)

    def _logits(self, head: int, phase: int, last: int) -> Any:
        """The logits of every symbol at every phase, without the positional term, for a query."""
        if (head, phase, last) not in self.logits:
            asked = self.heads[head][0].match @ self.states[phase, last]
            self.logits[head, phase, last] = self.states @ asked
        return self.logits[head, phase, last]

    def _read(self, found: list[Any]) -> tuple[Any, ...]:
        outputs = len(self.model.readout)
        if self.mlp is None:
            return tuple(found)
        inner = np.array(found[outputs:], dtype=object) + self.mlp.offset
        if self.mlp.activation == "relu":
            inner = np.array([max(one, 0) for one in inner], dtype=object)
        elif self.mlp.activation == "step":
            inner = np.array([int(one > 0) for one in inner], dtype=object)
        return tuple(np.array(found[:outputs], dtype=object) + self.model.readout @ (self.mlp.outer @ inner))
