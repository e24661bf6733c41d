"""A task from a file of items: one JSON object a line, with an input and its answer."""

from __future__ import annotations

import dataclasses
import functools
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Self

import numpy as np
from numpy.typing import NDArray

from lengthwise.errors import UsageError
from lengthwise.seeds import Draws, Ints
from lengthwise.tasks import tasks
from lengthwise.tasks.batch import Samples
from lengthwise.tasks.chance import Chance, chance_between, chance_of_sample
from lengthwise.tasks.jsonl_reader import LENGTHS, Items, load
from lengthwise.tasks.task import Axis, Task


@tasks.register("jsonl")
@dataclass(frozen=True)
class JsonLines(Task):
    """Give the answer that a file of items holds for the input.

    The line `{"input": "3 1 2", "answer": "1 2 3"}` is the item `3 1 2` → `1 2 3`. Every text of the file is split at
    white space if any of them holds some, and into characters if none does; a list is taken as it is. `size` is the
    name of a column of whole numbers, or "input length" or "answer length". A share `held_out` of the inputs, chosen by
    a digest of each, is kept for testing; at a size where that leaves nothing to train on or nothing to test on, all
    items serve both.
    """

    path: str
    size: str = "input length"
    held_out: float = 0.1
    split: Literal["all", "train", "test"] = "all"

    def __post_init__(self) -> None:
        if not 0 <= self.held_out < 1:
            raise UsageError(f"held_out is a share of the items, at least 0 and below 1, not {self.held_out}")

    @property
    def symbols(self) -> tuple[str, ...]:
        return self._items.symbols

    @property
    def axes(self) -> tuple[Axis, ...]:  # pyright: ignore[reportIncompatibleVariableOverride]  # the file decides
        sizes = self._items.groups
        return (
            Axis(self.size, LENGTHS.get(self.size, f"what the column {self.size!r} counts"), min(sizes), max(sizes)),
        )

    def has(self, size: int) -> bool:
        return size in self._items.groups

    def part(self, role: Literal["train", "test"]) -> Self:
        return dataclasses.replace(self, split=role)

    def shared_sizes(self) -> list[int]:
        """The sizes at which training and testing see the same items, because one of them would have none."""
        held = {size: self._held(group.rows) for size, group in self._items.groups.items()}
        return [size for size, mask in held.items() if mask.all() or not mask.any()]

    def warnings(self) -> list[str]:
        shared = self.shared_sizes()
        if not shared:
            return []
        sizes = ", ".join(map(str, shared[:8])) + (f" and {len(shared) - 8} more" if len(shared) > 8 else "")
        return [f"{self.path}: no item is held out at size {sizes}, so what is tested there was trained on"]

    def sample(self, size: int, draws: Draws) -> Samples:
        pool, group = self._pools[size], self._items.groups[size]
        rows = pool[draws.integers(0, len(pool), 1)[:, 0]]
        inputs, answers = self._items.inputs, self._items.answers
        return Samples(inputs.filled(rows, group.input_width), answers.filled(rows, group.answer_width))

    def chance(self, size: int) -> Chance:
        """The guess that is best on the items for training, scored on those held out; where none is held out, the guess
        of one half of the items scored on the other."""
        held, width = self._held(self._items.groups[size].rows), self._items.groups[size].answer_width
        answers = self._items.answers.filled(self._items.groups[size].rows, width)
        if held.all() or not held.any():
            return chance_of_sample(answers, self.readout)
        return chance_between(answers[~held], answers[held], self.readout)

    def solve(self, prompt: Sequence[str]) -> Sequence[str]:
        row = self._items.row_of(prompt)
        if row is None:
            raise UsageError(f"{self.path} has no input `{' '.join(prompt)}`, so its answer is not known")
        return self._items.spelled(self._items.answers.row(row))

    @functools.cached_property
    def _items(self) -> Items:
        """Read at first use, so that a spec can be rebuilt where the file is not at hand; from then on it is fixed."""
        try:
            stat = os.stat(self.path)
            return load(self.path, self.size, (stat.st_dev, stat.st_ino, stat.st_mtime_ns, stat.st_size))
        except OSError as error:
            raise UsageError(f"{self.path} cannot be read: {error.strerror or error}") from None

    @functools.cached_property
    def _pools(self) -> dict[int, Ints]:
        """size → the rows this part draws from."""
        pools = {size: group.rows for size, group in self._items.groups.items()}
        if self.split != "all":
            for size in pools.keys() - set(self.shared_sizes()):
                pools[size] = pools[size][self._held(pools[size]) == (self.split == "test")]
        return pools

    def _held(self, rows: Ints) -> NDArray[np.bool_]:
        """Which of the rows are held out: those whose digest lies in the first share of all digests."""
        return self._items.digests[rows] < np.uint64(int(self.held_out * 2.0**64))
