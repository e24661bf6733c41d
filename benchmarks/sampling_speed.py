"""Tokens per second drawn by tasks, in batches of 64 items of size 20: sampling should never hold up training."""

from __future__ import annotations

import contextlib
import sys
import time

from rows import Row, standalone

from lengthwise.errors import UsageError
from lengthwise.tasks import tasks
from lengthwise.tasks.task import Task

SIZE, ITEMS, TARGET = 20, 64, 2e6
SIMPLE = ("binary_majority", "majority", "copy_repeat", "copy_unique", "parity", "sort")


def tokens_a_second(task: Task, size: int, rounds: int) -> float:
    """The speed of the median batch; the first one, which fills caches, is not counted."""
    speeds = []
    for step in range(rounds + 1):
        began = time.perf_counter()
        batch = task.batch(size, 0, range(step * ITEMS, (step + 1) * ITEMS))
        speeds.append(batch.inputs.size / (time.perf_counter() - began))
    return sorted(speeds[1:])[rounds // 2]


def others() -> dict[str, tuple[Task, int]]:
    """Every other task that can be made without settings, with its size nearest to 20."""
    found = {}
    for name in tasks.names():
        with contextlib.suppress(UsageError):  # a task that needs settings says so
            task = tasks.make(name)
            if name not in SIMPLE and (sizes := task.sizes(1, 3 * SIZE)):
                found[name] = task, min(sizes, key=lambda size: abs(size - SIZE))
    return found


def rows(quick: bool = False) -> list[Row]:
    rounds = 20 if quick else 200
    result = []
    for name in SIMPLE:
        speed = tokens_a_second(tasks.make(name), SIZE, rounds)
        result.append(Row(f"sampling, {name}", speed, "tokens/s", least=TARGET))
    speeds = {name: tokens_a_second(task, size, max(3, rounds // 20)) for name, (task, size) in others().items()}
    slowest = min(speeds, key=lambda name: speeds[name])
    result.append(Row(f"sampling, the slowest of {len(speeds)} others: {slowest}", speeds[slowest], "tokens/s"))
    return result


if __name__ == "__main__":
    sys.exit(standalone(rows, __doc__))
