"""The training items of a run of ours, drawn again from its plan."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.messages import explain
from lengthwise.probes.guarantee import GuaranteeProbe
from lengthwise.probes.guarantee.losses import Rows, Stretch
from lengthwise.probes.guarantee.source import DataStanding, TokenSource
from lengthwise.records import Assumption
from lengthwise.seeds import Ints, Seeds
from lengthwise.subjects.run import StoredRun
from lengthwise.tasks.sizes import name_of
from lengthwise.training.batches import Batches

BLOCK = 1024  # items that are counted at once

explain(
    {
        "guarantee.own_items": "the data are the items that the run was trained on, drawn again from its plan",
        "guarantee.drawn_items": "items are drawn independently, each by its own number, once their sizes are",
        "guarantee.sampled_items": "the items used are a uniform random sample of them, drawn after training",
    }
)


class ItemSource(TokenSource):
    """All items that the plan of a run foresees, or a uniform sample of them. An item is a document, and the positions
    that are asked for are its tokens.

    Items are read in the order of their numbers, in which they were drawn independently; batches that are sorted by
    length would depend on later items. Their number is that of the plan, fixed before training, even where training
    stopped early: items that it did not reach count as well as those it saw. Every number is drawn once, so no item
    comes twice but by chance. With another `role` they are fresh items of the same sizes. `count`: find out how many
    tokens all items have, of which a sample is a part.
    """

    def __init__(
        self, run: StoredRun, asked: GuaranteeProbe, seed: int = 0, role: str = "train", count: bool = True
    ) -> None:
        self.run, self.role = run, role
        self.task = run.task.part("train")
        if self.task.readout == "numbers":
            raise UsageError(
                f"the answers of {name_of(self.task)} are numbers; a bound of tokens needs answers or tags"
            )
        if asked.tokens is not None or asked.documents is not None:
            raise UsageError("the training items of a run are known; leave out the numbers of tokens and documents")
        if asked.window is not None:
            raise UsageError("the items of a run are read whole; leave out the window")
        recipe = run.recipe
        self.batches = Batches(self.task, recipe, run.train_sizes, run.seed, True)
        self.items = recipe.steps * recipe.batch
        sampled = asked.sample is not None and asked.sample < self.items
        self.chosen = _chosen(self.items, asked.sample, seed) if sampled else np.arange(self.items)
        of = f" drawn evenly from {self.items:,}" if sampled else ""
        cut_after = f", of which the first {asked.limit:,} predicted tokens" if asked.limit else ""
        self.described = (
            f"{len(self.chosen):,} items{of} of {name_of(self.task)}, those of the run's own training drawn again from "
            f"its plan{cut_after}"
        )
        if run.steps < recipe.steps:
            seen = run.steps * recipe.batch
            self.described += f"; training ended early and saw {seen:,} of the {self.items:,} that were planned"
        self.settings = {"data": run.digest, "sample": asked.sample if sampled else None, "seed": seed}
        self.documents, self.expected = len(self.chosen), None
        self.standing = _standing(len(self.chosen), self.items, self._tokens_of_all() if sampled and count else None)

    def stretches(self, tokens: int) -> Iterator[Stretch]:
        at_once = max(1, tokens // self.task.width(self.run.train_sizes[-1]))
        for first in range(0, len(self.chosen), at_once):
            yield self.laid_out(self.chosen[first : first + at_once])

    def sizes_of(self, items: Ints) -> Ints:
        """The size of each item: drawn for its step, or for the item itself where batches are pooled."""
        if self.run.recipe.pool > 1:
            return self.batches.sizes_of(items.tolist())
        steps, back = np.unique(items // self.run.recipe.batch, return_inverse=True)
        return self.batches.sizes_of(steps.tolist())[back]

    def laid_out(self, items: Ints) -> Stretch:
        """Items by their numbers, those of a size together."""
        sizes, rows = self.sizes_of(items), []
        for size in np.unique(sizes):
            some = items[sizes == size]
            rows.append(Rows(self.task.batch(int(size), self.run.seed, some, role=self.role), some, some))
        return Stretch(tuple(rows))

    def _tokens_of_all(self) -> int:
        """How many tokens all items have together; drawn to be counted where items of a size differ in length."""
        numbers = np.arange(self.items)
        return sum(self.laid_out(numbers[at : at + BLOCK]).tokens for at in range(0, self.items, BLOCK))


def _chosen(items: int, sample: int | None, seed: int) -> Ints:
    generator = np.random.default_rng(Seeds(seed).key("sample of items"))
    return np.sort(generator.choice(items, sample, replace=False))


def _standing(looked_at: int, items: int, tokens: int | None) -> DataStanding:
    own = Assumption("guarantee.own_items", "checked")
    drawn = Assumption("guarantee.drawn_items", "checked")
    if looked_at == items:
        return DataStanding("certified", (own,), (drawn,))
    sample = Assumption("guarantee.sampled_items", "checked")
    return DataStanding("certified", (own, sample), (drawn,), tokens, items, drawn=True)
