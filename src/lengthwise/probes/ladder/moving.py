"""Positions moved, on the items that the ladder has at its training level: what the probe `index_shift` measures."""

from __future__ import annotations

import numpy as np
from torch import Tensor

from lengthwise.errors import OutOfPositions, UsageError
from lengthwise.models.transformer import Transformer
from lengthwise.probes.index_shift import IndexShift, IndexShiftProbe, MovedItems, reaches
from lengthwise.probes.ladder.climb import ITEMS_SEED
from lengthwise.probes.ladder.decoding import Taught, read_items
from lengthwise.probes.ladder.level_items import LevelItems, draw_items
from lengthwise.probes.probe import Context
from lengthwise.seeds import Seeds
from lengthwise.subjects.subject import Subject
from lengthwise.tasks.ladder import ladder_of
from lengthwise.tasks.sizes import name_of


def moved(probe: IndexShiftProbe, subject: Subject, context: Context) -> IndexShift:
    """The risk on the items of the training level, unmoved and moved as far as each longer level reaches."""
    model, task = subject.capability("transformer"), context.task
    if task is None or context.train_size is None:
        raise UsageError(f"an index shift is measured in the training range, and that of {subject.name} is not known")
    if not model.architecture.causal or task.readout == "numbers":
        raise UsageError("an index shift is measured of a decoder that writes tokens; encoders and number tasks differ")
    if model.architecture.position.from_task:
        raise UsageError(f"the positions of this model come from the task {name_of(task)}, so they cannot be moved")
    items = draw_items(ladder_of(task, context.train_size)[0], probe.items, ITEMS_SEED)
    (_, nearest), *further = reaches(task, context.train_size).items()
    at = _positions(model, items)
    still = read_items(model, items.batch, at)
    rows = []
    for number, (level, tokens) in enumerate(further, start=1):
        rows.append(_moved(model, items, at, tokens - nearest, level, still))
        context.progress(f"positions moved by {tokens - nearest}", number, len(further))
    return IndexShift(tuple(still.errors.tolist()), tuple(rows))


def _positions(model: Transformer, items: LevelItems) -> Tensor:
    """The positions of the longest item, as the ladder gives them."""
    seeds = Seeds(Seeds(ITEMS_SEED).key("ladder positions"))
    return model.architecture.position.indices(items.width, 1, model.shape, seeds, False)


def _moved(model: Transformer, items: LevelItems, at: Tensor, shift: int, level: str, still: Taught) -> MovedItems:
    try:
        taught = read_items(model, items.batch, at + shift)
    except OutOfPositions:
        return MovedItems(level, shift, None, None)
    changed = float(np.mean((taught.best != still.best)[still.scored]))
    return MovedItems(level, shift, tuple(taught.errors.tolist()), changed)
