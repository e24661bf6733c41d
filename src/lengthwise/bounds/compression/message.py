"""A whole model as one string of bytes that decodes back with nothing else known but this package.

The number of bits of that string, with a prefix that says how long it is, is the -log2 of a prior probability of the
model that was fixed before any data were seen (Kraft 1949): this is what bounds charge. See
docs/explanation/compression.md.

The writer takes the shortest way to write a tensor and says which it took; that costs its bits too.

half      16-bit floats as they are: for tensors so small that levels and their frequencies would cost more
single    32-bit floats as they are
planes    32-bit floats, the first bytes of all numbers coded together, then the second bytes, and so on
levels    a codebook and coded indices; the codebook is a grid, 16- or 32-bit levels, or the shared one times a scale

The indices are coded with a table that is sent, learning from nothing, or learning from what earlier tensors of as
many levels were like. Many tensors may share one codebook: each is divided by a scale of its own, and all of them use
the same levels.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lengthwise.bounds.compression.envelope import grouped, guarded, listed, opened, sealed, sizes_in_bits
from lengthwise.bounds.compression.quantisers import (
    MOST_LEVELS,
    Codebook,
    Grid,
    Quantised,
    Quantiser,
    Singles,
    checked,
    to_bfloat16,
)
from lengthwise.bounds.compression.symbols import (
    DAMAGED,
    PRECISION,
    TABLE_WIDTHS,
    BitReader,
    BitWriter,
    Pools,
    SymbolReader,
    SymbolWriter,
    adaptive_bits,
    best_table,
    entropy_bits,
    length_prefix,
)
from lengthwise.errors import LengthwiseError, UsageError
from lengthwise.messages import explain
from lengthwise.records import Assumption, Claim, Reference
from lengthwise.seeds import Ints

HALF, SINGLE, PLANES, LEVELS = range(4)
GRID, HALVES, SINGLES, SHARED = range(4)
TABLE, FRESH, CONTINUED = range(3)
NO_BYTES = np.zeros(256, np.int64)  # what is known of bytes at the start
MOST_FITTED = 1 << 24  # numbers of which the shared levels are fitted to all; of more, every second, third, …
MOST_NUMBERS = 1 << 31
PIECES = ("tables", "exact", "symbols")

explain(
    {
        "message.bits": "message length",
        "message.decodes": "the message decodes to the model that is bounded, bit for bit",
        "message.decoder": "the decoder was fixed before the training data were seen",
    }
)


@dataclass(frozen=True, eq=False)
class Message:
    """A model written down. `decode(data)` gives header and tensors back.

    data            everything
    parts           bits by part; they sum up to `bits`
    numbers         how many weights it holds
    entropy_bits    empirical entropy of the coded symbols, summed over tensors: for comparison, never charged
    """

    data: bytes
    parts: Mapping[str, int]
    numbers: int
    entropy_bits: float

    @property
    def bits(self) -> int:
        """What is charged: the prefix that says how long the data are, and the data."""
        return sum(self.parts.values())

    def framed(self) -> bytes:
        """The data after their length: no framed message is the beginning of another."""
        return length_prefix(len(self.data)) + self.data

    def claim(self) -> Claim:
        """The length as a claim."""
        return self._claim("What a message is", ("message.decodes", "message.decoder"))

    def _claim(self, place: str, assumptions: tuple[str, str], **evidence: int) -> Claim:
        checked, assumed = assumptions
        return Claim(
            "message.bits",
            self.bits,
            "bits",
            "certified",
            assumptions=(Assumption(checked, "checked"), Assumption(assumed)),
            reference=Reference("docs/explanation/compression.md", place),
            evidence={"parts": dict(self.parts), **evidence, "bits_per_weight": self.bits / max(self.numbers, 1)},
        )


def encode(tensors: Mapping[str, NDArray[Any]], header: Mapping[str, Any], quantiser: Quantiser) -> Message:
    """The tensors on the quantiser's levels, with a header (JSON-ready: architecture, seed, form, …), as a message.

    The message is decoded and compared before it is returned: one that does not decode to the model is an error.
    """
    numbers = {name: checked(tensor, f"the tensor {name!r}") for name, tensor in tensors.items()}
    groups = grouped({name: tensor.shape for name, tensor in numbers.items()})
    shared = fit_shared(numbers.values(), quantiser) if quantiser.share else None
    writer, digests = TensorWriter(shared), {}
    for name in listed(groups, MOST_NUMBERS):
        tensor = numbers[name]
        if quantiser.keeps:
            sent = writer.keep(tensor)
        elif shared is not None and (found := on_shared(tensor, shared)):
            sent = writer.write(tensor, *found)
        else:
            sent = writer.write(tensor, quantiser.quantise(tensor))
        digests[name] = _digest(sent)
    written = (writer.tables.to_bytes(), bytes(writer.exact), writer.symbols.to_bytes())
    data = sealed({"header": dict(header), "tensors": groups}, *written)
    _verify(data, dict(header), tensors.keys(), digests)
    total = sum(tensor.size for tensor in numbers.values())
    return Message(data, bits_by_part(data), total, writer.entropy)


def decode(data: bytes, *, limit: int = MOST_NUMBERS) -> tuple[dict[str, Any], dict[str, Singles]]:
    """Header and tensors of a message, bit for bit as they were sent. `limit`: the most numbers to make room for."""
    header, tensors = _opened(data, limit)
    return header, dict(tensors)


def bits_by_part(data: bytes) -> dict[str, int]:
    """The bits of a message by part, counted from the message itself: `Message.parts`. They sum up to its bits."""
    return {"prefix": 8 * len(length_prefix(len(data))), **sizes_in_bits(data, PIECES)}


def _opened(data: bytes, limit: int) -> tuple[dict[str, Any], Iterator[tuple[str, Singles]]]:
    """The header, and the tensors as they are asked for."""
    content, pieces = opened(data, PIECES)
    if content.keys() != {"header", "tensors"} or type(content["header"]) is not dict:
        raise UsageError(f"{DAMAGED}: its header cannot be read")
    return content["header"], guarded(_read(listed(content["tensors"], limit), pieces))


def _read(shapes: Mapping[str, tuple[int, ...]], pieces: list[bytes]) -> Iterator[tuple[str, Singles]]:
    reader = TensorReader(*pieces)
    for name, shape in shapes.items():
        yield name, reader.read(shape)
    reader.finish()


def _verify(data: bytes, header: dict[str, Any], names: Set[str], digests: Mapping[str, Any]) -> None:
    """Decodes the message, one tensor at a time, and compares it with the original."""
    found, tensors = _opened(data, MOST_NUMBERS)
    seen = {name: _digest(tensor) for name, tensor in tensors}
    if found != header or seen != digests or seen.keys() != names:
        raise LengthwiseError("a message did not decode to the model it was made from; no length is given for it")


def _digest(tensor: Singles) -> tuple[tuple[int, ...], bytes]:
    return tensor.shape, hashlib.blake2b(np.ascontiguousarray(tensor).data, digest_size=16).digest()


def fit_shared(tensors: Iterable[Singles], quantiser: Quantiser) -> Codebook | None:
    """Levels for all tensors that vary, each in units of its scale; None where none does."""
    units = [(tensor.ravel(), scale) for tensor in tensors if (scale := scale_of(tensor))]
    if not units:
        return None
    stride = -(-sum(len(numbers) for numbers, _ in units) // MOST_FITTED)
    pieces = []
    for numbers, scale in units:
        ends = np.array([numbers.min(), numbers.max()]) if stride > 1 else numbers[:0]
        pieces.append((np.concatenate([numbers[::stride], ends]) / scale).astype(np.float32))
    return quantiser.codebook(np.concatenate(pieces))


def on_shared(tensor: Singles, shared: Codebook) -> tuple[Quantised, float] | None:
    """The tensor on the shared levels and its scale; None where it has no scale or its levels would fall together."""
    scale = scale_of(tensor)
    levels = scaled(shared.levels, scale)
    if not scale or not np.isfinite(levels).all() or np.any(np.diff(levels) <= 0):
        return None
    return Quantised(levels, Codebook(levels).nearest(tensor)), scale


def scale_of(tensor: Singles) -> float:
    """The root mean square, rounded to 16 bits; 0 for a tensor of one value, which needs no levels."""
    if tensor.size < 2 or tensor.min() == tensor.max():
        return 0.0
    scale = to_bfloat16(float(np.sqrt(np.mean(np.square(tensor, dtype=np.float64)))))
    return scale if np.isfinite(scale) and scale > np.finfo(np.float32).tiny else 0.0


class TensorWriter:
    """Writes tensors one after another into three strings: tables (bits), numbers as they are (bytes), and symbols."""

    def __init__(self, shared: Codebook | None = None) -> None:
        self.tables, self.exact, self.symbols = BitWriter(), bytearray(), SymbolWriter()
        self.entropy = 0.0
        self._pools = Pools()
        self.tables.write(shared is not None, 1)
        if shared is not None:
            _write_book(self.tables, shared.levels, shared.grid)

    def keep(self, numbers: Singles) -> Singles:
        """The numbers bit for bit."""
        planes = np.ascontiguousarray(numbers.ravel().astype("<f4")).view(np.uint8).reshape(-1, 4)
        if math.fsum(adaptive_bits(plane, NO_BYTES) for plane in planes.T) >= 32 * numbers.size:
            self.tables.write(SINGLE, 2)
            self.exact += planes.tobytes()
            return numbers
        self.tables.write(PLANES, 2)
        self.entropy += math.fsum(entropy_bits(np.bincount(plane)) for plane in planes.T)
        for plane in planes.T:
            self.symbols.write_adaptive(plane, NO_BYTES)
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
        ways = [(table_bits + 3, TABLE), (adaptive_bits(symbols, np.zeros(count, np.int64)), FRESH)]
        if count in self._pools:
            ways.append((adaptive_bits(symbols, self._pools.prior(count, count)), CONTINUED))
        bits, code = min(ways)
        return bits, code, (width, frequencies) if code == TABLE else None

    def _write_symbols(self, symbols: NDArray[np.int32], count: int, code: int, table: tuple[int, Ints] | None) -> None:
        counts = np.bincount(symbols, minlength=count)
        self.entropy += entropy_bits(counts)
        self.tables.write(code, 2)
        if table is not None:
            width, frequencies = table
            self.tables.write(TABLE_WIDTHS.index(width), 3)
            for frequency in frequencies[:-1].tolist():  # the last one is what is left
                self.tables.write(frequency, width)
            self.symbols.write(symbols, frequencies << (PRECISION - width))
        else:
            self.symbols.write_adaptive(symbols, _start(self._pools, code, count))
        self._pools.learn(count, counts)


def _start(pools: Pools, code: int, count: int) -> Ints:
    """The counts that an adaptive code begins with."""
    return pools.prior(count, count) if code == CONTINUED else np.zeros(count, np.int64)


class TensorReader:
    """Reads what a `TensorWriter` wrote, tensor by tensor in the same order."""

    def __init__(self, tables: bytes, exact: bytes, symbols: bytes) -> None:
        self._tables, self._exact, self._symbols = BitReader(tables), exact, SymbolReader(symbols)
        self._at, self._pools = 0, Pools()
        self._shared = _read_book(self._tables, self._tables.read(2)) if self._tables.read(1) else None

    def read(self, shape: tuple[int, ...]) -> Singles:
        size, form = math.prod(shape), self._tables.read(2)
        if form in (HALF, SINGLE):
            return self._raw(size, "<f2" if form == HALF else "<f4").astype(np.float32).reshape(shape)
        if form == PLANES:
            planes = np.empty((size, 4), np.uint8)
            for plane in planes.T:
                plane[:] = self._symbols.read_adaptive(size, NO_BYTES)
            return planes.view("<f4").astype(np.float32).reshape(shape)
        levels = self._levels()
        return levels[self._indices(size, len(levels))].reshape(shape)

    def finish(self) -> None:
        """Refuses bits left over: every bit that is charged must have been needed."""
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
        code = self._tables.read(2)
        if code == TABLE:
            width = TABLE_WIDTHS[self._tables.read(3)]
            frequencies = _read_table(self._tables, count, width)
            symbols = self._symbols.read(size, frequencies << (PRECISION - width))
        elif code in (FRESH, CONTINUED):
            symbols = self._symbols.read_adaptive(size, _start(self._pools, code, count))
        else:
            raise UsageError(f"{DAMAGED}: it names a code that does not exist")
        self._pools.learn(count, np.bincount(symbols, minlength=count))
        return symbols

    def _raw(self, size: int, kind: str) -> NDArray[np.floating]:
        stop = self._at + size * np.dtype(kind).itemsize
        if stop > len(self._exact):
            raise UsageError(f"{DAMAGED}: it ends too early")
        numbers = np.frombuffer(self._exact[self._at : stop], kind)
        self._at = stop
        return numbers


def scaled(levels: Singles, scale: float) -> Singles:
    """The shared levels for a tensor of this scale; one product and one rounding per level."""
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
        raise UsageError(f"{DAMAGED}: its frequencies do not add up")
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
