"""Failures: how many items are answered wrongly at each size, and the smallest of them with their first wrong token."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lengthwise.errors import UsageError
from lengthwise.messages import explain
from lengthwise.probes.probe import Context, Probe, probes
from lengthwise.records import Cell, Claim, Record, Table, columns
from lengthwise.tasks.sizes import name_of

if TYPE_CHECKING:
    from lengthwise.subjects.subject import Subject

ITEMS, SIZES = "failures.items", "failures.sizes"

explain({"failures.wrong": "items answered wrongly, {wrong} of {items}"})

_ITEM = columns("size:whole | item:whole | prompt:text | answer:text | place:whole first wrong | instead:text")
_SIZE = columns("size:whole | items:whole | wrong:whole | place:number first wrong, mean")
_NOTE = "place: tokens of the answer that are right before the first wrong one; instead: what the model gives there"


@probes.register("failures")
@dataclass(frozen=True)
class FailuresProbe(Probe):
    """The smallest items that are answered wrongly, each with its first wrong token, and how many fail at each size.

    `shown` is how many are listed.
    """

    needs = ("answers",)
    shown: int = 10

    def measure(self, subject: Subject, context: Context) -> Record:
        from lengthwise.probes.curve.evaluate import check_positions

        if context.task is None:
            raise UsageError(f"say which task to ask {subject.name}")
        task, answers = context.task.part("test"), subject.capability("answers")
        count, sizes = 200 if context.items is None else context.items, sorted(set(context.sizes))
        if count < 1 or not sizes:
            raise UsageError("there are no items in the range of sizes asked for")
        check_positions(answers, task, sizes[-1], count, context.seed)
        listed: list[tuple[Cell, ...]] = []
        by_size: list[tuple[Cell, ...]] = []
        for number, size in enumerate(sizes, start=1):
            marked = answers.mark(task, size, range(count), context.seed)
            wrong = (~marked.items).nonzero()[0].tolist()
            mean = None if marked.first_wrong is None or not wrong else float(marked.first_wrong[wrong].mean())
            by_size.append((size, count, len(wrong), mean))
            some = wrong[: max(0, self.shown - len(listed))]
            drawn = task.draw(size, context.seed, some, role="test") if some else None
            for row, item in enumerate(some):
                assert drawn is not None
                place = None if marked.first_wrong is None else int(marked.first_wrong[item])
                instead = "" if marked.instead is None else marked.instead[item]
                answer = drawn.answers[row]
                right = task.spelled(answer) if task.readout != "numbers" else (f"{one:g}" for one in answer)
                prompt = " ".join(task.spelled(drawn.prompts[row]))
                listed.append((size, item, prompt, " ".join(right), place, instead))
            context.progress(f"size {size}: {len(wrong)} of {count} wrong", number, len(sizes))
        counts = {"wrong": sum(int(row[2] or 0) for row in by_size), "items": count * len(sizes)}
        return Record(
            source="failures",
            title=f"failures, {name_of(context.task)}",
            text=subject.remarks(context.task),
            claims=(Claim("failures.wrong", counts["wrong"] / counts["items"], "", "measured", evidence=counts),),
            tables=(
                Table(ITEMS, _ITEM, tuple(listed), "the smallest failures", _NOTE),
                Table(SIZES, _SIZE, tuple(by_size), "failures by size", detail=True),
            ),
        )
