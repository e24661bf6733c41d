"""Words that stand for all words of a length: one for each thing that a limit transformer of one layer can tell apart.

One layer sees the last locality + 1 symbols in order, and before them how often each symbol stands at each phase, since
the logit and the value of a key there depend on its symbol and its phase alone. So there are polynomially many classes.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence

import numpy as np

from lengthwise.oracle.limit.counts import compositions
from lengthwise.seeds import Ints


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
