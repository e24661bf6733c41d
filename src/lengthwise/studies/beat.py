"""The sign of life of a worker: a small file that changes as the work gets on."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lengthwise.files import write_text, writing

BEAT = "beat.json"
_PAUSE = 0.5  # seconds between two beats at least


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
