"""A one-step model applied to its own output until it says stop, at any size, and what goes wrong on the way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lengthwise.probes.probe import Context, Probe, probes
from lengthwise.records import Record

if TYPE_CHECKING:
    from lengthwise.subjects.subject import Subject
    from lengthwise.tasks.task import Task


@probes.register("recursion")
@dataclass(frozen=True)
class RecursionProbe(Probe):
    """Whole chains of reasoning steps, run by a model that was trained on single steps (such as parity_columns).

    Nobody tells the model how many steps are right; it stops where its own output says so.
    """

    needs = ("transformer",)

    def sizes(self, task: Task, train_size: int, test_size: int) -> Sequence[int]:
        """The training size, twice that and so on, and the test size."""
        found, size = {test_size}, train_size
        while size < test_size:
            found.add(size)
            size *= 2
        return sorted(size for size in found if task.has(size))

    def measure(self, subject: Subject, context: Context) -> Record:
        from lengthwise.probes.recursion.walk import walk_subject

        return walk_subject(subject, context).record()
