"""What the oracle says about the cells of a study: one card a task and training size, whatever the number of runs.

A report must not be lost because a task is: a task that cannot be made any more, or that breaks when it is looked at,
has the verdict "unknown" with the reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from lengthwise.oracle.check import Card
from lengthwise.oracle.opinion import Opinion, Verdict
from lengthwise.records import Claim
from lengthwise.studies.cells import Cell
from lengthwise.tasks import tasks
from lengthwise.tasks.task import Task

FURTHEST = 3  # training lengths: as far as a cell is judged
_LONGEST_REASON = 200

Place = tuple[str, int, int]


class Oracle(Protocol):
    """What `lengthwise.oracle.check.check` is: a task, encodings and sizes in, a card with a verdict for each out."""

    def __call__(
        self, task: Task, positions: Sequence[str], *, train_size: int, test_size: int, name: str, quick: bool
    ) -> Card: ...


def verdicts(cells: Iterable[Cell], oracle: Oracle) -> dict[tuple[Place, str], Verdict]:
    """The verdict on every cell, by its place and encoding."""
    encodings: dict[Place, dict[str, None]] = {}
    for cell in cells:
        encodings.setdefault(place(cell), {})[cell.position] = None
    found = {}
    for where, names in encodings.items():
        said = _card(where, tuple(names), oracle)
        found.update({((where), name): said.get(name) or Verdict(name, ()) for name in names})
    return found


def place(cell: Cell) -> Place:
    """What a verdict depends on beside the encoding: the task, the training size and the largest size judged."""
    return cell.task, cell.train_size, min(cell.test_size, FURTHEST * cell.train_size)


def _card(where: Place, encodings: tuple[str, ...], oracle: Oracle) -> Mapping[str, Verdict]:
    name, train_size, test_size = where
    try:
        task = tasks.make(name)
    except Exception as error:  # any task of a user's may be gone, or be broken by now
        return _silent(encodings, f"the task cannot be rebuilt here ({_said(error)})")
    if task.readout == "numbers":
        return _silent(encodings, "the answers are real numbers, of which no theory here speaks")
    try:
        card = oracle(task, encodings, train_size=train_size, test_size=test_size, name=name, quick=True)
    except Exception as error:
        return _silent(encodings, f"the task broke when the oracle looked at it ({_said(error)})")
    return card.verdicts


def _silent(encodings: tuple[str, ...], why: str) -> dict[str, Verdict]:
    """The verdict where no theory was asked."""
    claim = Claim("the oracle's outlook", None, "", "predicted", "unknown", evidence={"why": why})
    return {name: Verdict(name, (Opinion("none", "unknown", why, claim),)) for name in encodings}


def _said(error: Exception) -> str:
    text = " ".join(f"{type(error).__name__}: {error}".split())
    return text if len(text) <= _LONGEST_REASON else text[: _LONGEST_REASON - 1] + "…"
