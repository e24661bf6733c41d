"""What a task is called, and how far it goes."""

from __future__ import annotations

import bisect

from lengthwise.errors import UsageError
from lengthwise.limits import MOST_SIZE, check_count
from lengthwise.registry import format_spec
from lengthwise.tasks import tasks
from lengthwise.tasks.task import Task


def name_of(task: Task) -> str:
    """The text a task is asked for by; the name of its class where nobody registered it."""
    spec = tasks.spec_of(task)
    return format_spec(spec) if spec else type(task).__name__


USUAL_TRAIN_SIZE = 20


def default_train_size(task: Task) -> int:
    """20; where a task ends before three times that, a third of its last size, so that there is something beyond."""
    furthest = 3 * USUAL_TRAIN_SIZE
    known = task.sizes(1, furthest)
    if not known or not _ends_at(known[-1], task, furthest):
        return USUAL_TRAIN_SIZE
    return max(known[0], known[-1] // 3)


def default_test_size(task: Task, train_size: int) -> int:
    """Three times the training size, or where the task ends if that comes first."""
    check_count(train_size, "train_size", MOST_SIZE)
    known = task.sizes(1, 3 * train_size)
    return max(train_size, known[-1]) if known and _ends_at(known[-1], task, 3 * train_size) else 3 * train_size


_INSIDE = (1 / 8, 1 / 4, 1 / 2, 3 / 4, 1)  # of the training size
_OCTAVE = (1.25, 1.5, 2)  # of the size before, and so on from there


def geometric_sizes(task: Task, train_size: int, test_size: int) -> list[int]:
    """Few sizes that show how a curve ends: the smallest, five more up to the training size, then three in each
    doubling up to the test size. Where the task has no such size, the next smaller one it has.

    >>> geometric_sizes(task, 20, 160)      # doctest: +SKIP
    [1, 2, 5, 10, 15, 20, 25, 30, 40, 50, 60, 80, 100, 120, 160]
    """
    known = task.sizes(1, test_size)
    wanted, doubling = [share * train_size for share in _INSIDE], float(train_size)
    while doubling < test_size:
        wanted += [factor * doubling for factor in _OCTAVE]
        doubling *= 2
    wanted = [float(known[0]), *(size for size in wanted if size < test_size), float(test_size)] if known else []
    places = (bisect.bisect_right(known, size) for size in wanted)
    return sorted({known[place - 1] for place in places if place})


def check_reaches(task: Task, size: int) -> None:
    """Refuse a size beyond the end of a task; a size in a gap between two others is fine."""
    known = task.sizes(1, size)
    if known and _ends_at(known[-1], task, size):
        more = ": a larger alphabet=… goes further" if isinstance(getattr(task, "alphabet", None), int) else ""
        raise UsageError(f"the task {name_of(task)} ends at size {known[-1]}, below the test size {size}{more}")


def _ends_at(last: int, task: Task, size: int) -> bool:
    return last < size and not task.sizes(size + 1, 2 * size + 10)
