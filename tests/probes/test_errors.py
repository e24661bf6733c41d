"""Errors of real-valued answers: averages and largest ones by size, of usual and of Dirichlet prompts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from lengthwise.errors import UsageError
from lengthwise.probes.errors import ERRORS, ErrorsProbe, item_errors, with_dirichlet
from lengthwise.probes.probe import Context
from lengthwise.runs.plan import plan_for
from lengthwise.subjects.subject import MarkedItems, Subject
from lengthwise.tasks import tasks


class Off:
    """Answers that are off by the share of the item's number, and by a tenth of that in every other entry."""

    def mark(self, task: Any, size: int, items: Any, seed: int) -> MarkedItems:
        errors = np.array([[number / 100, *[number / 1000] * (task.outputs - 1)] for number in items])
        errors = errors * (2 if task.dirichlet else 1)
        return MarkedItems(errors[:, 0] < 0.1, None, np.square(errors).ravel())


class Answering(Subject):
    name = "a subject that is off"

    def capabilities(self):
        return {"answers": Off}


@pytest.mark.parametrize("spec", ["simple_task", "kgram_law:k=1,letters=3"])
def test_average_and_largest_errors(spec: str) -> None:
    context = Context(task=tasks.make(spec), train_size=8, sizes=(4, 8, 16), items=11)
    record = ErrorsProbe().measure(Answering(), context)
    rows = record.table(ERRORS).records()
    assert [row["size"] for row in rows] == [4, 8, 16] and {row["items"] for row in rows} == {11}
    for row in rows:
        assert (row["average"], row["worst"], row["dirichlet"]) == pytest.approx((0.05, 0.10, 0.10))
    assert [claim.key for claim in record.claims] == ["errors.average", "errors.worst", "errors.dirichlet"]
    alone = ErrorsProbe(alpha=0).measure(Answering(), context)
    assert alone.table(ERRORS).column("dirichlet") == [None] * 3 and len(alone.claims) == 2


def test_an_item_counts_with_its_largest_error() -> None:
    assert item_errors(Off(), tasks.make("kgram_law"), 8, 3, 0).tolist() == pytest.approx([0, 0.01, 0.02])


def test_only_numbers_have_errors() -> None:
    with pytest.raises(UsageError):
        plan_for("sort", probes=["errors"])
    with pytest.raises(UsageError):
        ErrorsProbe(alpha=-1)
    assert with_dirichlet(tasks.make("sort"), 1.0) is None
    assert with_dirichlet(tasks.make("modp_task"), 0.5) == tasks.make("modp_task:dirichlet=0.5")
