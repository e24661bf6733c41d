"""Stopping between two steps instead of in the middle of one."""

from __future__ import annotations

import signal
import threading
from types import FrameType
from typing import Any, Self


class Stop:
    """While this context is open, the first Ctrl-C (or SIGTERM) only sets `asked`; a second Ctrl-C interrupts at once.

    Signals can be caught in the main thread alone; in any other thread this does nothing.
    """

    def __init__(self) -> None:
        self.asked = False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                self._before[number] = signal.signal(number, self._ask)
        return self

    def _ask(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
