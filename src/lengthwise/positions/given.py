"""Encodings whose positions come from the task: tokens that belong together share an id (`Task.ids`)."""

from __future__ import annotations

import abc
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from lengthwise.errors import OutOfPositions, UsageError
from lengthwise.positions import positions
from lengthwise.positions.encodings import networks
from lengthwise.positions.position import Position, Shape

if TYPE_CHECKING:
    from lengthwise.positions.networks.encoders import Encoder
    from lengthwise.seeds import Ints, Seeds


@dataclass(frozen=True)
class _FromTask(Position):
    """A table with one trained vector per id, added to the embedding. In training the ids of every item are moved on by
    a random step that keeps them within the `limit`; in testing by the `first` of these or by the one in the middle."""

    limit: int = 0
    start: Literal["first", "middle"] = "first"
    shift_invariant = False
    beyond_training = False
    from_task = True

    def __post_init__(self) -> None:
        if self.limit < 0:
            raise UsageError(f"{self._name} needs a limit of 1 or more, or 0 for the longest test, not {self.limit}")

    @property
    def _name(self) -> str:
        return positions.text_of(self)

    def build(self, shape: Shape) -> Encoder:
        return networks().IdEncoder(self._limit(shape) + 1, shape.width)

    def choose(self, length: int, items: int, shape: Shape, seeds: Seeds | None, training: bool) -> Ints:  # noqa: ARG002
        raise UsageError(
            f"the positions of {self._name} come from the ids that a task gives its tokens, and here tokens are read "
            "without a task"
        )

    def place(self, ids: Ints, shape: Shape, seeds: Seeds | None, training: bool) -> Ints:
        own, least = self._own(ids)
        highest, limit = own.max(axis=1, keepdims=True) + least, self._limit(shape)
        if (most := int(highest.max())) > limit:
            raise OutOfPositions(
                f"{self._name} has positions up to {limit}, too few for ids that need {most}; "
                f"train with limit={most} or more"
            )
        room = limit - highest
        if training and seeds is not None:
            steps = seeds.draws("start", items=range(len(ids))).integers(0, room + 1, 1)
        else:
            steps = room // 2 if self.start == "middle" else 0
        return np.where(own < 0, 0, own + least + steps)

    @abc.abstractmethod
    def _own(self, ids: Ints) -> tuple[Ints, int]:
        """The ids that are moved on, -1 for tokens whose position is always 0; and by how much at least."""

    def _limit(self, shape: Shape) -> int:
        return self.limit or shape.rows


@positions.register("coupled")
@dataclass(frozen=True)
class Coupled(_FromTask):
    """Tokens that the task couples share a trained vector, such as digits of equal significance (Cho et al. 2024).

    A token of id i, or -i, has position start + i. `<sep>` and signs without an id have the position `start`, next to
    that of the first symbol of the answer; `<bos>` has 0. In training the start is uniform over all that keep an item
    within `limit` (0: the number of tokens of the longest test; the largest id of the test and 1 is enough). In testing
    it is 1 as published, or with `start=middle` the one in the middle, as positions near both ends are seen less in
    training. The authors write operands from the highest digit down and sums from the lowest up, filled with zeros to
    one length, so that their ids fall where ours rise; `+` has the position of `=` there, and here that of the last
    digit.
    """

    def _own(self, ids: Ints) -> tuple[Ints, int]:
        own = np.abs(ids)
        own[:, 0] = -1  # <bos>
        return own, 1


@positions.register("abacus")
@dataclass(frozen=True)
class Abacus(_FromTask):
    """Digits are counted within their number, from 1 and in the order in which they are written (McLeish et al. 2024).

    A number is a run of tokens with ids; numbers are to be written from the lowest digit up. All other tokens have
    position 0. In training a random start is added, uniform over all that keep the item within `limit` (0: the number
    of tokens of the longest test), and in testing none, or with `start=middle` half of the largest. The authors draw
    it from 0 to 99 whatever the length, one per batch.
    """

    def _own(self, ids: Ints) -> tuple[Ints, int]:
        digits = ids > 0
        count = digits.cumsum(axis=1)
        before = np.maximum.accumulate(np.where(digits, 0, count), axis=1)  # digits of the numbers that have ended
        return np.where(digits, count - before, -1), 0
