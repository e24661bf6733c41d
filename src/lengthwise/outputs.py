"""Files that a user asks for by name: figures, pages, films, tables.

Giving the same command again should replace its output, and a file of the user's own must never be lost to a name given
by mistake. So every output holds a mark: the SHA-256 of all the rest of it, in the form that its format has for a
comment. A file that is there already is replaced only if its mark fits, that is, if lengthwise wrote it and
nobody changed it since; anything else is refused. Comma-separated values and JSON lines have no comments, so such a
file is never replaced.
"""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import json
import struct
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from lengthwise.errors import LengthwiseError, UsageError
from lengthwise.files import replace_file
from lengthwise.integrity import is_sealed
from lengthwise.reading import read_bytes

_WORDS = b"lengthwise sha256 "
ROOM = _WORDS + b"0" * 64  # what the writer of a log leaves for the mark: the comment of its last member
_POLICY = b'http-equiv="Content-Security-Policy"'
_SEALED = (".json", ".json.gz")  # an object with a checksum of its own: `integrity.sealed`
_WITHOUT = (".csv", ".jsonl")


@dataclass(frozen=True)
class _Format:
    """How a format holds a comment: its form, how many bytes stay behind it at the end of the file, and how many there
    give way to it."""

    comment: Callable[[bytes], bytes]
    behind: int | Callable[[bytes], int] = 0
    gives_way: int = 0

    def end(self, data: bytes) -> int:
        """Where a comment ends in a file."""
        return len(data) - (self.behind if isinstance(self.behind, int) else self.behind(data))


def _chunk(said: bytes) -> bytes:
    """A text chunk of PNG."""
    body = b"tEXtSoftware\0" + said
    return struct.pack(">I", len(body) - 4) + body + struct.pack(">I", zlib.crc32(body))


def _footer(data: bytes) -> int:
    """The bytes of the footer of a Parquet file, which says at its end how long it is."""
    return 8 + int.from_bytes(data[-8:-4], "little")


_FORMATS: dict[str, _Format] = {
    ".html": _Format(lambda said: b"<!-- " + said + b" -->\n"),
    ".svg": _Format(lambda said: b"\n<!-- " + said + b" -->\n"),
    ".md": _Format(lambda said: b"<!-- " + said + b" -->\n"),
    ".toml": _Format(lambda said: b"# " + said + b"\n"),
    ".py": _Format(lambda said: b"# " + said + b"\n"),
    ".pdf": _Format(lambda said: b"\n%" + said + b"\n%%EOF\n"),
    ".png": _Format(_chunk, 12),  # the chunk IEND
    ".gif": _Format(lambda said: b"\x21\xfe" + bytes([len(said)]) + said + b"\0", 1),
    ".mp4": _Format(lambda said: struct.pack(">I", len(said) + 8) + b"free" + said),
    ".npz": _Format(lambda said: struct.pack("<H", len(said)) + said, gives_way=2),  # the comment of a ZIP file
    # `inspect view` reads no ZIP file with a comment; the last member of a log has one, in front of the 22 last bytes
    ".eval": _Format(lambda said: said, 22, len(ROOM)),
    ".parquet": _Format(lambda said: said, _footer),
}


def check_output(path: Path, option: str = "") -> None:
    """Refuse to replace a file that lengthwise did not write, or that was changed since."""
    if not path.exists() or is_ours(path):
        return
    other = f"give {option} another name" if option else "give another name"
    if path.suffix.lower() in _WITHOUT:
        why = f"a {path.suffix} file cannot say who wrote it"
        raise UsageError(f"{path} is there already, and {why}; delete it, or {other}")
    raise UsageError(f"{path} is there already and is not what lengthwise wrote; delete it, or {other}")


@contextlib.contextmanager
def replace_output(path: Path) -> Iterator[Path]:
    """A path to write to, which becomes `path` in one move, with its mark; see `files.replace_file`."""
    check_output(path)
    with replace_file(path) as part:
        yield part
        _mark(part, _ending(path))


def write_output(path: Path, text: str) -> None:
    with replace_output(path) as part:
        part.write_text(text, encoding="utf-8")


def is_ours(path: Path) -> bool:
    """Whether a file is, byte for byte, one that `replace_output` wrote."""
    ending = _ending(path)
    if not path.is_file() or ending in _WITHOUT:
        return False
    try:
        data = read_bytes(path)
    except UsageError:
        return False
    if ending in _SEALED:
        return _is_sealed(data, ending)
    if ending not in _FORMATS:
        return False
    form = _FORMATS[ending]
    end = form.end(data)
    before, after = data[: end - len(form.comment(_said(b"")))], data[end:]
    return data == before + form.comment(_said(before + after)) + after


def _ending(path: Path) -> str:
    name = path.name.lower()
    return next((ending for ending in (".json.gz",) if name.endswith(ending)), path.suffix.lower())


def _mark(part: Path, ending: str) -> None:
    """Put the mark into a finished file. What has no room for one is a defect of its writer."""
    if ending in _WITHOUT:
        return
    data = part.read_bytes()
    if ending == ".html" and _POLICY not in data:
        raise LengthwiseError("a page without a Content-Security-Policy is not written")
    if ending in _SEALED:
        if not _is_sealed(data, ending):
            raise LengthwiseError(f"an output that ends in {ending} without its checksum is not written")
        return
    form = _FORMATS[ending]
    end = form.end(data)
    before, after = data[: end - form.gives_way], data[end:]
    part.write_bytes(before + form.comment(_said(before + after)) + after)


def _said(content: bytes) -> bytes:
    return _WORDS + hashlib.sha256(content).hexdigest().encode()


def _is_sealed(data: bytes, ending: str) -> bool:
    try:
        content = json.loads(gzip.decompress(data) if ending.endswith(".gz") else data)
    except (ValueError, OSError, EOFError, zlib.error, RecursionError):
        return False
    return isinstance(content, dict) and is_sealed(content)
