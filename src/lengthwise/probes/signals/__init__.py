"""Signals that need no labels, by size: how sure a model is of its own answers, and what length does to its attention
and to its residual stream."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lengthwise.errors import UsageError
from lengthwise.messages import explain, sentence
from lengthwise.probes.probe import Context, Probe, probes
from lengthwise.records import Claim, Record, Table, columns
from lengthwise.tasks.sizes import geometric_sizes, name_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from lengthwise.subjects.subject import Subject
    from lengthwise.tasks.task import Task

SIZES, ITEMS = "signals.sizes", "signals.items"
SIGNALS = ("margin", "confidence", "entropy", "norm")
_UNITS = {"margin": "nats", "confidence": "share", "entropy": "share", "norm": ""}
_COLUMNS = columns(
    "size:whole | items:whole | margin | confidence:share | entropy:share entropy of attention / ln n | "
    "norm:number norm of the residual stream"
)
explain(
    {
        "signals.margin": "margin of the model's own answers at size {size} ({first:.3g} at size {first_size})",
        "signals.confidence": "confidence in whole answers at size {size} ({first:.3g} at size {first_size})",
        "signals.entropy": "entropy of attention at size {size} ({first:.3g} at size {first_size})",
        "signals.norm": "norm of the last residual stream at size {size} ({first:.3g} at size {first_size})",
        "signals.no_logits": "the answers of this task are numbers, which have neither margin nor confidence",
        "signals.no_attention": "the layers of this model are not known, so entropy and norm are left out",
    }
)


@probes.register("signals")
@dataclass(frozen=True)
class SignalsProbe(Probe):
    """Margin, confidence, entropy of attention and norm of the residual stream by size, from inputs alone.

    A model is asked `items` inputs per size and writes its answers itself. The margin of an answer is the least
    difference between the best and the second-best logit at its places; its confidence is the product of the
    probabilities of its tokens; both are medians over items. The entropy of attention is divided by that of even
    attention and averaged over layers, heads and the places of the answers; so is the norm of the last residual stream.
    With `by_item` there is a table of the confidence in each item as well.
    """

    needs = ("answers",)
    items: int = 32
    by_item: bool = False

    def __post_init__(self) -> None:
        if self.items < 1:
            raise UsageError(f"items must be at least 1, not {self.items}")

    def sizes(self, task: Task, train_size: int, test_size: int) -> Sequence[int]:
        return geometric_sizes(task, train_size, test_size)

    def measure(self, subject: Subject, context: Context) -> Record:
        from lengthwise.probes.signals.reading import measure_confidences, measure_signals

        if context.task is None:
            raise UsageError(f"say which task to ask {subject.name}")
        if not context.sizes:
            raise UsageError("the task has no items in the range of sizes asked for")
        found = measure_signals(subject, context, self.items)
        rows = tuple((size, self.items, *map(here.get, SIGNALS)) for size, here in found.items())
        tables = [_item_table(measure_confidences(subject, context, self.items))] if self.by_item else []
        lacking = [] if context.task.readout != "numbers" else ["signals.no_logits"]
        lacking += [] if subject.offers("anatomy") else ["signals.no_attention"]
        return Record(
            source="signals",
            title=f"signals without labels, {name_of(context.task)}",
            text=tuple(f"{said[:1].upper()}{said[1:]}." for said in map(sentence, lacking)),
            claims=tuple(_claims(found, self.items)),
            tables=(Table(SIZES, _COLUMNS, rows, "signals by size"), *tables),
        )


def _item_table(found: Mapping[int, NDArray[np.float64]]) -> Table:
    rows = tuple((size, number, float(one)) for size, values in found.items() for number, one in enumerate(values))
    return Table(ITEMS, columns("size:whole | item:whole | confidence:share"), rows, "confidence by item", detail=True)


def _claims(found: dict[int, dict[str, float]], items: int) -> list[Claim]:
    """Each signal at the largest size, next to its value at the smallest."""
    (first_size, first), (size, last) = min(found.items()), max(found.items())
    about = {"size": size, "first_size": first_size, "items": items}
    return [
        Claim(f"signals.{name}", last[name], _UNITS[name], "measured", evidence={**about, "first": first[name]})
        for name in SIGNALS
        if name in last and name in first
    ]
