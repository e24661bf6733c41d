"""What a task is called, and how far it goes."""

from __future__ import annotations

from lengthwise.errors import UsageError
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
    known = task.sizes(1, 3 * train_size)
    return max(train_size, known[-1]) if known and _ends_at(known[-1], task, 3 * train_size) else 3 * train_size


def check_reaches(task: Task, size: int) -> None:
    """Refuse a size beyond the end of a task; a size in a gap between two others is fine."""
    known = task.sizes(1, size)
    if known and _ends_at(known[-1], task, size):
        more = ": a larger alphabet=… goes further" if isinstance(getattr(task, "alphabet", None), int) else ""
        raise UsageError(f"the task {name_of(task)} ends at size {known[-1]}, below the test size {size}{more}")


def _ends_at(last: int, task: Task, size: int) -> bool:
    return last < size and not task.sizes(size + 1, 2 * size + 10)
