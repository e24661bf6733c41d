"""Atomic files: written next to their destination and moved into place, read back with a clear error."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from safetensors import SafetensorError

from lengthwise.errors import UsageError
from lengthwise.reading import open_file, read_json_file

PART = ".part"  # the end of the name of a file that is not whole yet


def read_json(path: Path) -> Any:
    """The content of a JSON file; a missing or broken one is a usage error that names it."""
    if not os.path.lexists(path):
        raise UsageError(f"there is no {path.name} in {path.parent}; is it a folder that `lengthwise train` wrote?")
    return read_json_file(path)


def write_json(path: Path, content: Any) -> None:
    write_text(path, json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def write_text(path: Path, text: str) -> None:
    with replace_file(path) as part:
        part.write_text(text, encoding="utf-8")


@contextlib.contextmanager
def replace_file(path: Path) -> Iterator[Path]:
    """A path to write to; when the block ends without an error it becomes `path` in one move, its content on disk.

    The file is made here, under a name that nobody can foresee, so it is never a link that somebody left in its way.
    Until it is whole nobody else may read it; then it has the permissions that the user's files usually have.
    Where `path` is a link, the link is replaced and the file that it leads to stays as it is.
    """
    part, mode = _made(path.parent)
    try:
        yield part
        with part.open("rb") as file:
            os.fsync(file.fileno())
            with contextlib.suppress(OSError):
                os.fchmod(file.fileno(), mode)
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def _made(folder: Path) -> tuple[Path, int]:
    """A new empty file for this user alone, and the permissions that it would have had."""
    part = folder / f".{secrets.token_hex(8)}{PART}"
    number = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    try:
        mode = stat.S_IMODE(os.fstat(number).st_mode)
        with contextlib.suppress(OSError):  # a file system without permissions
            os.fchmod(number, mode & 0o700)
    finally:
        os.close(number)
    return part, mode


def check_inside(place: Path, home: Path) -> Path:
    """The place, unless a link on the way leads out of `home`, where nothing of ours is to be written."""
    try:
        inside = place.resolve().is_relative_to(home.resolve())
    except (OSError, RuntimeError):  # a link that leads to itself
        inside = False
    if not inside:
        raise UsageError(f"{place} is a link that leads out of {home}; delete the link, or choose another folder")
    return place


def remove_parts(folder: Path) -> None:
    """Remove what killed processes left half written in a folder where nobody else writes now."""
    for left in folder.glob(f".{'[0-9a-f]' * 16}{PART}"):
        left.unlink(missing_ok=True)


@contextlib.contextmanager
def writing(folder: Path) -> Iterator[None]:
    """Turn the operating system's refusals into one sentence about the folder."""
    try:
        yield
    except (OSError, SafetensorError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UsageError(f"cannot write to {folder}: {reason}; choose another folder") from error


def sha256(path: Path) -> str:
    with open_file(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
