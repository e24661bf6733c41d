"""Samples from tasks: reproducible item by item, independent between roles."""

import pytest

from lengthwise.errors import UsageError
from lengthwise.shift.sampling import task_sample


def items(sample):
    return [sample.trajectories[owner] for owner in sample.owner]


@pytest.mark.parametrize("task, sizes", [("sort", "3-9"), ("dyck_k", "4-10"), ("parity", 7)])
def test_an_item_is_the_same_however_many_are_drawn(task, sizes):
    many, few = task_sample(task, sizes, 50, seed=3), task_sample(task, sizes, 20, seed=3)
    assert items(many)[:20] == items(few)
    assert items(task_sample(task, sizes, 50, seed=4)) != items(many)
    assert items(task_sample(task, sizes, 50, seed=3, role="fit")) != items(many)


def test_a_trajectory_is_the_prompt_and_its_answer():
    for trajectory in task_sample("sort", 5, 10).trajectories:
        prompt, answer = trajectory.tokens[:5], trajectory.tokens[5:]
        assert sorted(prompt, key=int) == list(answer) and trajectory.asked == 5


def test_tags_are_not_part_of_the_walk():
    for trajectory in task_sample("dyck_k", 8, 10).trajectories:
        assert len(trajectory.tokens) == 8 and set(trajectory.tokens) <= set("()[]") and trajectory.profile()[-1] == 0


def test_a_range_has_all_its_sizes():
    lengths = [len(t.tokens) for t in items(task_sample("dyck_k", "4-10", 400))]
    assert {length: 60 < lengths.count(length) < 140 for length in set(lengths)} == dict.fromkeys((4, 6, 8, 10), True)


@pytest.mark.parametrize(
    "sizes, part",
    [("ten", "range as 5-20"), ("9-3", "goes upwards, as 3-9"), ("-3", "range as 5-20"), (3, "no items of size 3")],
)
def test_wrong_sizes_are_told(sizes, part):
    with pytest.raises(UsageError, match=part):
        task_sample("dyck_k", sizes, 5)


def test_no_items_are_no_sample():
    with pytest.raises(UsageError, match="1 item or more"):
        task_sample("sort", 5, 0)
