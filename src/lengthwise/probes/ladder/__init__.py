"""A ladder of shifts: what a model gets right at each level beyond training, what it writes, what happens inside."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lengthwise.errors import UsageError
from lengthwise.probes.probe import Context, Passes, Probe, probes
from lengthwise.records import Record
from lengthwise.tasks.ladder import ladder_of

if TYPE_CHECKING:
    from lengthwise.subjects.subject import Subject
    from lengthwise.tasks.task import Task


@probes.register("ladder")
@dataclass(frozen=True)
class LadderProbe(Probe):
    """Errors, calibration, written answers and inner states at each level of a task's ladder of shifts.

    At each level `items` are read with the true answer given, `decoded` of them are answered freely, and the states of
    `inside` are looked at.
    """

    needs = ("transformer", "anatomy")
    measures_shifts = True
    items: int = 48
    decoded: int = 16
    inside: int = 16

    def __post_init__(self) -> None:
        if not (self.items >= 2 and 1 <= self.decoded <= self.items and 1 <= self.inside <= self.items):
            raise UsageError(
                "a ladder needs at least 2 items per level, of which at least 1 must be decoded and 1 looked into, not "
                f"{self.items}, {self.decoded} and {self.inside}"
            )

    def passes(self, task: Task, train_size: int, causal: bool) -> Sequence[Passes]:
        """At each level the items are read at once, and some are written, which takes one pass per token."""
        try:
            widths = _widths(task, train_size, causal)
        except TypeError:  # a user's task that cannot be hashed
            widths = _widths.__wrapped__(task, train_size, causal)
        read = [Passes(self.items + self.inside, tokens) for tokens in widths]
        return [*read, *(Passes(self.decoded, tokens, tokens) for tokens in widths)]

    def measure(self, subject: Subject, context: Context) -> Record:
        from lengthwise.probes.ladder.climb import climb

        return climb(self, subject, context).record()


@functools.lru_cache(maxsize=256)
def _widths(task: Task, train_size: int, causal: bool) -> tuple[int, ...]:
    """The tokens of the longest row of each level. All plans of a study ask, and finding them takes a tenth of a
    second."""
    return tuple(level.task.width(max(level.sizes), causal) for level in ladder_of(task, train_size))
