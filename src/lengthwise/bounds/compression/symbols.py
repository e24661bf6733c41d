"""The entropy coder: streams of symbols on one asymmetric numeral system (`constriction`, Duda 2009), and its tables.

A code is made from whole-number frequencies f_1 … f_K >= 1 that sum up to 2^24, so encoder and decoder build the same
code on any machine. `constriction` takes floating-point weights, rounds them down to a multiple of 2^-24 and gives
every symbol one unit more; with the weights f_i - 1, whose sum 2^24 - K needs no rescaling, all its numbers are whole
numbers below 2^24 and thus exact.

Symbols are coded with a table that was sent, or with the counts of the symbols before them. The second needs no table:
the symbols are cut into blocks that grow by a quarter, and each block is coded with the counts of all blocks before it
(half a count extra for every symbol, Krichevsky & Trofimov 1981), which the decoder knows by then.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import constriction
import numpy as np
from numpy.typing import NDArray

from lengthwise.bounds.compression.bit_strings import DAMAGED
from lengthwise.errors import UsageError
from lengthwise.seeds import Floats, Ints

_model = constriction.stream.model  # pyright: ignore[reportAttributeAccessIssue]  # a compiled module
PRECISION = 24
TOTAL = 1 << PRECISION
TABLE_WIDTHS = (6, 8, 10, 12, 14, 16, 18, 20)  # bits of a frequency that is sent; three bits say which
_MOST_WEIGHT = 1 << 37  # times 2^24 this still fits 64 bits


def spread(weights: Ints, total: int = TOTAL) -> Ints:
    """Frequencies of at least 1 that sum up to `total`, as near to proportional to the weights as rounding down allows.

    f_i >= w_i (total - K) / sum(w) for every i, which is what the stated overhead rests on; what rounding leaves over
    goes to the first of the largest weights.
    """
    free, whole = total - len(weights), int(weights.sum())
    if free < 0:
        raise ValueError(f"{len(weights)} symbols do not fit into {total} parts")
    if whole >= _MOST_WEIGHT:
        raise ValueError("there are too many symbols for 64-bit arithmetic")
    frequencies = 1 + (weights * free) // max(whole, 1)
    frequencies[int(np.argmax(weights))] += total - int(frequencies.sum())
    return frequencies


def model_of(frequencies: Ints) -> Any:
    """The entropy model in which symbol i has the probability f_i / 2^24 exactly; it needs two symbols or more."""
    return _model.Categorical((frequencies - 1).astype(np.float64), perfect=False)


def code_bits(counts: Ints, frequencies: Ints) -> float:
    """The bits that symbols with these counts take under a code with these frequencies."""
    return float(counts @ (np.log2(frequencies.sum()) - np.log2(frequencies)))


def entropy_bits(counts: Ints) -> float:
    """n times the empirical entropy of symbols with these counts."""
    used: Floats = counts[counts > 0].astype(np.float64)
    return float(used @ (np.log2(used.sum()) - np.log2(used))) if used.size else 0.0


def best_table(counts: Ints) -> tuple[float, int, Ints]:
    """Bits for table and symbols together, width and frequencies (of sum 2^width) of the table that takes least."""
    choices = []
    for width in TABLE_WIDTHS:
        if 1 << width > len(counts):
            frequencies = spread(counts, 1 << width)
            choices.append((width * (len(counts) - 1) + code_bits(counts, frequencies), width, frequencies))
    return min(choices, key=lambda choice: choice[0])


_stack = constriction.stream.stack  # pyright: ignore[reportAttributeAccessIssue]  # a compiled module
FIRST_BLOCK = 8
PRIOR = 4096  # how many symbols of earlier tensors count at most


class SymbolWriter:
    """Collects symbols and codes them at the end, last ones first: the coder is a stack."""

    def __init__(self) -> None:
        self._coded: list[tuple[NDArray[np.generic], Ints]] = []

    def write(self, symbols: NDArray[np.integer], frequencies: Ints) -> None:
        """Symbols under fixed frequencies (of sum 2^24)."""
        if len(frequencies) > 1 and len(symbols):
            self._coded.append((symbols.astype(np.min_scalar_type(len(frequencies) - 1)), frequencies))

    def write_adaptive(self, symbols: NDArray[np.integer], counts: Ints) -> None:
        """Symbols under what came before them; `counts` [K] is what is known at the start, and is left as it is."""
        counts = counts.copy()
        for block in _blocks(len(symbols)):
            self.write(symbols[block], spread(2 * counts + 1))
            counts += np.bincount(symbols[block], minlength=len(counts))

    def to_bytes(self) -> bytes:
        coder = _stack.AnsCoder()
        for symbols, frequencies in reversed(self._coded):
            coder.encode_reverse(symbols.astype(np.int32), model_of(frequencies))
        return coder.get_compressed().astype("<u4").tobytes()


class SymbolReader:
    """Reads what a `SymbolWriter` wrote, in the same order and with the same frequencies."""

    def __init__(self, data: bytes) -> None:
        if len(data) % 4 or data.endswith(b"\0\0\0\0"):
            raise UsageError(f"{DAMAGED}: its symbols do not end as the coder ends them")
        self._coder = _stack.AnsCoder(np.frombuffer(data, "<u4").astype(np.uint32))

    def read(self, count: int, frequencies: Ints) -> NDArray[np.int32]:
        if len(frequencies) < 2 or not count:
            return np.zeros(count, np.int32)
        return self._coder.decode(model_of(frequencies), count)

    def read_adaptive(self, count: int, counts: Ints) -> NDArray[np.int32]:
        counts, symbols = counts.copy(), np.empty(count, np.int32)
        for block in _blocks(count):
            symbols[block] = self.read(block.stop - block.start, spread(2 * counts + 1))
            counts += np.bincount(symbols[block], minlength=len(counts))
        return symbols

    def finish(self) -> None:
        """Refuses symbols that nobody read."""
        if not self._coder.is_empty():
            raise UsageError(f"{DAMAGED}: more was coded than its tables say")


def adaptive_bits(symbols: NDArray[np.integer], counts: Ints) -> float:
    """What `write_adaptive` takes, but for the coder's own end."""
    counts, bits = counts.copy(), 0.0
    for block in _blocks(len(symbols)):
        inside = np.bincount(symbols[block], minlength=len(counts))
        bits += code_bits(inside, spread(2 * counts + 1))
        counts += inside
    return bits


def prior_counts(counts: Ints) -> Ints:
    """Counts of earlier tensors, made lighter so that a new tensor can soon speak for itself."""
    whole = int(counts.sum())
    return counts.copy() if whole <= PRIOR else counts * PRIOR // whole


def _blocks(count: int) -> Iterator[slice]:
    start = 0
    while start < count:
        stop = min(count, start + max(FIRST_BLOCK, start // 4))
        yield slice(start, stop)
        start = stop
