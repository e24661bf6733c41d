"""Faults of a machine in every process of a study, its workers too: with this folder on PYTHONPATH, Python imports this
file as it starts. LENGTHWISE_FAULTS names the faults, separated by spaces.

clock        the time of day jumps by up to ten years, back and forth, as do the times of files
late         the last file of a run appears a second after its worker said that it is done, as on a network file system
refused:P    while the file P exists, no file can be made or brought to disk; P holds the number of the error
"""

from __future__ import annotations

import os
import random
import threading
import time
from typing import Any

_YEARS = 10 * 365 * 86_400
_now, _move, _open, _sync = time.time, os.replace, os.open, os.fsync


def clock(_: str) -> None:
    def now() -> float:
        return max(1.0, _now() + random.uniform(-_YEARS, _YEARS))

    def move(source: Any, target: Any, **more: Any) -> None:
        _move(source, target, **more)
        os.utime(target, (now(), now()))

    time.time, os.replace = now, move


def late(_: str) -> None:
    def move(source: Any, target: Any, **more: Any) -> None:
        if os.path.basename(target) != "run.json":
            _move(source, target, **more)
        else:
            aside = f"{source}.late"
            _move(source, aside)
            threading.Timer(1.0, _move, (aside, target)).start()

    os.replace = move


def refused(flag: str) -> None:
    def check(path: Any) -> None:
        if os.path.exists(flag):
            with open(flag) as file:
                number = int(file.read())
            raise OSError(number, os.strerror(number), path)

    def opened(path: Any, flags: int, *more: Any, **named: Any) -> int:
        if flags & os.O_CREAT:
            check(path)
        return _open(path, flags, *more, **named)

    def synced(number: Any) -> None:
        check(None)
        _sync(number)

    os.open, os.fsync = opened, synced


for fault in os.environ.get("LENGTHWISE_FAULTS", "").split():
    name, _, setting = fault.partition(":")
    {"clock": clock, "late": late, "refused": refused}[name](setting)
