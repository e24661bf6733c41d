"""Who works in a folder: a lock that the operating system lets go of when its holder dies, however it dies, and a
sign of life."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import io
import json
import os
import platform
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from lengthwise.errors import UsageError
from lengthwise.files import write_text, writing
from lengthwise.reading import MOST_TEXT, open_file, read_json_file

LOCK, BEAT = ".lock", "beat.json"
_PAUSE = 0.5  # seconds between two beats at least
_MOMENT = 0.5  # seconds within which somebody who only looks at the lock (see `holder`) has let go of it again


@contextlib.contextmanager
def locked(folder: Path, what: str, patience: float = 0.0) -> Iterator[None]:
    """Hold the folder's lock inside the block; when somebody else holds it for longer than `patience` seconds, refuse
    with a sentence that names the holder. The file stays: removing it would let two holders in."""
    with _opened(folder / LOCK) as file:
        began = time.monotonic()
        while not _taken(file, fcntl.LOCK_EX):
            if time.monotonic() - began >= max(patience, _MOMENT):
                raise UsageError(f"{what} in {folder} is in use by {_name(file)}; wait until it ends")
            time.sleep(0.05)
        file.seek(0)
        file.truncate()
        file.write(f"process {os.getpid()} on {platform.node()}")
        file.flush()
        yield


def holder(folder: Path) -> str | None:
    """Who holds the folder's lock now, or None; nothing is written, so it works where one may only read."""
    try:
        with io.TextIOWrapper(open_file(folder / LOCK), encoding="utf-8", errors="replace") as file:
            return None if _taken(file, fcntl.LOCK_SH) else _name(file)
    except (OSError, UsageError):  # no such file, or one that we may not open: nobody that we know of
        return None


def _taken(file: IO[str], way: int) -> bool:
    try:
        fcntl.flock(file, way | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _name(file: IO[str]) -> str:
    file.seek(0)
    return " ".join(file.read().split()) or "another process"


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[IO[str]]:
    """The lock file; what the file system refuses is told in one sentence, and errors of the block pass."""
    try:
        number = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise UsageError(f"{path} is a link, not a lock; delete it, or give another folder") from error
        raise UsageError(f"cannot lock {path.parent}: {error.strerror}; give a folder that can be written") from error
    file = os.fdopen(number, "r+", encoding="utf-8", errors="replace")
    with file:
        yield file


def read_beat(folder: Path) -> dict[str, Any] | None:
    """The last sign of life of the run in a folder; None where there is none, or none that can be read."""
    try:
        content = read_json_file(folder / BEAT, MOST_TEXT)
    except UsageError:
        return None
    if not isinstance(content, dict):
        return None
    done = {"done": content["done"]} if isinstance(content.get("done"), str) else {}
    return {**done, **{name: content[name] for name in ("step", "steps") if _is_number(content.get(name))}} or None


def _is_number(value: Any) -> bool:
    """Whether JSON can hold it as a number."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < float("inf")


class Beat:
    """The sign of life of a run: a small file with how far it is, changed as the work gets on."""

    def __init__(self, path: Path) -> None:
        self._path, self._last = path, 0.0

    def __call__(self, content: Mapping[str, Any]) -> None:
        if time.monotonic() - self._last < _PAUSE:
            return
        with writing(self._path.parent):
            write_text(self._path, json.dumps(content))
        self._last = time.monotonic()
