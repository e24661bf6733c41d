"""The card: what is known about a task before a model is trained on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lengthwise.oracle.opinion import Opinion, Verdict
from lengthwise.records import Claim
from lengthwise.tasks.task import Task

POSITIONS = ("none", "learned+offset", "learned", "rope", "alibi")


@dataclass(frozen=True)
class Card:
    """The verdict for each encoding, and the claims that hold whatever the encoding (training size, depth ...)."""

    task: str
    train_size: int
    test_size: int
    verdicts: Mapping[str, Verdict]
    claims: tuple[Claim, ...] = ()
    changes: tuple[str, ...] = field(default=())

    def plain(self) -> dict[str, Any]:
        return {
            "task": self.task,
            "train_size": self.train_size,
            "test_size": self.test_size,
            "verdicts": [verdict.plain() for verdict in self.verdicts.values()],
            "claims": [claim.plain() for claim in self.claims],
            "changes": list(self.changes),
        }


def check(
    task: Task,
    positions: Sequence[str] = POSITIONS,
    *,
    train_size: int,
    test_size: int,
    name: str = "",
    quick: bool = False,
) -> Card:
    """What every theory says about a task with each of the encodings. `quick` bounds the time to about a second."""
    return Card(
        name,
        train_size,
        test_size,
        {encoding: Verdict(encoding, _opinions(task, encoding, quick)) for encoding in positions},
    )


def _opinions(task: Task, encoding: str, quick: bool) -> tuple[Opinion, ...]:  # noqa: ARG001
    return ()
