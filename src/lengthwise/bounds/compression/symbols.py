"""The entropy coder: streams of symbols on one asymmetric numeral system (`constriction`, Duda 2009).

Symbols are coded with a table that was sent, or with what the symbols before them were like. The second needs no
table: the symbols are cut into blocks that grow by a quarter, and each block is coded with the counts of all blocks
before it (half a count extra for every symbol, Krichevsky & Trofimov 1981). The decoder has the same counts when it
gets there. Everything is whole numbers, so both build the same code.
"""

from __future__ import annotations

from collections.abc import Iterator

import constriction
import numpy as np
from numpy.typing import NDArray

from lengthwise.bounds.compression.bit_strings import DAMAGED
from lengthwise.bounds.compression.tables import code_bits, model_of, spread
from lengthwise.errors import UsageError
from lengthwise.seeds import Ints

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
