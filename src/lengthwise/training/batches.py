"""Which items make up the batch of a step: of one size, or pooled and sorted by length where items differ in length.

Traces of one size differ in length many times over, and a batch is as long as its longest row. With a pool of K
batches, K batches of items are drawn at once, sorted by length and cut into K batches, which come in random order. A
batch is a function of (seed, step), whichever step is asked for first.
"""

from __future__ import annotations

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.seeds import Ints, Seeds
from lengthwise.tasks.batch import Batch, lengths_of, rows_of, stacked, trimmed
from lengthwise.tasks.task import Task
from lengthwise.training.recipe import Recipe


class Batches:
    """The batches of a training run."""

    def __init__(self, task: Task, recipe: Recipe, sizes: list[int], seed: int, causal: bool) -> None:
        if recipe.pool > 1 and not (causal and task.readout != "numbers"):
            what = "answers that are numbers" if causal else "a model that is not causal"
            raise UsageError(f"a pool mixes items of different widths, which {what} cannot have; use pool 1")
        self.task, self.recipe, self.sizes, self.seed, self.causal = task, recipe, sizes, seed, causal
        self._pool: tuple[int, list[Batch]] = (-1, [])

    def at(self, step: int) -> Batch:
        """The batch of a step, counted from 0."""
        if self.recipe.pool == 1:
            items = range(step * self.recipe.batch, (step + 1) * self.recipe.batch)
            return self.task.batch(int(self.sizes_of([step])[0]), self.seed, items, causal=self.causal)
        number, place = divmod(step, self.recipe.pool)
        if self._pool[0] != number:
            self._pool = (number, self._drawn(number))
        return self._pool[1][place]

    def sizes_of(self, at: list[int]) -> Ints:
        """The size of each of these steps; in a pool, of each of these items."""
        count = self.recipe.steps * (self.recipe.batch if self.recipe.pool > 1 else 1)
        uniform = Seeds(self.seed).draws("size", items=at).uniform(1)[:, 0].tolist()
        drawn = [
            self.recipe.sizes.draw(self.sizes, min(1.0, one / count), u) for one, u in zip(at, uniform, strict=True)
        ]
        return np.array(drawn, dtype=np.int64)

    def _drawn(self, number: int) -> list[Batch]:
        batch, pool = self.recipe.batch, self.recipe.pool
        items = np.arange(number * pool * batch, (number + 1) * pool * batch)
        sizes = self.sizes_of(items.tolist())
        parts = [self.task.batch(int(size), self.seed, items[sizes == size]) for size in np.unique(sizes)]
        whole = stacked(parts)
        order = np.argsort(lengths_of(whole), kind="stable").reshape(pool, batch)
        shuffled = np.random.default_rng(Seeds(self.seed).key("pool", number)).permutation(pool)
        return [trimmed(rows_of(whole, rows)) for rows in order[shuffled]]
