"""From a subject and a task to a curve: one forward pass per item."""

from __future__ import annotations

import bisect
import math
from collections.abc import Callable, Iterator, Sequence

from lengthwise.errors import LengthwiseError, OutOfPositions, UsageError
from lengthwise.models.transformer import Transformer
from lengthwise.positions import positions
from lengthwise.probes.curve.curve import Curve, Point
from lengthwise.probes.probe import Context
from lengthwise.seeds import Seeds
from lengthwise.subjects.answers import Answers
from lengthwise.subjects.subject import Subject
from lengthwise.tasks.batch import Batch
from lengthwise.tasks.sizes import name_of
from lengthwise.tasks.task import Task

_CELLS = 2_000_000  # attention logits a chunk of items may have in one layer: small enough for the cache
_UNKNOWN = ""  # the encoding of a subject that says nothing about one


def measure_curve(subject: Subject, context: Context) -> Curve:
    """The accuracy of a subject on test items of the context's task, at each of its sizes."""
    task = context.task
    assert task is not None
    position = _UNKNOWN
    if subject.offers("transformer"):
        position = positions.text_of(subject.capability("transformer").architecture.position)
    answers, sizes, items = subject.capability("answers"), sorted(set(context.sizes)), context.items

    def told(point: Point) -> None:
        context.progress(f"size {point.size}: {point.exact:.0%} exact", sizes.index(point.size) + 1, len(sizes))

    points = measure_sizes(answers, task.part("test"), sizes, 200 if items is None else items, context.seed, told)
    train_size = sizes[0] - 1 if context.train_size is None else context.train_size
    return Curve(name_of(task), position, train_size, context.seed, points, task.certain)


def measure_sizes(
    answers: Answers,
    task: Task,
    sizes: Sequence[int],
    items: int,
    seed: int,
    done: Callable[[Point], None] = lambda _: None,
) -> tuple[Point, ...]:
    """The points of a curve at each of these sizes; `done` is called with each."""
    if items < 1:
        raise UsageError(f"items per size is at least 1, not {items}")
    if not sizes:
        raise UsageError("the task has no items in the range of sizes asked for")
    _check_positions(answers, task, max(sizes), seed)
    points = []
    for size in sizes:
        points.append(measure_size(answers, task, size, items, seed))
        done(points[-1])
    return tuple(points)


def measure_size(answers: Answers, task: Task, size: int, items: int, seed: int) -> Point:
    """What a subject gets right at one size. For a Transformer O(items x depth x (T width^2 + T^2 width)), T tokens at
    this size."""
    marked = answers.mark(task, size, range(items), seed)
    chance = task.chance(size)
    loss = math.nan if marked.losses is None else float(marked.losses.mean())
    if marked.losses is not None and not math.isfinite(loss):
        raise LengthwiseError(f"the loss is {loss} at size {size}; a smaller learning rate in training usually helps")
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


def measured_batches(model: Transformer, task: Task, size: int, items: int, seed: int) -> Iterator[tuple[Batch, Seeds]]:
    """The test items of a size in chunks that fit into memory, each with the seeds of its positions."""
    causal = model.architecture.causal
    tokens = task.width(size, causal)
    chunk = max(1, min(items, _CELLS // (tokens * tokens * model.architecture.heads)))
    for first in range(0, items, chunk):
        batch = task.batch(size, seed, range(first, min(items, first + chunk)), role="test", causal=causal)
        yield batch, Seeds(Seeds(seed).key("test positions", size, first))


def _check_positions(answers: Answers, task: Task, largest: int, seed: int) -> None:
    """Refuse, before the work, a size for which the encoding has no positions; the sentence says how far it goes."""

    def refusal(size: int) -> OutOfPositions | None:
        try:
            answers.mark(task, size, range(1), seed)
        except OutOfPositions as error:
            return error
        return None

    if error := refusal(largest):
        smaller = task.sizes(1, largest - 1)
        within = bisect.bisect_left(smaller, True, key=lambda size: refusal(size) is not None)
        furthest = f"which can be measured up to size {smaller[within - 1]}" if within else "as are all smaller sizes"
        raise UsageError(f"size {largest} is out of reach of this model, {furthest}: {error}") from error
