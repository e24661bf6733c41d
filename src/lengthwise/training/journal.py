"""The journal of a training run: a file with one line per check, `[step, loss, share of in-range items right]`.

It lets others follow a run while it is training, without reading anything twice: lines are only ever added, and a run
that resumes replaces the file by one that holds what its checkpoint knows. The record of a finished run holds the same
numbers, so the journal is then removed. Needs no torch.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from lengthwise.errors import UsageError
from lengthwise.files import write_text, writing
from lengthwise.reading import MOST_TEXT, open_file

Entry = tuple[int, float, float | None]


def begin_journal(path: Path, losses: Sequence[tuple[int, float]], checks: Sequence[tuple[int, float]]) -> None:
    """Write the journal of a run that begins, or resumes with this history."""
    shares = dict(checks)
    with writing(path.parent):
        write_text(path, "".join(_line(step, loss, shares.get(step)) for step, loss in losses))


def add_to_journal(path: Path, step: int, loss: float, share: float | None) -> None:
    with writing(path.parent):
        number = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
        with os.fdopen(number, "a", encoding="utf-8") as file:
            file.write(_line(step, loss, share))


@dataclass
class JournalReader:
    """Reads a journal that grows. `entries` are those found so far, `seconds` is the time of the last change, and
    `turn` counts how often the file was replaced."""

    path: Path
    entries: list[Entry] = field(default_factory=list)
    turn: int = 0
    seconds: float = 0.0
    _file: int = -1
    _read: int = 0

    def look(self) -> bool:
        """Read what was added since the last look; whether that was anything. A missing file adds nothing."""
        try:
            with open_file(self.path) as file:
                found = os.fstat(file.fileno())
                replaced = found.st_ino != self._file or found.st_size < self._read
                if replaced:
                    self.turn, self._file, self._read, self.entries = self.turn + 1, found.st_ino, 0, []
                self.seconds = found.st_mtime
                file.seek(self._read)
                added = file.read(MOST_TEXT)
        except (OSError, UsageError):
            return False
        whole = added[: added.rfind(b"\n") + 1]  # the last line may still be in the making
        self._read += len(whole)
        new = [entry for line in whole.splitlines() if (entry := _entry(line))]
        self.entries += new
        return bool(new) or replaced


def _line(step: int, loss: float, share: float | None) -> str:
    return json.dumps([step, loss, share]) + "\n"


def _entry(line: bytes) -> Entry | None:
    """What a line says; None where it is damaged."""
    try:
        step, loss, share = json.loads(line)
        good = type(step) is int and isinstance(loss, float) and abs(loss) < float("inf")
        return (step, loss, share if isinstance(share, float) else None) if good else None
    except (ValueError, TypeError, RecursionError):
        return None
