"""Where tokens come from: a stream of stretches that is the same each time it is asked for, and what is known of it.

A run's items are here; texts are in `texts`.
"""

from __future__ import annotations

import abc
import dataclasses
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.messages import explain
from lengthwise.probes.guarantee import GuaranteeProbe
from lengthwise.probes.guarantee.losses import Rows, Stretch
from lengthwise.records import Assumption, Kind
from lengthwise.seeds import Ints, Seeds
from lengthwise.subjects.predictor import Predictor
from lengthwise.subjects.run import StoredRun
from lengthwise.tasks.sizes import name_of
from lengthwise.training.batches import Batches

WORK = 1 << 40  # weights times tokens of a stretch: some seconds to half a minute
SMALLEST, LARGEST = 1 << 12, 1 << 18  # predicted tokens of a stretch
PART = 1 << 13  # tokens of the small part on which quantisers are compared
BLOCK = 1024  # items that are counted at once


@dataclass(frozen=True)
class DataStanding:
    """What the data are to the model, and so what a bound made from them is.

    kind                  certified, predicted or heuristic
    of_data               what every bound assumes of the data
    of_documents          and what a bound that counts documents assumes
    tokens, documents     the size of the training set of which the data are a uniform sample; None: they are all of it
    drawn                 whether the sample was drawn here, by chance
    tokens_alone          whether tokens are a sample one by one, because there are no documents
    """

    kind: Kind
    of_data: tuple[Assumption, ...]
    of_documents: tuple[Assumption, ...]
    tokens: int | None = None
    documents: int | None = None
    drawn: bool = False
    tokens_alone: bool = False


class TokenSource(abc.ABC):
    """Data in reading order. `described` is for people; `settings` decide what is read, and go into the digest."""

    described: str
    settings: dict[str, object]
    standing: DataStanding
    documents: int  # how many there are to read
    expected: int | None  # predicted tokens, where that is known before reading

    @abc.abstractmethod
    def stretches(self, tokens: int) -> Iterator[Stretch]:
        """The data in stretches of about this many predicted tokens, the same at every call."""


def stretch_tokens(predictor: Predictor) -> int:
    """How many tokens a stretch has: a power of two, fewer for a larger model."""
    wanted = max(SMALLEST, min(LARGEST, WORK // max(1, predictor.parameters)))
    return 1 << (wanted.bit_length() - 1)


def small_part(source: TokenSource, predictor: Predictor, limit: int | None) -> Stretch:
    """The beginning of the data."""
    most = PART if predictor.parameters <= 20_000_000 else 1024
    first = next(limited(source.stretches(most), min(most, limit or most)), None)
    if first is None or not first.tokens:
        raise UsageError(f"there is no token to predict; a document needs two tokens ({source.described})")
    return first


def expected_tokens(source: TokenSource, part: Stretch, limit: int | None) -> int:
    """About how many tokens there are in all."""
    about = source.expected
    if about is None:
        seen = len(np.unique(np.concatenate([rows.documents for rows in part.rows])))
        about = round(part.tokens / seen * source.documents)
    return min(about, limit) if limit else about


def limited(stretches: Iterator[Stretch], limit: int | None) -> Iterator[Stretch]:
    """The first `limit` predicted tokens of a stream."""
    left = math.inf if limit is None else limit
    for stretch in stretches:
        yield stretch if stretch.tokens <= left else _cut(stretch, int(left))
        left -= stretch.tokens
        if left <= 0:
            return


def _cut(stretch: Stretch, most: int) -> Stretch:
    """The first `most` predicted tokens in reading order."""
    order = np.concatenate([rows.order for rows in stretch.rows])
    counts = np.concatenate([rows.batch.scored.sum(axis=1) for rows in stretch.rows])
    reading, before = np.argsort(order, kind="stable"), np.empty_like(counts)
    before[reading] = np.cumsum(counts[reading])
    left = np.clip(most - (before - counts), 0, counts)  # how many tokens each row keeps
    kept, first = [], 0
    for rows in stretch.rows:
        some, batch = left[first : first + len(rows.order)], rows.batch
        first += len(rows.order)
        scored = batch.scored & (batch.scored.cumsum(axis=1) <= some[:, None])
        if len(whole := np.flatnonzero(some)):
            kept.append(Rows(dataclasses.replace(batch, scored=scored), rows.documents, rows.order).some(whole))
    return Stretch(tuple(kept))


def cut_after(asked: GuaranteeProbe) -> str:
    return f", of which the first {asked.limit:,} predicted tokens" if asked.limit else ""


def drawn_evenly(count: int, sample: int, seed: int, what: str) -> Ints:
    """The numbers of a uniform sample without replacement, ascending."""
    return np.sort(np.random.default_rng(Seeds(seed).key(f"sample of {what}")).choice(count, sample, replace=False))


# --- the training items of a run ------------------------------------------------------------------------------------

explain(
    {
        "guarantee.own_items": "the data are the items that the run was trained on, drawn again from its plan",
        "guarantee.drawn_items": "given their sizes, items are drawn independently, each by its own number",
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
            raise UsageError("a run's training items are known; leave out the numbers of tokens and documents")
        if asked.window is not None:
            raise UsageError("a run's items are read whole; leave out the window")
        recipe = run.recipe
        self.batches = Batches(self.task, recipe, run.train_sizes, run.seed, True)
        self.items = recipe.steps * recipe.batch
        sample = asked.sample if asked.sample is not None and asked.sample < self.items else None
        self.chosen = np.arange(self.items) if sample is None else drawn_evenly(self.items, sample, seed, "items")
        of = "" if sample is None else f" drawn evenly from {self.items:,}"
        self.described = (
            f"{len(self.chosen):,} items{of} of {name_of(self.task)}, those of the run's own training drawn again from "
            f"its plan{cut_after(asked)}"
        )
        if run.steps < recipe.steps:
            seen = run.steps * recipe.batch
            self.described += f"; training ended early and saw {seen:,} of the {self.items:,} that were planned"
        self.settings = {"data": run.digest, "sample": sample, "seed": seed}
        self.documents, self.expected = len(self.chosen), None
        own, drawn, sampled = (Assumption(f"guarantee.{key}_items", "checked") for key in ("own", "drawn", "sampled"))
        self.standing = DataStanding("certified", (own,), (drawn,))
        if sample is not None:
            tokens = self._tokens_of_all() if count else None
            self.standing = DataStanding("certified", (own, sampled), (drawn,), tokens, self.items, drawn=True)

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
        """How many tokens all items have together; drawn to be counted where a size's items differ in length."""
        numbers = np.arange(self.items)
        return sum(self.laid_out(numbers[at : at + BLOCK]).tokens for at in range(0, self.items, BLOCK))
