"""Numbers and symbols as bits.

Numbers are written in Elias's delta code (Elias 1975), n >= 1 in about log2 n + 2 log2 log2 n bits; no code word is the
beginning of another, so nothing has to say how long it is. Lengths of byte strings are whole bytes, seven bits of the
number in each and the eighth saying whether another follows; that is prefix-free too.

Symbols go through an entropy coder, one asymmetric numeral system (`constriction`, Duda 2009). A code is made from
whole-number frequencies f_1 … f_K >= 1 that sum up to 2^24, so encoder and decoder build the same code on any machine.
`constriction` takes floating-point weights, rounds them down to a multiple of 2^-24 and gives every symbol one unit
more; with the weights f_i - 1, whose sum 2^24 - K needs no rescaling, all its numbers are whole numbers below 2^24 and
thus exact. Symbols are coded with a table that was sent, or with the counts of the symbols before them. The second
needs no table: the symbols are cut into blocks that grow by a quarter, and each block is coded with the counts of all
blocks before it (half a count extra for every symbol, Krichevsky & Trofimov 1981), which the decoder knows by then.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Any

import constriction
import numpy as np
from numpy.typing import NDArray

from lengthwise.errors import UsageError
from lengthwise.seeds import Floats, Ints

_model = constriction.stream.model  # pyright: ignore[reportAttributeAccessIssue]  # a compiled module
_stack = constriction.stream.stack  # pyright: ignore[reportAttributeAccessIssue]
DAMAGED = "this is not the message of a model, or it is damaged"
PRECISION = 24
TOTAL = 1 << PRECISION
TABLE_WIDTHS = (6, 8, 10, 12, 14, 16, 18, 20)  # bits of a frequency that is sent; three bits say which
FIRST_BLOCK = 8
PRIOR = 4096  # how many symbols of earlier tensors count at most
_MOST_WEIGHT = 1 << 37  # times 2^24 this still fits 64 bits


class BitWriter:
    """Bits in the order they are written, first bit first."""

    def __init__(self) -> None:
        self._pieces: list[str] = []

    def write(self, value: int, width: int) -> None:
        """A number below 2^width in exactly `width` bits."""
        if not 0 <= value < 1 << width:
            raise ValueError(f"{value} does not fit {width} bits")
        if width:
            self._pieces.append(f"{value:0{width}b}")

    def write_count(self, value: int) -> None:
        """A whole number of 0 or more in Elias's delta code."""
        self._pieces.append(delta_code(value + 1))

    def write_signed(self, value: int) -> None:
        """A whole number of either sign: 0, -1, 1, -2, … are counted up."""
        self.write_count(2 * value if value >= 0 else -2 * value - 1)

    def to_bytes(self) -> bytes:
        """The bits, filled up with zeros to whole bytes."""
        text = "".join(self._pieces)
        size = -(-len(text) // 8)
        return int(text.ljust(8 * size, "0") or "0", 2).to_bytes(size, "big")


class BitReader:
    """Reads what a `BitWriter` wrote."""

    def __init__(self, data: bytes) -> None:
        self._text = f"{int.from_bytes(data, 'big'):0{8 * len(data)}b}" if data else ""
        self._at = 0

    def read(self, width: int) -> int:
        piece = self._text[self._at : self._at + width]
        if len(piece) < width:
            raise UsageError(f"{DAMAGED}: it ends too early")
        self._at += width
        return int(piece, 2) if width else 0

    def read_count(self) -> int:
        one = self._text.find("1", self._at, self._at + 8)
        if one < 0:
            raise UsageError(f"{DAMAGED}: a number in it has no end")
        zeros, self._at = one - self._at, one + 1
        length = (1 << zeros | self.read(zeros)) - 1
        if length > 64:
            raise UsageError(f"{DAMAGED}: it holds a number beyond 2^64")
        return (1 << length | self.read(length)) - 1

    def read_signed(self) -> int:
        value = self.read_count()
        return value // 2 if value % 2 == 0 else -(value + 1) // 2

    def finish(self) -> None:
        """Refuses bits that nobody read; at most seven zeros may be left."""
        rest = self._text[self._at :]
        if len(rest) > 7 or "1" in rest:
            raise UsageError(f"{DAMAGED}: its tables hold more than they say")


def delta_code(value: int) -> str:
    """Elias's delta code of a whole number of 1 or more."""
    digits = f"{value:b}"
    length = f"{len(digits):b}"
    return "0" * (len(length) - 1) + length + digits[1:]


def length_prefix(length: int) -> bytes:
    """A length of 0 or more as bytes that say where they end: seven bits per byte, lowest first."""
    pieces = bytearray()
    while length >= 128:
        pieces.append(length & 127 | 128)
        length >>= 7
    pieces.append(length)
    return bytes(pieces)


def read_prefix(data: bytes, at: int = 0) -> tuple[int, int]:
    """A length that starts at byte `at`, and where what follows it starts."""
    length = 0
    for place in range(at, min(at + 9, len(data))):
        length |= (data[place] & 127) << 7 * (place - at)
        if data[place] < 128:
            return length, place + 1
    raise UsageError(f"{DAMAGED}: a length in it has no end")


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
        for block, frequencies in _learning(symbols, counts):
            self.write(block, frequencies)

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
        symbols = np.empty(count, np.int32)
        for block, frequencies in _learning(symbols, counts):
            block[:] = self.read(len(block), frequencies)
        return symbols

    def finish(self) -> None:
        """Refuses symbols that nobody read."""
        if not self._coder.is_empty():
            raise UsageError(f"{DAMAGED}: more was coded than its tables say")


def _learning(symbols: NDArray[Any], counts: Ints) -> Iterator[tuple[NDArray[Any], Ints]]:
    """The blocks of the symbols with the frequencies known before each; a reader fills a block before the next."""
    counts, start = counts.copy(), 0
    while start < len(symbols):
        block = symbols[start : start + max(FIRST_BLOCK, start // 4)]
        yield block, spread(2 * counts + 1)
        counts += np.bincount(block, minlength=len(counts))
        start += len(block)


def adaptive_bits(symbols: NDArray[np.integer], counts: Ints) -> float:
    """What `write_adaptive` takes, but for the coder's own end."""
    size = len(counts)
    return sum(code_bits(np.bincount(block, minlength=size), used) for block, used in _learning(symbols, counts))


class Pools:
    """How often each symbol occurred in earlier streams of a kind."""

    def __init__(self) -> None:
        self._counts: dict[Hashable, Ints] = {}

    def __contains__(self, kind: Hashable) -> bool:
        return kind in self._counts

    def prior(self, kind: Hashable, size: int) -> Ints:
        """The counts of earlier streams, made lighter so that a new one can soon speak for itself."""
        counts = self._counts.get(kind, np.zeros(size, np.int64))
        whole = int(counts.sum())
        return counts if whole <= PRIOR else counts * PRIOR // whole

    def learn(self, kind: Hashable, counts: Ints) -> None:
        self._counts[kind] = self._counts.get(kind, 0) + counts
