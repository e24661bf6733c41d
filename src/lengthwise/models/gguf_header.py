"""The whole numbers in the header of a GGUF file, read before a library builds what they describe.

The header is a list of keys with typed values, before the tensors. The list of a tokenizer's words is passed over, so a
file of any size takes a fraction of a second. Versions 2 and 3 of the format, which write lengths in 64 bits.
"""

from __future__ import annotations

import os
import struct
from typing import BinaryIO

_BYTES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}  # of the scalar types
_WHOLE = {0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 10: "<Q", 11: "<q"}
_TEXT, _LIST = 8, 9
_LONGEST_KEY = 1 << 16


def header_numbers(file: BinaryIO) -> dict[str, int]:
    """Key → whole number, as far as the header can be read; what is wrong with it is said by whoever reads it whole."""
    found: dict[str, int] = {}
    try:
        file.seek(0)
        magic, version, _, count = _unpacked(file, "<4sIQQ")
        if magic != b"GGUF" or version not in (2, 3):
            return found
        for _ in range(count):
            (length,) = _unpacked(file, "<Q")
            if length > _LONGEST_KEY:
                break
            key = file.read(length).decode("utf-8", "replace")
            (kind,) = _unpacked(file, "<I")
            if kind in _WHOLE:
                (found[key],) = _unpacked(file, _WHOLE[kind])
            elif not _passed_over(file, kind):
                break
    except (struct.error, OSError, OverflowError):
        pass
    return found


def tensor_count(file: BinaryIO) -> int | None:
    """How many tensors the header announces, if it can be read."""
    try:
        file.seek(0)
        magic, version, count = _unpacked(file, "<4sIQ")
    except (struct.error, OSError):
        return None
    return count if magic == b"GGUF" and version in (2, 3) else None


def _unpacked(file: BinaryIO, form: str) -> tuple:
    return struct.unpack(form, file.read(struct.calcsize(form)))


def _passed_over(file: BinaryIO, kind: int) -> bool:
    """Move behind a value of this type; whether there is such a type, and as much of it as the header says."""
    if kind in _BYTES:
        return _skipped(file, _BYTES[kind])
    if kind == _TEXT:
        return _skipped(file, *_unpacked(file, "<Q"))
    if kind != _LIST:
        return False
    inner, count = _unpacked(file, "<IQ")
    if inner in _BYTES:
        return _skipped(file, count * _BYTES[inner])
    return inner == _TEXT and 8 * count <= _left(file) and all(_passed_over(file, _TEXT) for _ in range(count))


def _skipped(file: BinaryIO, size: int) -> bool:
    if size > _left(file):
        return False
    file.seek(size, os.SEEK_CUR)
    return True


def _left(file: BinaryIO) -> int:
    return os.fstat(file.fileno()).st_size - file.tell()
