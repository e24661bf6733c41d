"""The description length of a GGUF file: its blocks entropy-coded, decoded back and compared byte for byte.

The file is quantised already, so nothing is lost here: metadata (without the tokenizer), names, shapes, types and all
bytes of all tensors come back. What is charged is the coded message or the file as it is, whichever is shorter, with
one bit that says which and a prefix that says how long.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lengthwise.bounds.compression.envelope import grouped, guarded, listed, opened, sealed, sizes_in_bits
from lengthwise.bounds.compression.message import Message
from lengthwise.bounds.compression.symbols import (
    DAMAGED,
    Pools,
    SymbolReader,
    SymbolWriter,
    entropy_bits,
    length_prefix,
)
from lengthwise.errors import LengthwiseError, UsageError
from lengthwise.messages import explain
from lengthwise.records import Claim

Bytes = NDArray[np.uint8]

# Kinds of a field: "planes": a stream for each byte of it (the bytes of scales); "bytes", "nibbles", "pairs": one
# stream of symbols of 8, 4 or 2 bits.
LAYOUTS: dict[str, tuple[tuple[str, int], ...]] = {
    "F32": (("planes", 4),),
    "F16": (("planes", 2),),
    "BF16": (("planes", 2),),
    "Q4_0": (("planes", 2), ("nibbles", 16)),
    "Q4_1": (("planes", 4), ("nibbles", 16)),
    "Q5_0": (("planes", 2), ("bytes", 4), ("nibbles", 16)),
    "Q5_1": (("planes", 4), ("bytes", 4), ("nibbles", 16)),
    "Q8_0": (("planes", 2), ("bytes", 32)),
    "Q2_K": (("nibbles", 16), ("pairs", 64), ("planes", 4)),
    "Q3_K": (("bytes", 32), ("pairs", 64), ("bytes", 12), ("planes", 2)),
    "Q4_K": (("planes", 4), ("bytes", 12), ("nibbles", 128)),
    "Q5_K": (("planes", 4), ("bytes", 12), ("bytes", 32), ("nibbles", 128)),
    "Q6_K": (("nibbles", 128), ("pairs", 64), ("bytes", 16), ("planes", 2)),
}
UNKNOWN = (("bytes", 1),)
_WIDTH = {"planes": 8, "bytes": 8, "nibbles": 4, "pairs": 2}


def block_bytes(kind: str) -> int:
    """The size of a block in bytes; 1 for types that are not known."""
    return sum(size for _, size in LAYOUTS.get(kind, UNKNOWN))


def _fields(kind: str) -> Iterator[tuple[int, slice]]:
    """Bits per symbol and bytes per block of every stream."""
    at = 0
    for name, size in LAYOUTS.get(kind, UNKNOWN):
        step = 1 if name == "planes" else size
        yield from ((_WIDTH[name], slice(first, first + step)) for first in range(at, at + size, step))
        at += size


def streams(kind: str, data: Bytes) -> Iterator[tuple[int, Bytes]]:
    """(how many symbols there are, the symbols) of every stream of a tensor's bytes, in a fixed order."""
    blocks = data.reshape(-1, block_bytes(kind))
    for width, place in _fields(kind):
        mask = np.uint8((1 << width) - 1)
        pieces = [(blocks[:, place] >> np.uint8(shift) & mask).ravel() for shift in range(0, 8, width)]
        yield 1 << width, np.concatenate(pieces)


def stream_sizes(kind: str, size: int) -> list[tuple[int, int]]:
    """(how many symbols there are, how many are in it) of every stream of a tensor of `size` bytes."""
    blocks = size // block_bytes(kind)
    return [(1 << width, blocks * (at.stop - at.start) * (8 // width)) for width, at in _fields(kind)]


def joined(kind: str, size: int, symbols: Iterator[NDArray[np.integer]]) -> Bytes:
    """The bytes whose streams these are."""
    blocks = np.empty((size // block_bytes(kind), block_bytes(kind)), np.uint8)
    for width, place in _fields(kind):
        pieces = next(symbols).astype(np.uint8).reshape(8 // width, -1, place.stop - place.start)
        blocks[:, place] = np.bitwise_or.reduce([piece << width * i for i, piece in enumerate(pieces)], axis=0)
    return blocks.ravel()


TOKENIZER = "tokenizer."  # what the keys of a tokenizer begin with
MOST_BYTES = 1 << 36
explain(
    {
        "message.decodes_bytes": "the message decodes to every byte of every tensor",
        "message.decoder_and_tokenizer": "the decoder and the tokenizer were fixed before the training data were seen",
    }
)
Kinds = Mapping[str, tuple[str, tuple[int, ...]]]  # type and shape of a tensor


@dataclass(frozen=True, eq=False)
class Blocks:
    """A tensor as a GGUF file holds it."""

    kind: str
    shape: tuple[int, ...]
    data: Bytes


@dataclass(frozen=True, eq=False)
class GgufMessage(Message):
    """A GGUF file written down shortly. `decode_gguf(data)` gives metadata and blocks back.

    file_bits         the file as it is on disk
    tensor_bits       its tensors alone
    tokenizer_bits    its tokenizer, which is not charged: it is assumed to be fixed before the data were seen
    """

    file_bits: int
    tensor_bits: int
    tokenizer_bits: int

    @property
    def coded(self) -> bool:
        """Whether the coded message is charged, and not the file as it is."""
        return "file" not in self.parts

    def claim(self) -> Claim:
        return self._claim(
            "GGUF files",
            ("message.decodes_bytes", "message.decoder_and_tokenizer"),
            file=self.file_bits,
            tensors=self.tensor_bits,
            tokenizer_not_charged=self.tokenizer_bits,
        )


def message_of_gguf(path: str | Path) -> GgufMessage:
    """Codes a GGUF file, decodes it again and compares."""
    reader = _reader(Path(path))
    tensors = {t.name: np.asarray(reader.data[int(t.data_offset) :][: int(t.n_bytes)]) for t in reader.tensors}
    types = {tensor.name: tensor.tensor_type.name for tensor in reader.tensors}
    header = {
        "metadata": {
            name: _plain(field.contents())
            for name, field in reader.fields.items()
            if not name.startswith((TOKENIZER, "GGUF."))
        },
        "tensors": grouped({f"{t.name}:{types[t.name]}": tuple(map(int, t.shape)) for t in reader.tensors}),
        "bytes": grouped({name: (len(data),) for name, data in tensors.items()}),
    }
    writer, pools, entropy = SymbolWriter(), Pools(), 0.0
    for name in listed(header["bytes"], MOST_BYTES):
        entropy += _write(writer, pools, types[name], tensors[name])
    data = sealed(header, writer.to_bytes())
    del writer
    _verify(data, tensors)
    file_bits = 8 * Path(path).stat().st_size
    tokenizer = [field for name, field in reader.fields.items() if name.startswith(TOKENIZER)]
    return GgufMessage(
        data,
        _charged(data, file_bits),
        sum(int(tensor.n_elements) for tensor in reader.tensors),
        entropy,
        file_bits,
        8 * sum(map(len, tensors.values())),
        8 * sum(int(part.nbytes) for field in tokenizer for part in field.parts),
    )


def decode_gguf(data: bytes, *, limit: int = MOST_BYTES) -> tuple[dict[str, Any], dict[str, Blocks]]:
    """Metadata and tensors of what `message_of_gguf` wrote; at most `limit` bytes of them."""
    metadata, kinds, tensors = _opened(data, limit)
    return metadata, {name: Blocks(*kinds[name], blocks) for name, blocks in tensors}


def _opened(data: bytes, limit: int) -> tuple[dict[str, Any], Kinds, Iterator[tuple[str, Bytes]]]:
    header, (symbols,) = opened(data, ("symbols",))
    if header.keys() != {"metadata", "tensors", "bytes"}:
        raise UsageError(f"{DAMAGED}: it does not hold a GGUF file")
    sizes = {name: shape[0] for name, shape in listed(header["bytes"], limit).items() if len(shape) == 1}
    typed = {tuple(name.rsplit(":", 1)): shape for name, shape in listed(header["tensors"], 8 * limit).items()}
    kinds = {name: (kind[0] if kind else "", shape) for (name, *kind), shape in typed.items()}
    if kinds.keys() != sizes.keys():
        raise UsageError(f"{DAMAGED}: its lists of tensors contradict each other")
    return header["metadata"], kinds, guarded(_read(symbols, kinds, sizes))


def _read(symbols: bytes, kinds: Kinds, sizes: Mapping[str, int]) -> Iterator[tuple[str, Bytes]]:
    reader, pools = SymbolReader(symbols), Pools()

    def streams_of(kind: str, size: int) -> Iterator[NDArray[np.int32]]:
        for place, (count, length) in enumerate(stream_sizes(kind, size)):
            found = reader.read_adaptive(length, pools.prior((kind, place), count))
            pools.learn((kind, place), np.bincount(found, minlength=count))
            yield found

    for name, size in sizes.items():
        kind = kinds[name][0]
        if size % block_bytes(kind):
            raise UsageError(f"{DAMAGED}: {size} bytes are no whole number of blocks of {kind}")
        yield name, joined(kind, size, streams_of(kind, size))
    reader.finish()


def _write(writer: SymbolWriter, pools: Pools, kind: str, data: Bytes) -> float:
    """Codes one tensor, knowing what earlier tensors of the same type were like; gives the entropy of its streams."""
    entropy = 0.0
    for place, (count, symbols) in enumerate(streams(kind, data)):
        counts = np.bincount(symbols, minlength=count)
        writer.write_adaptive(symbols, pools.prior((kind, place), count))
        pools.learn((kind, place), counts)
        entropy += entropy_bits(counts)
    return entropy


def _verify(data: bytes, tensors: Mapping[str, Bytes]) -> None:
    seen = 0
    for name, blocks in _opened(data, MOST_BYTES)[2]:
        seen += 1
        if not np.array_equal(blocks, tensors[name]):
            raise LengthwiseError(f"the tensor {name!r} did not decode to its own bytes; no length is given")
    if seen != len(tensors):
        raise LengthwiseError("the message lost a tensor; no length is given")


def _charged(data: bytes, file_bits: int) -> dict[str, int]:
    coded = {"prefix": 8 * len(length_prefix(len(data))), "flag": 1, **sizes_in_bits(data, ("symbols",))}
    whole = {"prefix": 8 * len(length_prefix(file_bits // 8)), "flag": 1, "file": file_bits}
    return min(coded, whole, key=lambda parts: sum(parts.values()))


def _reader(path: Path) -> Any:
    try:
        import gguf
    except ImportError:
        raise UsageError(f"reading {path} needs gguf; `pip install 'lengthwise[hf]'` installs it") from None
    try:
        return gguf.GGUFReader(path)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}") from None
    except (ValueError, IndexError, KeyError, OverflowError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} is not a GGUF file that can be read: {error}") from None


def _plain(value: Any) -> Any:
    """A value of the metadata as JSON gives it back."""
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value.item() if isinstance(value, np.generic) else value
