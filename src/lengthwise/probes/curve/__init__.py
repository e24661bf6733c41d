"""Accuracy by size: exact match with intervals, and the reach, the largest size up to which it stays at 95 %."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from lengthwise.errors import UsageError
from lengthwise.messages import explain, sentence
from lengthwise.probes.probe import Context, Probe, probes
from lengthwise.records import Record
from lengthwise.tasks.sizes import geometric_sizes

if TYPE_CHECKING:
    from lengthwise.subjects.subject import Subject
    from lengthwise.tasks.task import Task

Grid = Literal["every", "geometric"]
explain({"curve.grid": "Only the sizes {sizes} were measured; nothing is said about those between them."})


@probes.register("curve")
@dataclass(frozen=True)
class CurveProbe(Probe):
    """Exact match by size, and the reach.

    The `grid` of sizes is "every" size up to the test size, or "geometric": six in the training range and three in each
    doubling beyond it, which makes 8 training sizes affordable. "Learned", "holds" and the reach are then about the
    sizes that were measured, and the record names them.

    With `generate` the answers are also written token by token, and the share of items on which the two agree is a
    claim of its own.
    """

    needs = ("answers",)
    generate: bool = False
    grid: Grid = "every"

    def __post_init__(self) -> None:
        if self.grid not in get_args(Grid):
            raise UsageError(f"the grid of a curve must be one of {', '.join(get_args(Grid))}, not {self.grid!r}")

    def sizes(self, task: Task, train_size: int, test_size: int) -> Sequence[int]:
        if self.grid == "geometric":
            return geometric_sizes(task, train_size, test_size)
        return super().sizes(task, train_size, test_size)

    def measure(self, subject: Subject, context: Context) -> Record:
        from lengthwise.probes.curve.evaluate import measure_curve

        if context.task is None:
            raise UsageError(f"say which task to ask {subject.name}")
        record = measure_curve(subject, context).record()
        text = [*record.text, *subject.remarks(context.task)]
        if self.grid == "geometric":
            text.append(sentence("curve.grid", {"sizes": ", ".join(map(str, sorted(set(context.sizes))))}))
        record = dataclasses.replace(record, text=tuple(text))
        if self.generate:
            from lengthwise.probes.curve.greedy import agreement

            claim = agreement(subject, context)
            record = dataclasses.replace(record, claims=(*record.claims, claim))
        return record
