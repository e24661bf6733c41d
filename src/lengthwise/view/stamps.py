"""Whether a file or a folder may have changed since the last look, from what the file system says of it."""

from __future__ import annotations

import os
import time
from pathlib import Path

_TICK = 100_000_000  # nanoseconds within which two changes may have the same time


class Watched:
    """A path. A folder changes when a file in it is made, replaced or removed, as all files of runs are; what was
    changed within the last tick is looked at once more, as a second change would not be seen."""

    def __init__(self, path: Path) -> None:
        self.path, self.seconds = path, 0.0
        self._stamp: tuple[int, int, int] | None = None
        self._unsure = True

    def changed(self) -> bool:
        """Whether it may have changed since this was asked last. What is not there is an OSError."""
        found = os.stat(self.path)
        stamp = found.st_ino, found.st_mtime_ns, found.st_size
        changed = stamp != self._stamp or self._unsure
        self.seconds = found.st_mtime
        self._stamp, self._unsure = stamp, abs(time.time_ns() - found.st_mtime_ns) < _TICK
        return changed
