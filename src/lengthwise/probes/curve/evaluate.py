"""From a subject and a task to a curve: one forward pass per item."""

from __future__ import annotations

import bisect
import math

from lengthwise.errors import OutOfPositions, UsageError
from lengthwise.positions import positions
from lengthwise.probes.curve.curve import Curve, Point
from lengthwise.probes.probe import Context
from lengthwise.subjects.subject import Answers, Subject
from lengthwise.subjects.symbols import MappedAnswers
from lengthwise.tasks.sizes import name_of
from lengthwise.tasks.task import Task


def measure_curve(subject: Subject, context: Context) -> Curve:
    """The accuracy of a subject on test items of the context's task, at each of its sizes."""
    assert context.task is not None
    task, seed, sizes = context.task.part("test"), context.seed, sorted(set(context.sizes))
    answers, items = subject.capability("answers"), 200 if context.items is None else context.items
    if items < 1:
        raise UsageError(f"items per size must be at least 1, not {items}")
    if not sizes:
        raise UsageError("the task has no items in the range of sizes asked for")
    check_positions(answers, task, sizes[-1], items, seed)
    points = []
    for number, size in enumerate(sizes, start=1):
        points.append(measure_size(answers, task, size, items, seed))
        context.progress(f"size {size}: {points[-1].exact:.0%} exact", number, len(sizes))
    position = ""  # of a subject that says nothing about its encoding
    if subject.offers("transformer"):
        position = positions.text_of(subject.capability("transformer").architecture.position)
    return Curve(name_of(context.task), position, context.train_size or 0, seed, tuple(points), task.certain)


def measure_size(answers: Answers, task: Task, size: int, items: int, seed: int) -> Point:
    """What a subject gets right at one size. For a Transformer O(items x depth x (T width^2 + T^2 width)), T tokens at
    this size."""
    marked = answers.mark(task, size, range(items), seed)
    chance = task.chance(size)
    loss = math.nan if marked.losses is None else float(marked.losses.mean())
    if marked.losses is not None and not math.isfinite(loss):
        raise UsageError(f"the loss is {loss} at size {size}; a smaller learning rate in training usually helps")
    return Point(
        size=size,
        last=size,
        items=items,
        right=int(marked.items.sum()),
        tokens=0 if marked.tokens is None else len(marked.tokens),
        tokens_right=0 if marked.tokens is None else int(marked.tokens.sum()),
        loss=loss,
        chance=chance.exact,
        token_chance=chance.token,
        chance_error=chance.exact_error,
    )


def check_positions(answers: Answers, task: Task, largest: int, items: int, seed: int) -> None:
    """Refuse, before the work, a size for which the encoding has no positions; the sentence says how far it goes."""

    def refusal(size: int) -> OutOfPositions | None:
        try:
            if isinstance(answers, MappedAnswers):
                answers.rows(task, size, range(items), seed)  # of all items: they differ in length
            else:
                answers.mark(task, size, range(1), seed)
        except OutOfPositions as error:
            return error
        return None

    if error := refusal(largest):
        smaller = task.sizes(1, largest - 1)
        within = bisect.bisect_left(smaller, True, key=lambda size: refusal(size) is not None)
        furthest = f"which can be measured up to size {smaller[within - 1]}" if within else "as are all smaller sizes"
        raise UsageError(f"size {largest} is out of reach of this model, {furthest}: {error}") from error
