"""From a model and a task to a curve: one forward pass an item."""

from __future__ import annotations

import bisect
import math
from collections.abc import Callable, Iterator, Sequence

import torch

from lengthwise.errors import LengthwiseError, OutOfPositions, UsageError
from lengthwise.measurement.curve import Point
from lengthwise.models.batches import Right, right_on
from lengthwise.models.transformer import Transformer
from lengthwise.seeds import Seeds
from lengthwise.tasks.batch import Batch
from lengthwise.tasks.task import Task

_CELLS = 2_000_000  # attention logits a chunk of items may have in one layer: small enough for the cache


def measured_batches(model: Transformer, task: Task, size: int, items: int, seed: int) -> Iterator[tuple[Batch, Seeds]]:
    """The test items of a size in chunks that fit into memory, each with the seeds of its positions."""
    causal = model.architecture.causal
    tokens = task.width(size, causal)
    chunk = max(1, min(items, _CELLS // (tokens * tokens * model.architecture.heads)))
    for first in range(0, items, chunk):
        batch = task.batch(size, seed, range(first, min(items, first + chunk)), role="test", causal=causal)
        yield batch, Seeds(Seeds(seed).key("test positions", size, first))


def measure_size(model: Transformer, task: Task, size: int, items: int, seed: int) -> Point:
    """What the model gets right at one size. O(items x depth x (T width^2 + T^2 width)), T tokens at this size."""
    parts: list[Right] = []
    for batch, seeds in measured_batches(model, task, size, items, seed):
        parts.append(right_on(model, task, batch, seeds))
    chance = task.chance(size)
    hits = torch.cat([part.tokens for part in parts])
    loss = float(sum(part.loss * len(part.tokens) for part in parts) / len(hits))
    if not math.isfinite(loss):
        raise LengthwiseError(f"the loss is {loss} at size {size}; a smaller learning rate in training usually helps")
    return Point(
        size=size,
        last=size,
        items=items,
        right=int(sum(part.items.sum() for part in parts)),
        tokens=len(hits),
        tokens_right=int(hits.sum()),
        loss=loss,
        chance=chance.exact,
        token_chance=chance.token,
        chance_error=chance.exact_error,
    )


def measure_model(
    model: Transformer,
    task: Task,
    sizes: Sequence[int],
    items: int,
    seed: int,
    report: Callable[[Point], None] | None = None,
) -> tuple[Point, ...]:
    """The points of a curve at each of these sizes; `report` hears of each as it is done."""
    if items < 1:
        raise UsageError(f"items per size is at least 1, not {items}")
    if not sizes:
        raise UsageError("the task has no items in the range of sizes asked for")
    model.eval()
    _check_positions(model, task, max(sizes), seed)
    points = []
    for size in sizes:
        points.append(measure_size(model, task, size, items, seed))
        if report:
            report(points[-1])
    return tuple(points)


def _check_positions(model: Transformer, task: Task, largest: int, seed: int) -> None:
    """Refuse, before the work, a size for which the encoding has no positions; the sentence says how far it goes."""

    def refusal(size: int) -> OutOfPositions | None:
        try:
            for batch, seeds in measured_batches(model, task, size, 1, seed):
                right_on(model, task, batch, seeds)
        except OutOfPositions as error:
            return error
        return None

    if error := refusal(largest):
        smaller = task.sizes(1, largest - 1)
        within = bisect.bisect_left(smaller, True, key=lambda size: refusal(size) is not None)
        furthest = f"which can be measured up to size {smaller[within - 1]}" if within else "as are all smaller sizes"
        raise UsageError(f"size {largest} is out of reach of this model, {furthest}: {error}") from error
