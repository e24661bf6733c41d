"""What surrounds the coded tensors of a message: names and shapes in few bytes, header, checksum and pieces."""

from __future__ import annotations

import json
import math
import re
import zlib
from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

from lengthwise.bounds.compression.symbols import DAMAGED, length_prefix, read_prefix
from lengthwise.errors import LengthwiseError, UsageError

T = TypeVar("T")
Shape = tuple[int, ...]
MARK = "#"  # where the number of the layer stood
MOST_TENSORS = 1 << 20
MOST_LETTERS = 1 << 26  # of the names of one group
MOST_HEADER = 1 << 26  # bytes of a header when unpacked
CHECKSUM = 4  # bytes
_NUMBER = re.compile(r"(?<![0-9])(0|[1-9][0-9]*)(?![0-9])")


def grouped(shapes: Mapping[str, Shape]) -> list[list[Any]]:
    """[pattern, shape, count] for every group; `layers.#.weight` with count 3 stands for the layers 0, 1 and 2.

    A name on its own has count 0 and its pattern is the name. A group is made only where the numbers 0 … count - 1 are
    all there in the same shape.
    """
    members: dict[tuple[str, Shape], dict[int, str]] = {}
    for name, shape in shapes.items():
        found = None if MARK in name else _NUMBER.search(name)
        if found:
            pattern = name[: found.start()] + MARK + name[found.end() :]
            members.setdefault((pattern, shape), {})[int(found[0])] = name
    groups, done = [], set()
    for (pattern, shape), numbered in members.items():
        if len(numbered) > 1 and set(numbered) == set(range(len(numbered))):
            groups.append([pattern, list(shape), len(numbered)])
            done.update(numbered.values())
    return groups + [[name, list(shape), 0] for name, shape in shapes.items() if name not in done]


def listed(groups: Any, limit: int) -> dict[str, Shape]:
    """The names and shapes that `grouped` put together, in the order of the groups; at most `limit` numbers in all."""
    shapes: dict[str, Shape] = {}
    numbers = 0
    for group in groups if isinstance(groups, list) else [None]:
        match group:
            case [str(pattern), list(sizes), int(count)] if all(type(n) is int and n >= 0 for n in sizes):
                names = _names(pattern, count, MOST_TENSORS - len(shapes))
            case _:
                raise UsageError(f"{DAMAGED}: its list of tensors cannot be read")
        for name in names:
            numbers += math.prod(sizes)
            if name in shapes or len(sizes) > 32 or max(sizes, default=0) > 1 << 40:
                raise UsageError(f"{DAMAGED}: its list of tensors contradicts itself")
            if numbers > limit:
                raise UsageError(f"the message holds more than {limit} numbers; raise `limit` to read it all the same")
            shapes[name] = tuple(sizes)
    return shapes


def _names(pattern: str, count: int, most: int) -> list[str]:
    if not 0 <= count <= most or count * len(pattern) > MOST_LETTERS:
        raise UsageError(f"{DAMAGED}: it lists too many tensors")
    if count == 0:
        return [pattern]
    return [pattern.replace(MARK, str(n), 1) for n in range(count)]


def sealed(header: Mapping[str, Any], *pieces: bytes) -> bytes:
    """The message: a checksum, the header, and the pieces after their lengths; the last one needs none."""
    *first, last = pieces
    body = b"".join([_packed(header), *(length_prefix(len(piece)) + piece for piece in first), last])
    return zlib.crc32(body).to_bytes(CHECKSUM, "little") + body


def opened(data: bytes, names: tuple[str, ...]) -> tuple[dict[str, Any], list[bytes]]:
    """Header and pieces of a message with as many pieces as there are names."""
    body = data[CHECKSUM:]
    if len(data) < CHECKSUM or zlib.crc32(body) != int.from_bytes(data[:CHECKSUM], "little"):
        raise UsageError(f"{DAMAGED}: its checksum does not match")
    header, at = _unpacked(body)
    if type(header) is not dict:
        raise UsageError(f"{DAMAGED}: its header cannot be read")
    pieces = []
    for _ in names[:-1]:
        length, at = read_prefix(body, at)
        pieces.append(taken(body, at, length))
        at += length
    return header, [*pieces, body[at:]]


def sizes_in_bits(data: bytes, names: tuple[str, ...]) -> dict[str, int]:
    """How many bits checksum, header and pieces take in a message; they sum up to all of it."""
    parts = {name: len(piece) for name, piece in zip(names, opened(data, names)[1], strict=True)}
    for name in names[:-1]:
        parts[name] += len(length_prefix(parts[name]))
    sizes = {"checksum": CHECKSUM, "header": len(data) - CHECKSUM - sum(parts.values()), **parts}
    return {name: 8 * size for name, size in sizes.items()}


def taken(data: bytes, at: int, length: int) -> bytes:
    """`length` bytes from `at` on; fewer are refused."""
    if len(data) - at < length:
        raise UsageError(f"{DAMAGED}: it ends too early")
    return data[at : at + length]


def guarded(items: Iterator[T]) -> Iterator[T]:
    """The items, and what goes wrong in making them out of damaged bytes as one sentence."""
    try:
        yield from items
    except LengthwiseError:
        raise
    except (ArithmeticError, AssertionError, LookupError, MemoryError, ValueError) as error:
        raise UsageError(f"{DAMAGED}: {error}") from error


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
    text = taken(body, at, length // 2)
    try:
        if length % 2:
            inflater = zlib.decompressobj(-15)
            text = inflater.decompress(text, MOST_HEADER)
            if not inflater.eof or inflater.unused_data:
                raise ValueError("it does not end where it says")
        return json.loads(text), at + length // 2
    except (zlib.error, ValueError, RecursionError):
        raise UsageError(f"{DAMAGED}: its header cannot be read") from None
