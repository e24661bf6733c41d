"""How far the numbers that a model gives are from the right ones, by size: on average and at worst."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lengthwise.errors import UsageError
from lengthwise.messages import explain, sentence
from lengthwise.probes.probe import Context, Passes, Probe, probes
from lengthwise.records import Claim, Record, Table, columns
from lengthwise.tasks.sizes import geometric_sizes, name_of

if TYPE_CHECKING:
    from lengthwise.subjects.subject import Subject
    from lengthwise.tasks.task import Task

ERRORS = "errors.sizes"
_COLUMNS = columns(
    "size:whole | items:whole | average:number average error | worst:number largest error seen | "
    "dirichlet:number average, Dirichlet prompts"
)
explain(
    {
        "errors.average": "average error at size {size}",
        "errors.worst": "largest error seen at size {size}",
        "errors.dirichlet": "average error at size {size}, Dirichlet prompts",
        "errors.what": "The error of an item is the largest absolute difference between the numbers given and the "
        "right ones. The largest error of {items} items is a lower bound of the worst case.",
        "errors.dirichlet_law": "For Dirichlet prompts the probabilities of the symbols are drawn from "
        "Dirichlet({alpha:g}) for each item, and given them the symbols are independent.",
        "errors.not_numbers": (
            "errors are measured only for answers that are real numbers, which those of {task} are not; use a "
            "task such as simple_task, modp_task or kgram_law"
        ),
    }
)


@probes.register("errors")
@dataclass(frozen=True)
class ErrorsProbe(Probe):
    """The error of real-valued answers by size: the average, the largest, and the average over Dirichlet prompts.

    Items are drawn as the task draws them. If the task has a setting `dirichlet`, items with `dirichlet=alpha` are
    asked as well; with `alpha` 0 they are not. The sizes are six in the training range and three in each doubling
    beyond it.
    """

    needs = ("answers",)
    alpha: float = 1.0

    def __post_init__(self) -> None:
        if not self.alpha >= 0:
            raise UsageError(f"alpha is above 0, or 0 to leave Dirichlet prompts out, not {self.alpha:g}")

    def sizes(self, task: Task, train_size: int, test_size: int) -> Sequence[int]:
        return geometric_sizes(task, train_size, test_size)

    def passes(self, task: Task, train_size: int, causal: bool) -> Sequence[Passes]:  # noqa: ARG002
        check_numbers(task)
        return ()

    def measure(self, subject: Subject, context: Context) -> Record:
        if context.task is None:
            raise UsageError(f"say which task to ask {subject.name}")
        check_numbers(context.task)
        task, items = context.task.part("test"), context.items or 200
        spread = with_dirichlet(task, self.alpha)
        answers, rows, sizes = subject.capability("answers"), [], sorted(set(context.sizes))
        for number, size in enumerate(sizes, start=1):
            errors = item_errors(answers, task, size, items, context.seed)
            even = None if spread is None else float(item_errors(answers, spread, size, items, context.seed).mean())
            rows.append((size, items, float(errors.mean()), float(errors.max()), even))
            context.progress(f"size {size}: average error {rows[-1][2]:.3g}", number, len(sizes))
        text = [sentence("errors.what", {"items": items})]
        text += [] if spread is None else [sentence("errors.dirichlet_law", {"alpha": self.alpha})]
        return Record(
            source="errors",
            title=f"errors by size, {name_of(task)}",
            text=tuple(text),
            claims=tuple(_claims(rows[-1])) if rows else (),
            tables=(Table(ERRORS, _COLUMNS, tuple(rows), "errors by size"),),
            data={"train_size": context.train_size, "seed": context.seed},
        )


def check_numbers(task: Task) -> None:
    """Refuse a task whose answers are not numbers."""
    if task.readout != "numbers":
        raise UsageError(sentence("errors.not_numbers", {"task": name_of(task)}))


def with_dirichlet(task: Task, alpha: float) -> Task | None:
    """The task with Dirichlet prompts; None where it has no such setting, or none are wanted."""
    own: Any = task
    known = dataclasses.is_dataclass(task) and any(field.name == "dirichlet" for field in dataclasses.fields(own))
    return dataclasses.replace(own, dirichlet=alpha) if known and alpha else None


def item_errors(answers: Any, task: Task, size: int, items: int, seed: int) -> Any:
    """The largest absolute error among the numbers of each item, [items]."""
    import numpy as np

    losses = answers.mark(task, size, range(items), seed).losses
    if losses is None:
        raise UsageError("this model is marked right or wrong only; errors need the numbers it gives")
    return np.sqrt(np.asarray(losses, dtype=np.float64).reshape(items, -1)).max(axis=1)


def _claims(row: Sequence[Any]) -> list[Claim]:
    size, items, *values = row
    found = zip(("average", "worst", "dirichlet"), values, strict=True)
    evidence = {"size": size, "items": items}
    return [
        Claim(f"errors.{name}", value, "", "measured", evidence=evidence) for name, value in found if value is not None
    ]
