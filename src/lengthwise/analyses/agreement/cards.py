"""What the oracle says about the cells of a study: one card per task and training size, whatever the number of runs.

A report must not be lost because a task is: a task that cannot be made any more, that breaks when it is looked at, or
that is no longer what was trained on, has the verdict "unknown" with the reason.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from lengthwise.analyses.words import cut, percent
from lengthwise.messages import explain, sentence
from lengthwise.oracle.check import Card
from lengthwise.oracle.opinion import Opinion, Verdict
from lengthwise.probes.curve.standard import FURTHEST
from lengthwise.records import Claim
from lengthwise.studies.cells import Cell
from lengthwise.tasks import tasks
from lengthwise.tasks.task import Task

_LONGEST_REASON = 200

explain(
    {
        "card.gone": "the task cannot be rebuilt here ({error})",
        "card.numbers": "the answers are real numbers, of which no theory here speaks",
        "card.broke": "the task broke when the oracle looked at it ({error})",
        "card.changed": "the task is not the one that was trained on: guessing at size {size} is right in {exact} of "
        "items and {token} of symbols, and was in {exact_then} and {token_then}",
        "card.outlook": "the oracle's outlook",
    }
)

Place = tuple[str, int, int]


class Oracle(Protocol):
    """What `lengthwise.oracle.check.check` is: a task, encodings and sizes in, a card with a verdict for each out."""

    def __call__(
        self, task: Task, positions: Sequence[str], *, train_size: int, test_size: int, name: str, quick: bool
    ) -> Card: ...


def verdicts(cells: Iterable[Cell], oracle: Oracle) -> dict[tuple[Place, str], Verdict]:
    """The verdict on every cell, by its place and encoding."""
    groups: dict[Place, list[Cell]] = {}
    for cell in cells:
        groups.setdefault(place(cell), []).append(cell)
    found = {}
    for where, group in groups.items():
        said = _card(where, group, oracle)
        for cell in group:
            found[where, cell.position] = said.get(cell.position) or Verdict(cell.position, ())
    return found


def place(cell: Cell) -> Place:
    """What a verdict depends on beside the encoding: the task, the training size and the largest size judged."""
    return cell.task, cell.train_size, min(cell.test_size, int(FURTHEST * cell.train_size))


def _card(where: Place, group: Sequence[Cell], oracle: Oracle) -> Mapping[str, Verdict]:
    name, train_size, test_size = where
    encodings = tuple(dict.fromkeys(cell.position for cell in group))
    try:
        task = tasks.restore(name)
    except Exception as error:  # any task of a user's may be gone, or be broken by now
        return _silent(encodings, "card.gone", _said(error))
    if task.readout == "numbers":
        return _silent(encodings, "card.numbers", {})
    try:
        if changed := _changed(task, group):
            return _silent(encodings, "card.changed", changed)
        return oracle(task, encodings, train_size=train_size, test_size=test_size, name=name, quick=True).verdicts
    except Exception as error:
        return _silent(encodings, "card.broke", _said(error))


def _changed(task: Task, group: Sequence[Cell]) -> dict[str, Any]:
    """What shows that the task is no longer the one that was trained on; nothing where nothing does.

    How often guessing is right is found on fixed items and stored with every curve: the same for the same task. It is
    compared at the largest trained size that was measured; a change that leaves it alone is not seen.
    """
    curve = next((run.curve for cell in group for run in cell.done if run.stored), None)
    if curve is None:
        return {}
    points = [(point.size, point.chance, point.token_chance) for point in curve.points]
    size, *then = max((point for point in points if point[0] <= group[0].train_size), default=points[0])
    guess = task.part("test").chance(size)
    now = (guess.exact, guess.token)
    if all(math.isclose(one, other, rel_tol=1e-6, abs_tol=1e-12) for one, other in zip(then, now, strict=True)):
        return {}
    shares = dict(zip(("exact", "token", "exact_then", "token_then"), map(percent, (*now, *then)), strict=True))
    return {"size": size, **shares}


def _silent(encodings: tuple[str, ...], reason: str, values: Mapping[str, Any]) -> dict[str, Verdict]:
    """The verdict where no theory was asked, for a reason that is a key."""
    why = sentence(reason, values)
    claim = Claim("card.outlook", None, "", "predicted", "unknown", evidence={"why": why, "reason": reason})
    return {name: Verdict(name, (Opinion("none", "unknown", why, claim),)) for name in encodings}


def _said(error: Exception) -> dict[str, str]:
    return {"error": cut(f"{type(error).__name__}: {error}", _LONGEST_REASON)}
