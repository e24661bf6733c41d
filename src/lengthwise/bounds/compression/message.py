"""A whole model as one string of bytes that decodes back with nothing else known but this package.

The number of bits of that string, with a prefix that says how long it is, is the -log2 of a prior probability of the
model that was fixed before any data were seen (Kraft 1949): this is what bounds charge. See docs/compression.md.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lengthwise.bounds.compression.bit_strings import DAMAGED, length_prefix, read_prefix
from lengthwise.bounds.compression.forms import TensorReader, TensorWriter
from lengthwise.bounds.compression.names import grouped, listed
from lengthwise.bounds.compression.quantisers import Quantiser, Singles, checked
from lengthwise.bounds.compression.sharing import fit_shared, on_shared
from lengthwise.errors import LengthwiseError, UsageError

CHECKSUM = 4  # bytes
MOST_NUMBERS = 1 << 31
MOST_HEADER = 1 << 26  # bytes of a header when unpacked


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
        return 8 * len(self.framed())

    def framed(self) -> bytes:
        """The data after their length: no framed message is the beginning of another."""
        return length_prefix(len(self.data)) + self.data


def encode(tensors: Mapping[str, NDArray[Any]], header: Mapping[str, Any], quantiser: Quantiser) -> Message:
    """The tensors on the quantiser's levels, with a header (JSON-ready: architecture, seed, form, …), as a message.

    The message is decoded and compared before it is given out: one that does not decode to what was meant is an error
    and never a number.
    """
    numbers = {name: checked(tensor, f"the tensor {name!r}") for name, tensor in tensors.items()}
    groups = grouped({name: tensor.shape for name, tensor in numbers.items()})
    order = list(listed(groups, MOST_NUMBERS))
    shared = fit_shared(numbers.values(), quantiser) if quantiser.share else None
    writer, digests = TensorWriter(shared), {}
    for name in order:
        tensor = numbers[name]
        if quantiser.keeps:
            sent = writer.keep(tensor)
        elif shared is not None and (found := on_shared(tensor, shared)):
            sent = writer.write(tensor, *found)
        else:
            sent = writer.write(tensor, quantiser.quantise(tensor))
        digests[name] = _digest(sent)
    pieces = {
        "header": _packed({"header": dict(header), "tensors": groups}),
        "tables": _framed(writer.tables.to_bytes()),
        "exact": _framed(bytes(writer.exact)),
        "symbols": writer.symbols.to_bytes(),
    }
    body = b"".join(pieces.values())
    data = zlib.crc32(body).to_bytes(CHECKSUM, "little") + body
    prefix = 8 * len(length_prefix(len(data)))
    parts = {"prefix": prefix, "checksum": 8 * CHECKSUM, **{name: 8 * len(piece) for name, piece in pieces.items()}}
    _verify(data, dict(header), digests)
    return Message(data, parts, sum(tensor.size for tensor in numbers.values()), writer.entropy)


def decode(data: bytes, *, limit: int = MOST_NUMBERS) -> tuple[dict[str, Any], dict[str, Singles]]:
    """Header and tensors of a message, bit for bit as they were sent. `limit`: the most numbers to make room for."""
    header, tensors = _opened(data, limit)
    return header, dict(_read_all(tensors))


def unframed(stream: bytes) -> tuple[bytes, bytes]:
    """The first message of a stream of framed ones, and what follows it."""
    length, start = read_prefix(stream)
    if len(stream) - start < length:
        raise UsageError(f"{DAMAGED}: it ends too early")
    return stream[start : start + length], stream[start + length :]


@dataclass(frozen=True, eq=False)
class _Tensors:
    """What is left to read once the header is known."""

    shapes: Mapping[str, tuple[int, ...]]
    tables: bytes
    exact: bytes
    symbols: bytes


def _opened(data: bytes, limit: int) -> tuple[dict[str, Any], _Tensors]:
    body = data[CHECKSUM:]
    if len(data) < CHECKSUM or zlib.crc32(body) != int.from_bytes(data[:CHECKSUM], "little"):
        raise UsageError(f"{DAMAGED}: its checksum does not fit")
    content, at = _unpacked(body)
    if not (isinstance(content, dict) and content.keys() == {"header", "tensors"} and type(content["header"]) is dict):
        raise UsageError(f"{DAMAGED}: its header cannot be read")
    tables, at = _piece(body, at)
    exact, at = _piece(body, at)
    return content["header"], _Tensors(listed(content["tensors"], limit), tables, exact, body[at:])


def _read_all(tensors: _Tensors) -> Iterator[tuple[str, Singles]]:
    try:
        reader = TensorReader(tensors.tables, tensors.exact, tensors.symbols)
        for name, shape in tensors.shapes.items():
            yield name, reader.read(shape)
        reader.finish()
    except LengthwiseError:
        raise
    except (ArithmeticError, AssertionError, LookupError, MemoryError, ValueError) as error:
        raise UsageError(f"{DAMAGED}: {error}") from error


def _verify(data: bytes, header: dict[str, Any], digests: Mapping[str, Any]) -> None:
    """Decodes the message, one tensor at a time, and compares it with what was meant."""
    found, tensors = _opened(data, MOST_NUMBERS)
    seen = {name: _digest(tensor) for name, tensor in _read_all(tensors)}
    if found != header or seen != digests:
        raise LengthwiseError("a message did not decode to the model it was made from; no length is given for it")


def _digest(tensor: Singles) -> tuple[tuple[int, ...], bytes]:
    return tensor.shape, hashlib.blake2b(np.ascontiguousarray(tensor).data, digest_size=16).digest()


def _packed(content: Mapping[str, Any]) -> bytes:
    """Canonical JSON, deflated where that is shorter; the last bit of its length says which."""
    try:
        text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()
    except (TypeError, ValueError) as error:
        raise UsageError(f"the header of a message holds what JSON can hold, and this does not: {error}") from None
    if json.loads(text) != content:
        raise UsageError("the header of a message must come back from JSON as it is: lists for tuples, text for keys")
    deflater = zlib.compressobj(9, zlib.DEFLATED, -15)
    small = deflater.compress(text) + deflater.flush()
    zipped = len(small) < len(text)
    return length_prefix(2 * min(len(small), len(text)) + zipped) + (small if zipped else text)


def _unpacked(body: bytes) -> tuple[Any, int]:
    length, at = read_prefix(body)
    stop = at + length // 2
    text = body[at:stop]
    if len(text) < length // 2:
        raise UsageError(f"{DAMAGED}: it ends too early")
    try:
        text = zlib.decompressobj(-15).decompress(text, MOST_HEADER) if length % 2 else text
        return json.loads(text), stop
    except (zlib.error, ValueError, RecursionError):
        raise UsageError(f"{DAMAGED}: its header cannot be read") from None


def _framed(piece: bytes) -> bytes:
    return length_prefix(len(piece)) + piece


def _piece(body: bytes, at: int) -> tuple[bytes, int]:
    length, start = read_prefix(body, at)
    if len(body) - start < length:
        raise UsageError(f"{DAMAGED}: it ends too early")
    return body[start : start + length], start + length
