"""The items of one level of a ladder: drawn once, the same for every model that climbs it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from lengthwise.errors import UsageError
from lengthwise.models.transformer import Transformer
from lengthwise.seeds import Seeds
from lengthwise.tasks.batch import Batch, pack, rows_of, stacked, trimmed
from lengthwise.tasks.ladder import Level
from lengthwise.tasks.task import Task

Texts = tuple[str, ...]


@dataclass(frozen=True, eq=False)
class LevelItems:
    """Prompts and true answers as symbols, and the same laid out for a decoder, one row per item, in the same order."""

    level: Level
    task: Task
    prompts: tuple[Texts, ...]
    answers: tuple[Texts, ...]
    batch: Batch

    def __len__(self) -> int:
        return len(self.prompts)

    @property
    def width(self) -> int:
        """The tokens that the longest item is read with."""
        return self.batch.inputs.shape[1]

    @property
    def longest(self) -> int:
        """The tokens of the longest answer, the last `<eos>` included."""
        return int(self.batch.scored.sum(axis=1).max())

    @property
    def room(self) -> int:
        """The tokens that are read while an answer twice as long as the longest is written behind any prompt."""
        return int(self.batch.scored.argmax(axis=1).max()) + 2 * self.longest

    def first(self, count: int) -> LevelItems:
        """The first items alone."""
        some = trimmed(rows_of(self.batch, slice(count)))
        return LevelItems(self.level, self.task, self.prompts[:count], self.answers[:count], some)


def draw_items(level: Level, count: int, seed: int) -> LevelItems:
    """`count` test items at a level. Its sizes take turns, so that the first few are spread over them as all are."""
    task, sizes = level.task.part("test"), level.sizes
    batches, prompts, answers, turns = [], [], [], []
    for turn, size in enumerate(sizes[:count]):
        numbers = range(len(range(turn, count, len(sizes))))
        samples = task.draw(size, seed, numbers, role="test")
        batches.append(pack(samples, task.readout))
        prompts += [task.spelled(row) for row in samples.prompts]
        answers += [task.spelled(row) for row in samples.answers]
        turns += [number * len(sizes) + turn for number in numbers]
    order = np.argsort(turns)
    batch = trimmed(rows_of(stacked(batches), order))
    return LevelItems(level, task, tuple(prompts[i] for i in order), tuple(answers[i] for i in order), batch)


def positions_for(model: Transformer, items: LevelItems, seed: int) -> Tensor:
    """The positions of a level, [1, places]: as many as are needed to write answers twice as long as the longest.

    Fewer where the encoding ends before that, and where a longer sequence has other positions from its start on (a
    random choice of them is made for a length): there they reach as far as the longest item does.
    """
    position, shape, seeds = model.architecture.position, model.shape, Seeds(Seeds(seed).key("ladder positions"))
    if not position.beyond_training and items.width > shape.rows:
        raise UsageError(
            f"the model has {shape.rows} positions and the level {items.level.name} needs {items.width}; "
            "train it with as many rows as the longest level has tokens"
        )
    room = items.room if position.beyond_training else max(min(items.room, shape.rows), items.width)
    least = position.indices(items.width, 1, shape, seeds, False)
    most = position.indices(room, 1, shape, seeds, False)
    return most if torch.equal(most[:, : items.width], least) else least
