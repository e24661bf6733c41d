"""Word problems of groups: the groups are groups, and the sampler multiplies as the solver does."""

from __future__ import annotations

import itertools

import pytest

from lengthwise.errors import UsageError
from lengthwise.tasks import tasks
from lengthwise.tasks.groups import _elements, _table
from lengthwise.testing import check_task

ORDERS = {"S3": 6, "S4": 24, "A4": 12, "A5": 60, "S5": 120, "Z2": 2, "Z60": 60}


@pytest.mark.parametrize("group", ORDERS)
def test_it_keeps_the_contract_of_tasks(group):
    task = tasks.make(f"word_problem:group={group}")
    assert len(task.symbols) == ORDERS[group]
    check_task(task, [1, 2, 9], items=16)


@pytest.mark.parametrize("group", [("S", 3), ("A", 4), ("Z", 7)])
def test_the_table_is_that_of_a_group(group):
    table, count = _table(*group), len(_elements(*group))
    assert all(sorted(row) == list(range(count)) for row in [*table.tolist(), *table.T.tolist()])
    assert table[0].tolist() == list(range(count)) == table[:, 0].tolist()
    for a, b, c in itertools.product(range(count), repeat=3):
        assert table[table[a, b], c] == table[a, table[b, c]]
    assert (table == table.T).all() == (group[0] == "Z")


def test_the_example():
    assert tasks.make("word_problem").solve(("213", "132", "213")) == ("213", "231", "321")


@pytest.mark.parametrize("group", ["S2", "S6", "A9", "Z1", "Z121", "D4", "s3"])
def test_other_groups_are_refused(group):
    with pytest.raises(UsageError, match="a group must be S3 to S5"):
        tasks.make(f"word_problem:group={group}")
