"""Stopping where it does no harm: between two steps, or after a call that must not be cut short."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType
from typing import Any, Self


class Stop:
    """While this context is open, the first Ctrl-C (or SIGTERM) only sets `asked`; a second Ctrl-C interrupts at once.

    Signals can be caught in the main thread alone; in any other thread this does nothing.
    """

    def __init__(self) -> None:
        self.asked = 0  # the number of the signal, once one came
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                self._before[number] = signal.signal(number, self._ask)
        return self

    def _ask(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002
        if self.asked:
            raise KeyboardInterrupt
        self.asked = number

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def held_back() -> Iterator[None]:
    """A Ctrl-C inside the block has its effect when the block is left.

    Reading safetensors needs it: an interruption inside its compiled code comes out as a ValueError about shapes.
    """
    with Stop() as stop:
        yield
    if stop.asked:
        signal.raise_signal(stop.asked)
