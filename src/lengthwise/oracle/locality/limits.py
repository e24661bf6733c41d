"""A time limit on code that is not ours."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator

from lengthwise.errors import UsageError


@contextlib.contextmanager
def time_limit(seconds: float, sentence: str) -> Iterator[None]:
    """End what runs inside after `seconds` with a usage error. Only in the main thread, and where there are signals."""
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield
        return

    def stop(*_: object) -> None:
        raise UsageError(sentence)

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
