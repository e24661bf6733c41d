"""The arctangent of a count: worked answers, and that longer prompts ask for values that shorter ones never do."""

import math

import pytest

from lengthwise.errors import UsageError
from lengthwise.tasks import tasks
from lengthwise.testing.tasks import check_task


def test_contract_and_worked_examples() -> None:
    task = tasks.make("arctan_count")
    check_task(task, [1, 2, 5, 9])
    assert task.solve(["1", "1", "0", "1"])[0] == pytest.approx(2 / math.pi * math.atan(0.5))
    assert float(task.solve(["0"])[0]) == -float(task.solve(["1"])[0])
    with pytest.raises(UsageError):
        task.solve(["2"])
    with pytest.raises(UsageError):
        tasks.make("arctan_count:scale=0")


def test_training_never_shows_the_values_beyond_it() -> None:
    """The premise of Theorem 3.1.2: of prompts up to N bits no answer is that of a longer one with more than N ones."""
    task = tasks.make("arctan_count")
    shown = {float(value) for size in range(1, 9) for value in task.draw(size, 0, range(60)).answers[:, 0]}
    beyond = float(task.solve(["1"] * 9)[0])
    assert max(shown) < beyond and len(shown) == 17
