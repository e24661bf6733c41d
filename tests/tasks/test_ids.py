"""The ids that tasks give their tokens."""

from dataclasses import dataclass

import numpy as np
import pytest

from lengthwise.errors import UsageError
from lengthwise.seeds import Ints
from lengthwise.tasks import make_task, tasks
from lengthwise.tasks.algorithmic import CopyRepeat
from lengthwise.tasks.contract import check_ids
from lengthwise.testing import check_task

STRINGS = (
    "copy_repeat",
    "copy_unique",
    "reverse_string:alphabet=9",
    "duplicate_string:alphabet=9",
    "odds_first:alphabet=9",
)
NUMBERS = ("binary_addition", "binary_multiplication", "addition_appended:base=10")


@pytest.mark.parametrize("spec", [*STRINGS, *NUMBERS])
def test_contract(spec: str) -> None:
    check_task(make_task(spec), [4, 9])
    check_ids(make_task(spec), [4, 9])


@pytest.mark.parametrize("spec", STRINGS)
def test_a_symbol_has_the_id_of_the_place_it_is_written_at(spec: str) -> None:
    task = make_task(spec)
    drawn = task.draw(7, 0, range(20))
    ids = task.ids(drawn.prompts, drawn.answers.shape[1])
    whole = np.hstack([drawn.prompts, drawn.answers])
    for row, own in zip(whole, ids, strict=True):
        assert all(len(set(row[own == one])) == 1 and (own == one).sum() >= 2 for one in range(1, 8))
    assert (task.ids(drawn.prompts, 40)[:, 7 + drawn.answers.shape[1] :] == 0).all(), "nothing behind the answer"


@pytest.mark.parametrize(("spec", "base"), [("binary_addition", 2), ("addition_appended:base=10", 10)])
def test_an_id_is_a_significance(spec: str, base: int) -> None:
    """Digits times base^(id - 1): the two operands together are the answer."""
    task, size = make_task(spec), 8
    drawn = task.draw(size, 0, range(30))
    width, digits = drawn.prompts.shape[1], np.hstack([drawn.prompts, drawn.answers])
    ids = task.ids(drawn.prompts, drawn.answers.shape[1])
    weights = np.where((ids > 0) & (digits >= 0), float(base) ** (ids - 1), 0)
    values = digits * weights
    assert np.array_equal(values[:, :width].sum(axis=1), values[:, width:].sum(axis=1))
    longest = np.where(ids[:, width:] > 0, ids[:, width:], 0).max(axis=1)
    assert np.array_equal(ids[:, :width].min(axis=1), -longest), "the sign has that of the last digit"


def test_the_longest_product_has_an_id_for_every_digit() -> None:
    task = make_task("binary_multiplication")
    prompts = np.array([[1, 1, 2, 1, 1, 1]])
    assert task.ids(prompts, 7)[0].tolist() == [1, 2, -5, 1, 2, 3, 1, 2, 3, 4, 5, 0, 0]


def test_which_tasks_give_ids() -> None:
    found = set()
    needs = ("along", "hinted", "jsonl", "layout", "regular", "regular_member")  # settings
    for name in set(tasks.names()) - set(needs):
        task = make_task(name)
        size = task.sizes(1, 30)[0]
        try:
            task.ids(task.draw(size, 0, [0]).prompts, 1)
        except UsageError:
            continue
        found.add(name)
    assert found == {spec.partition(":")[0] for spec in (*STRINGS, *NUMBERS)}


def test_along_another_axis_the_ids_are_those_of_the_base() -> None:
    with pytest.raises(UsageError):
        make_task("along:task=dyck_k,axis=depth,at=8").ids(np.zeros((1, 8), dtype=np.int64), 1)


@dataclass(frozen=True)
class WrongWidth(CopyRepeat):
    def ids(self, prompts: Ints, answer: int) -> Ints:
        return super().ids(prompts, answer)[:, 1:]


@dataclass(frozen=True)
class FromTheEnd(CopyRepeat):
    """Its ids depend on how many places are asked for, which generation does not know."""

    def ids(self, prompts: Ints, answer: int) -> Ints:
        found = super().ids(prompts, answer)
        found[:, prompts.shape[1] :] = found[:, prompts.shape[1] :][:, ::-1]
        return found


@dataclass(frozen=True)
class Negative(CopyRepeat):
    def ids(self, prompts: Ints, answer: int) -> Ints:
        return super().ids(prompts, answer) - 1


@dataclass(frozen=True)
class Broken(CopyRepeat):
    def ids(self, prompts: Ints, answer: int) -> Ints:
        return prompts[answer]


@pytest.mark.parametrize("kind", [WrongWidth, FromTheEnd, Negative, Broken])
def test_ids_that_break_the_contract_are_refused(kind: type[CopyRepeat]) -> None:
    with pytest.raises(UsageError):
        check_ids(kind(), [5])
