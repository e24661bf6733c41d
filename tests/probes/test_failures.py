"""Failures: counts by size, the smallest failures, and the first wrong token of each."""

import numpy as np
import pytest

from lengthwise.errors import UsageError
from lengthwise.models.transformer import Architecture, Interface, fresh_model
from lengthwise.probes.curve.greedy import greedy_right
from lengthwise.probes.failures import ITEMS, SIZES, FailuresProbe
from lengthwise.probes.probe import Context, ask
from lengthwise.subjects.open import open_subject
from lengthwise.subjects.subject import first_errors
from lengthwise.tasks import tasks


class Forgetful:
    """It answers prompts of up to two symbols."""

    def answer(self, prompts):
        return [list(prompt[:2]) for prompt in prompts]


def test_first_errors_by_hand():
    scored = np.array([[False, True, True, True], [True, False, True, False]])
    given, asked = np.array([5, 6, 7, 8, 9]), np.array([5, 0, 0, 8, 9])
    places, tokens = first_errors(scored, given, asked)
    assert places.tolist() == [1, -1] and tokens[0] == 6


def test_the_smallest_failures_are_listed():
    task = tasks.make("copy_unique:alphabet=6")
    record = ask(FailuresProbe(shown=3), open_subject(Forgetful()), Context(task, sizes=(1, 2, 3, 4), items=5))
    assert record.table(SIZES).column("wrong") == [0, 0, 5, 5]
    assert record.table(ITEMS).column("size") == [3, 3, 3] and record.table(ITEMS).column("item") == [0, 1, 2]
    assert record.table(ITEMS).column("prompt") == record.table(ITEMS).column("answer")
    (claim,) = record.claims
    assert claim.key == "failures.wrong" and claim.value == 0.5


def test_the_first_wrong_token_is_what_the_model_writes():
    task = tasks.make("copy_unique:alphabet=3")
    model = fresh_model(
        Architecture(depth=1, width=16, heads=2), Interface(len(task.vocabulary), task.outputs, 12, 12), 0
    )
    record = ask(FailuresProbe(shown=99), open_subject(model), Context(task, sizes=(2,), items=20))
    right = greedy_right(model, task, 2, 20, 0)
    assert record.table(ITEMS).column("item") == np.flatnonzero(~right).tolist() != []
    for row in record.table(ITEMS).records():
        answer = [*str(row["answer"]).split(), "<eos>"]
        assert isinstance(row["place"], int) and row["instead"] != answer[row["place"]]


def test_a_task_is_needed():
    with pytest.raises(UsageError):
        ask(FailuresProbe(), open_subject(Forgetful()), Context())
