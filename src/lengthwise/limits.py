"""What is out of reach: counts that no machine holds, work whose memory or time is beyond a limit, and code of the
user's that does not end.

A plan is refused before it starts, with what it would take and the limit. Inside `with lifted():`, which is what
`--yes` enters, estimates and time limits refuse nothing; counts that are only ever mistakes are refused all the same.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections.abc import Iterator
from contextvars import ContextVar
from types import FrameType

from lengthwise.errors import OutOfReach, UsageError

LARGEST = 2**63 - 1  # what a whole number may be, wherever it is written
MOST_SIZE = 1_000_000  # of an item
MOST_SETTING = 1_000_000  # a whole number in the spec of a task, such as the letters of an alphabet
MOST_COUNT = 1_000_000_000  # items, steps and whatever else is counted
MOST_SEEDS = 1000
MOST_SECONDS = 30 * 86_400.0  # of a run
MOST_STUDY_SECONDS = 365 * 86_400.0  # of a study with all its workers
MOST_MEMORY = 0.9  # of what the machine has
SIMULATED_SECONDS = 600.0  # of one simulation
PACED_SECONDS = 20.0  # after which the pace of a simulation says how long it will take
USER_SECONDS = 60.0  # for one call of code of the user's
THINKING_SECONDS = 120.0  # for what is decided before training
_SHOWN = 40  # characters of a text that is quoted
AGAIN_SECONDS = 1.0  # after which a limit that was not heard ends its work again

_lifted: ContextVar[bool] = ContextVar("lifted", default=False)


@contextlib.contextmanager
def lifted(lift: bool = True) -> Iterator[None]:
    """Inside, no estimate of memory or time refuses work, and no time limit ends it.

    `lifted(False)` changes nothing.

    >>> with lw.lifted():                                       # doctest: +SKIP
    ...     lw.run_study("large.toml")
    """
    token = _lifted.set(lift or _lifted.get())
    try:
        yield
    finally:
        _lifted.reset(token)


def are_lifted() -> bool:
    return _lifted.get()


def check_count(value: int, what: str, most: int = MOST_COUNT) -> int:
    """The count, if a machine can hold that many."""
    if abs(value) > most:
        raise UsageError(f"{what} must be at most {most:,}, not {shown_count(value)}")
    return value


def whole_number(text: str, what: str, most: int = LARGEST) -> int:
    """The whole number that a text holds, if a machine can count so far; Python reads none of thousands of digits."""
    try:
        return check_count(int(text), what, most)
    except ValueError:
        raise UsageError(f"{what} must be a whole number, at most {most:,}, not {shown_text(text)}") from None


def shown_text(text: str) -> str:
    """A text in quotation marks, or its beginning, so that a sentence that names it fits a line or two."""
    return repr(text) if len(text) <= _SHOWN else f"{text[:_SHOWN]!r}… of {len(text):,} characters"


def shown_count(value: int) -> str:
    """A whole number in words that fit a line: Python refuses to write out one of thousands of digits."""
    if abs(value) <= LARGEST:
        return f"{value:,}"
    return f"a number of about {int(value.bit_length() * 0.30103) + 1:,} digits"


def machine_memory() -> int:
    """Bytes of memory that the machine has; without a limit where it does not say."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError, AttributeError):
        return LARGEST


def check_reach(what: str, memory: float = 0.0, seconds: float = 0.0, most: float = MOST_SECONDS) -> None:
    """Refuse work that would take more bytes of memory or more seconds than there are, unless limits are lifted."""
    if are_lifted():
        return
    held = MOST_MEMORY * machine_memory()
    if memory > held:
        raise OutOfReach(
            f"{what} would take about {_bytes(memory)} of memory, and the limit here is {_bytes(held)}; {_LIFT}"
        )
    if seconds > most:
        raise OutOfReach(f"{what} would take about {_duration(seconds)}, and the limit is {_duration(most)}; {_LIFT}")


class Patience:
    """Of work whose length nobody knows before it began: called with the share that is done, it refuses to continue
    once the pace so far says that the whole would take too long."""

    def __init__(self, what: str, most: float = SIMULATED_SECONDS) -> None:
        self.what, self.most, self.began = what, most, time.monotonic()

    def __call__(self, share: float) -> None:
        passed = time.monotonic() - self.began
        if passed > PACED_SECONDS:
            check_reach(self.what, seconds=passed / max(share, 1e-12), most=self.most)


_LIFT = "ask for less, or lift the limit by `with lengthwise.lifted():`"


@contextlib.contextmanager
def time_limit(what: str, seconds: float = USER_SECONDS, always: bool = False) -> Iterator[None]:
    """End what runs inside with a usage error once it has taken so long, unless limits are lifted; `always` also
    then, for a search that passes over what takes too long.

    Only where a signal can end it: in the main thread of a system that has timers. An outer limit that ends sooner
    stays in force. The signal repeats until it is heard: Python drops an exception that is raised inside a finalizer or
    a callback of the garbage collector.
    """
    usable = hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
    if (are_lifted() and not always) or not usable:
        yield
        return
    outer = signal.getitimer(signal.ITIMER_REAL)[0]
    if 0 < outer <= seconds:
        yield
        return

    def end(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
        raise OutOfReach(f"{what} took more than {seconds:g} s and was stopped; {_LIFT}")

    began, before = time.monotonic(), signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, seconds, AGAIN_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        if outer:
            signal.setitimer(signal.ITIMER_REAL, max(outer - (time.monotonic() - began), 1e-3), AGAIN_SECONDS)


def _bytes(count: float) -> str:
    for size, name in ((1e18, "EB"), (1e15, "PB"), (1e12, "TB"), (1e9, "GB"), (1e6, "MB")):
        if count >= size:
            return f"{count / size:,.3g} {name}"
    return f"{count:,.0f} bytes"


def _duration(seconds: float) -> str:
    days = seconds / 86_400
    if seconds < 2 * 3600:
        return f"{seconds / 60:,.0f} minutes"
    if days < 2:
        return f"{seconds / 3600:,.0f} hours"
    if days < 730:
        return f"{days:,.0f} days"
    years = days / 365.25
    return f"{years:,.0f} years" if years < 1e6 else f"{years:.0e} years"
