"""How often guessing is right on a task, for curves that were never measured."""

from __future__ import annotations

import functools

from lengthwise.tasks import tasks


@functools.cache
def chance_of(task: str, size: int) -> tuple[float, float]:
    """The shares of items and of symbols that are stored with a curve; some numbers where there is no such task."""
    try:
        found = tasks.make(task).chance(size)
    except ValueError:  # a usage error, or a name that no file can have
        return 0.1, 0.5
    return found.exact, found.token
