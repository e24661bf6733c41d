"""What the bytes of GGUF blocks mean, as far as coding them needs: which are parts of numbers, which are indices.

A layout cuts a block into fields, in the order of `ggml-common.h` of llama.cpp. Every field becomes one or several
streams of symbols whose frequencies differ from those of other streams; `joined` puts them together again. A type that
is not listed is one stream of bytes, which is right for any layout.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

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
_WIDTH = {"bytes": 8, "nibbles": 4, "pairs": 2}


def layout_of(kind: str) -> tuple[tuple[str, int], ...]:
    return LAYOUTS.get(kind, UNKNOWN)


def block_bytes(kind: str) -> int:
    """How many bytes a block has; 1 for types that are not known."""
    return sum(size for _, size in layout_of(kind))


def streams(kind: str, data: Bytes) -> Iterator[tuple[int, Bytes]]:
    """(how many symbols there are, the symbols) of every stream of a tensor's bytes, in a fixed order."""
    blocks = data.reshape(-1, block_bytes(kind))
    at = 0
    for field, size in layout_of(kind):
        part = blocks[:, at : at + size]
        at += size
        if field == "planes":
            yield from ((256, np.ascontiguousarray(plane)) for plane in part.T)
        else:
            width = _WIDTH[field]
            pieces = [part >> np.uint8(shift) & np.uint8((1 << width) - 1) for shift in range(0, 8, width)]
            yield 1 << width, np.concatenate([piece.ravel() for piece in pieces])


def stream_sizes(kind: str, size: int) -> list[tuple[int, int]]:
    """(how many symbols there are, how many are in it) of every stream of a tensor of `size` bytes."""
    blocks, sizes = size // block_bytes(kind), []
    for field, length in layout_of(kind):
        if field == "planes":
            sizes += [(256, blocks)] * length
        else:
            sizes.append((1 << _WIDTH[field], blocks * length * (8 // _WIDTH[field])))
    return sizes


def joined(kind: str, size: int, symbols: Iterator[NDArray[np.integer]]) -> Bytes:
    """The bytes whose streams these are."""
    blocks = np.empty((size // block_bytes(kind), block_bytes(kind)), np.uint8)
    at = 0
    for field, length in layout_of(kind):
        part = blocks[:, at : at + length]
        at += length
        if field == "planes":
            for plane in part.T:
                plane[:] = next(symbols)
        else:
            width = _WIDTH[field]
            pieces = next(symbols).astype(np.uint8).reshape(8 // width, -1, length)
            part[:] = np.bitwise_or.reduce([piece << width * place for place, piece in enumerate(pieces)], axis=0)
    return blocks.ravel()
