"""The ways to write one tensor. The writer takes the shortest and says which it took; that costs its bits too.

half      16-bit floats as they are: for tensors so small that levels and their frequencies would cost more
single    32-bit floats as they are
planes    32-bit floats, the first bytes of all numbers coded together, then the second bytes, and so on
levels    a codebook and coded indices; the codebook is a grid, 16- or 32-bit levels, or the shared one times a scale

The indices are coded with a table that is sent, learning from nothing, or learning from what earlier tensors of as
many levels were like.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from lengthwise.bounds.compression.bit_strings import DAMAGED, BitReader, BitWriter
from lengthwise.bounds.compression.quantisers import MOST_LEVELS, Codebook, Grid, Quantised, Singles
from lengthwise.bounds.compression.symbols import (
    PRECISION,
    TABLE_WIDTHS,
    SymbolReader,
    SymbolWriter,
    adaptive_bits,
    best_table,
    entropy_bits,
    prior_counts,
)
from lengthwise.errors import UsageError
from lengthwise.seeds import Ints

HALF, SINGLE, PLANES, LEVELS = range(4)
GRID, HALVES, SINGLES, SHARED = range(4)
TABLE, FRESH, CONTINUED = range(3)
BYTES = 256


class TensorWriter:
    """Writes tensors one after another into three strings: tables (bits), numbers as they are (bytes), and symbols."""

    def __init__(self, shared: Codebook | None = None) -> None:
        self.tables, self.exact, self.symbols = BitWriter(), bytearray(), SymbolWriter()
        self.entropy = 0.0
        self._pools: dict[int, Ints] = {}
        self._shared = shared
        self.tables.write(shared is not None, 1)
        if shared is not None:
            _write_book(self.tables, shared.levels, shared.grid)

    def keep(self, numbers: Singles) -> Singles:
        """The numbers bit for bit."""
        planes = np.ascontiguousarray(numbers.ravel().astype("<f4")).view(np.uint8).reshape(-1, 4)
        counts = [np.bincount(plane, minlength=BYTES) for plane in planes.T]
        coded = math.fsum(adaptive_bits(plane, np.zeros(BYTES, np.int64)) for plane in planes.T)
        if coded >= 32 * numbers.size:
            self.tables.write(SINGLE, 2)
            self.exact += planes.tobytes()
            return numbers
        self.tables.write(PLANES, 2)
        self.entropy += math.fsum(map(entropy_bits, counts))
        for plane in planes.T:
            self.symbols.write_adaptive(plane, np.zeros(BYTES, np.int64))
        return numbers

    def write(self, numbers: Singles, quantised: Quantised, scale: float | None = None) -> Singles:
        """The numbers on their levels, or as 16-bit floats if that is shorter; gives what the reader will read.

        `scale`: the levels are those of the shared codebook times it.
        """
        symbols, count = quantised.symbols.ravel(), len(quantised.levels)
        coded, code, table = self._shortest(symbols, count) if count > 1 else (0.0, None, None)
        halves = _as_halves(numbers)
        if halves is not None and 16 * numbers.size <= coded + _book_bits(quantised, scale):
            self.tables.write(HALF, 2)
            self.exact += halves.astype("<f2").tobytes()
            return halves.astype(np.float32)
        self.tables.write(LEVELS, 2)
        if scale is not None:
            self.tables.write(SHARED, 2)
            self.tables.write(int(np.float32(scale).view(np.uint32)) >> 16, 16)
        else:
            _write_book(self.tables, quantised.levels, quantised.grid)
        if code is not None:
            self._write_symbols(symbols, count, code, table)
        return quantised.values()

    def _shortest(self, symbols: NDArray[np.int32], count: int) -> tuple[float, int, tuple[int, Ints] | None]:
        """Bits, number and table of the shortest way to code the symbols."""
        table_bits, width, frequencies = best_table(np.bincount(symbols, minlength=count))
        nothing = np.zeros(count, np.int64)
        ways = [(table_bits + 3, TABLE), (adaptive_bits(symbols, nothing), FRESH)]
        if count in self._pools:
            ways.append((adaptive_bits(symbols, prior_counts(self._pools[count])), CONTINUED))
        bits, code = min(ways)
        return bits, code, (width, frequencies) if code == TABLE else None

    def _write_symbols(self, symbols: NDArray[np.int32], count: int, code: int, table: tuple[int, Ints] | None) -> None:
        counts = np.bincount(symbols, minlength=count)
        self.entropy += entropy_bits(counts)
        pool = self._pools.setdefault(count, np.zeros(count, np.int64))
        self.tables.write(code, 2)
        if table is not None:
            width, frequencies = table
            self.tables.write(TABLE_WIDTHS.index(width), 3)
            for frequency in frequencies[:-1].tolist():  # the last one is what is left
                self.tables.write(frequency, width)
            self.symbols.write(symbols, frequencies << (PRECISION - width))
        else:
            self.symbols.write_adaptive(symbols, prior_counts(pool) if code == CONTINUED else np.zeros_like(pool))
        pool += counts


class TensorReader:
    """Reads what a `TensorWriter` wrote, tensor by tensor in the same order."""

    def __init__(self, tables: bytes, exact: bytes, symbols: bytes) -> None:
        self._tables, self._exact, self._symbols = BitReader(tables), exact, SymbolReader(symbols)
        self._at = 0
        self._pools: dict[int, Ints] = {}
        self._shared = _read_book(self._tables, self._tables.read(2)) if self._tables.read(1) else None

    def read(self, shape: tuple[int, ...]) -> Singles:
        size, form = math.prod(shape), self._tables.read(2)
        if form == HALF:
            return self._raw(size, "<f2").astype(np.float32).reshape(shape)
        if form == SINGLE:
            return self._raw(size, "<f4").astype(np.float32).reshape(shape)
        if form == PLANES:
            nothing = np.zeros(BYTES, np.int64)
            planes = np.empty((size, 4), np.uint8)
            for plane in planes.T:
                plane[:] = self._symbols.read_adaptive(size, nothing)
            return planes.view("<f4").astype(np.float32).reshape(shape)
        levels = self._levels()
        return levels[self._indices(size, len(levels))].reshape(shape)

    def finish(self) -> None:
        """Refuses what is left over: every bit that is charged must have been needed."""
        self._tables.finish()
        self._symbols.finish()
        if self._at != len(self._exact):
            raise UsageError(f"{DAMAGED}: it holds numbers that belong to no tensor")

    def _levels(self) -> Singles:
        kind = self._tables.read(2)
        if kind != SHARED:
            return _read_book(self._tables, kind).levels
        if self._shared is None:
            raise UsageError(f"{DAMAGED}: it has no shared codebook")
        return scaled(self._shared.levels, float(np.uint32(self._tables.read(16) << 16).view(np.float32)))

    def _indices(self, size: int, count: int) -> NDArray[np.int32]:
        if count < 2:
            return np.zeros(size, np.int32)
        pool = self._pools.setdefault(count, np.zeros(count, np.int64))
        code = self._tables.read(2)
        if code == TABLE:
            width = TABLE_WIDTHS[self._tables.read(3)]
            frequencies = _read_table(self._tables, count, width)
            symbols = self._symbols.read(size, frequencies << (PRECISION - width))
        elif code in (FRESH, CONTINUED):
            start = prior_counts(pool) if code == CONTINUED else np.zeros_like(pool)
            symbols = self._symbols.read_adaptive(size, start)
        else:
            raise UsageError(f"{DAMAGED}: it names a code that does not exist")
        pool += np.bincount(symbols, minlength=count)
        return symbols

    def _raw(self, size: int, kind: str) -> NDArray[np.floating]:
        stop = self._at + size * np.dtype(kind).itemsize
        if stop > len(self._exact):
            raise UsageError(f"{DAMAGED}: it ends too early")
        numbers = np.frombuffer(self._exact[self._at : stop], kind)
        self._at = stop
        return numbers


def scaled(levels: Singles, scale: float) -> Singles:
    """The shared levels for a tensor of this scale; one product and one rounding a level."""
    with np.errstate(over="ignore", invalid="ignore"):
        return (levels.astype(np.float64) * scale).astype(np.float32)


def _as_halves(numbers: Singles) -> NDArray[np.float16] | None:
    """The numbers in 16 bits; None where that would move one by more than 1/1024 of the largest."""
    with np.errstate(over="ignore", invalid="ignore"):
        halves = numbers.astype(np.float16)
        moved = np.abs(halves.astype(np.float32) - numbers).max(initial=0.0)
    return halves if moved <= np.abs(numbers).max(initial=0.0) / 1024 else None


def _write_book(tables: BitWriter, levels: Singles, grid: Grid | None) -> None:
    halves = _same_in_halves(levels)
    tables.write(GRID if grid else HALVES if halves else SINGLES, 2)
    tables.write_count(len(levels))
    if grid:
        tables.write_signed(grid.first)
        tables.write(int(np.float32(grid.step).view(np.uint32)) >> 16, 16)
        return
    words = levels.astype(np.float16).view(np.uint16) if halves else levels.view(np.uint32)
    for word in words.tolist():
        tables.write(word, 16 if halves else 32)


def _read_book(tables: BitReader, kind: int) -> Codebook:
    count = tables.read_count()
    if not 0 < count <= MOST_LEVELS or kind == SHARED:
        raise UsageError(f"{DAMAGED}: it has a codebook of {count} levels")
    if kind == GRID:
        grid = Grid(tables.read_signed(), float(np.uint32(tables.read(16) << 16).view(np.float32)))
        return Codebook(grid.levels(count), grid)
    width = 16 if kind == HALVES else 32
    words = np.array([tables.read(width) for _ in range(count)], np.uint16 if kind == HALVES else np.uint32)
    return Codebook(words.view(np.float16 if kind == HALVES else np.float32).astype(np.float32))


def _read_table(tables: BitReader, count: int, width: int) -> Ints:
    frequencies = np.array([tables.read(width) for _ in range(count - 1)], np.int64)
    last = (1 << width) - int(frequencies.sum())
    if last < 1 or np.any(frequencies < 1):
        raise UsageError(f"{DAMAGED}: its frequencies do not sum up")
    return np.append(frequencies, last)


def _same_in_halves(levels: Singles) -> bool:
    with np.errstate(over="ignore"):
        return bool(
            np.array_equal(levels.astype(np.float16).astype(np.float32).view(np.uint32), levels.view(np.uint32))
        )


def _book_bits(quantised: Quantised, scale: float | None) -> int:
    if scale is not None:
        return 16
    return 30 if quantised.grid else len(quantised.levels) * (16 if _same_in_halves(quantised.levels) else 32)
