"""Limits on time that hold on a slow or a busy machine too: they grow with what a fixed piece of work takes there."""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Callable, Iterator

REFERENCE = 0.015  # seconds of the fixed work on the idle machine where the limits were set


def slowness() -> float:
    """How many times slower than the reference this machine is now; never below 1."""
    taken = []
    for _ in range(3):
        began = time.process_time()
        _fixed_work()
        taken.append(time.process_time() - began)
    return max(1.0, min(taken) / REFERENCE)


@contextlib.contextmanager
def within(seconds: float, clock: Callable[[], float] = time.process_time) -> Iterator[None]:
    """Fails if what is done inside takes longer than `seconds` of the processor on the reference machine."""
    before, began = slowness(), clock()
    yield
    taken = clock() - began
    allowed = seconds * max(before, slowness())
    assert taken < allowed, f"it took {taken:.2f} s, and {allowed:.2f} s are allowed"


def children() -> float:
    """Seconds of the processor that the ended child processes took."""
    times = os.times()
    return times.children_user + times.children_system


def _fixed_work() -> None:
    rows = [{"number": n, "name": str(n), "values": [n / 7, n % 5]} for n in range(3000)]
    assert sorted(json.loads(json.dumps(rows)), key=lambda row: row["name"])
