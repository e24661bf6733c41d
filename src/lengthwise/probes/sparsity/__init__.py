"""How sparse trained attention is, by size and layer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lengthwise.errors import UsageError
from lengthwise.messages import explain
from lengthwise.probes.probe import Context, Probe, probes
from lengthwise.records import Claim, Column, Record, Table

if TYPE_CHECKING:
    from lengthwise.subjects.subject import Subject
    from lengthwise.tasks.task import Task

STRETCHES = 3  # looked at where training ends, at twice and at three times that
ROWS = "sparsity.rows"

explain(
    {
        "sparsity.entropy": "entropy of attention, layer {layer}, size {size}",
        "sparsity.best": "weight of the best key, layer {layer}, size {size}",
    }
)


@dataclass(frozen=True)
class Sparsity:
    """The attention of one layer on test items of one size: means over items, heads and the places that are asked for
    an answer.

    `entropy` is that of the weights of a query, in nats; `uniform` what it would be if all keys a query sees had the
    same weight; `best` is the weight of the key that has most. One key with all the weight is entropy 0 and best 1.
    """

    size: int
    layer: int  # counted from 1
    items: int
    entropy: float
    uniform: float
    best: float


@probes.register("sparsity")
@dataclass(frozen=True)
class SparsityProbe(Probe):
    """The entropy of trained attention and the weight of the best key, by layer."""

    needs = ("transformer", "anatomy")
    items: int = 32

    def sizes(self, task: Task, train_size: int, test_size: int) -> Sequence[int]:
        return looked_at(task.sizes(1, test_size), train_size)

    def measure(self, subject: Subject, context: Context) -> Record:
        from lengthwise.probes.sparsity.rows import measure_sparsity

        if context.task is None:
            raise UsageError(f"say which task to ask {subject.name}")
        rows = measure_sparsity(subject, context, self.items)
        last = [row for row in rows if row.size == max(context.sizes)]
        claims = [
            Claim(f"sparsity.{key}", getattr(row, key), unit, "measured", evidence=vars(row))
            for row in last
            for key, unit in (("entropy", "nats"), ("best", ""))
        ]
        table = Table(ROWS, _COLUMNS, tuple(tuple(vars(row).values()) for row in rows), "attention by size and layer")
        return Record("sparsity", title="sparsity of attention", claims=tuple(claims), tables=(table,))


_COLUMNS = (
    *(Column(name, "whole") for name in ("size", "layer", "items")),
    Column("entropy", "number", "entropy in nats"),
    Column("uniform", "number", "entropy of even attention"),
    Column("best", "share", "weight of the best key"),
)


def looked_at(sizes: Sequence[int], train_size: int) -> list[int]:
    """The largest of the sizes in each stretch as wide as the training range; a stretch without sizes is left out."""
    stretches = [[size for size in sizes if k * train_size < size <= (k + 1) * train_size] for k in range(STRETCHES)]
    return [max(stretch) for stretch in stretches if stretch]
