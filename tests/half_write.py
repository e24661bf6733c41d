"""An index as a writer leaves it that is killed in the middle of a transaction."""

from __future__ import annotations

import os
import signal
import sqlite3
from pathlib import Path


def half_write(index: Path) -> None:
    """Change every row in a process that is killed before it commits; a cache of one page puts the changes on disk."""
    child = os.fork()
    if child == 0:
        db = sqlite3.connect(index)
        db.execute("pragma cache_size = 1")
        db.execute("update runs set state = 'failed', detail = detail || detail")
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
