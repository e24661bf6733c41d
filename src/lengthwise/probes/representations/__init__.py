"""What a model has learned of its contexts: its last hidden states compared with those of random networks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lengthwise.bounds.contexture.summary import BETA, MOST_DIMENSIONS
from lengthwise.errors import UsageError
from lengthwise.probes.probe import Context, Probe, probes
from lengthwise.records import Column, Record, Table

if TYPE_CHECKING:
    from lengthwise.subjects.subject import Subject
    from lengthwise.tasks.task import Task


@probes.register("representations")
@dataclass(frozen=True)
class RepresentationsProbe(Probe):
    """How well the last hidden states are aligned with the contexts of a task, next to those of random networks.

    One place of each of `items` test items is looked at; `twins` is the number of random networks.
    """

    needs = ("transformer",)
    items: int = 2000
    twins: int = 3
    beta: float = BETA
    most_dimensions: int = MOST_DIMENSIONS

    def sizes(self, task: Task, train_size: int, test_size: int) -> Sequence[int]:  # noqa: ARG002
        return [max(task.sizes(1, train_size))]

    def measure(self, subject: Subject, context: Context) -> Record:
        from lengthwise.probes.representations.states import contexture_of

        if context.task is None or len(context.sizes) != 1:
            raise UsageError("hidden states are compared on one task at one size")
        found = contexture_of(self, subject.capability("transformer"), context)
        rows = tuple((place, value) for place, value in enumerate(found.squares.tolist(), start=1))
        columns = (Column("number", "whole"), Column("square", "number", "squared singular value"))
        return Record(
            "representations",
            title=found.what,
            text=(f"{found.how[:1].upper()}{found.how[1:]}.",),
            claims=(*found.claims, *found.representation, *found.random),
            tables=(Table("representations.spectrum", columns, rows, "spectrum of the contexts", detail=True),),
        )
