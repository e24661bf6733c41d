"""Samples from tasks: reproducible item by item, independent between roles."""

import pytest

from lengthwise.errors import UsageError
from lengthwise.shift.samples import _trajectory, level_sample, task_sample
from lengthwise.tasks import tasks
from lengthwise.tasks.ladder import ladder_of
from lengthwise.transport.metrics import metrics
from lengthwise.transport.metrics.features import STATISTICS, statistics
from lengthwise.transport.trajectories import Sample


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
    [
        ("ten", "range such as 5-20"),
        ("9-3", "must go upwards, such as 3-9"),
        ("-3", "range such as 5-20"),
        (3, "no items of size 3"),
    ],
)
def test_wrong_sizes_are_told(sizes, part):
    with pytest.raises(UsageError, match=part):
        task_sample("dyck_k", sizes, 5)


def test_no_items_are_no_sample():
    with pytest.raises(UsageError, match="1 item or more"):
        task_sample("sort", 5, 0)


@pytest.mark.parametrize("task", ["subset_sum", "countdown", "tree_maze"])
def test_a_search_carries_its_depth_and_its_numbers(task):
    made = tasks.make(task)
    for trajectory in task_sample(task, "2-4", 12).trajectories:
        prompt, trace = trajectory.tokens[: trajectory.asked], trajectory.tokens[trajectory.asked :]
        assert made.verify(prompt, trace).valid
        assert trajectory.depth == made.contour(prompt, trace) and len(trajectory.depth) == len(trajectory.tokens)
        assert dict(trajectory.features) == made.numbers_of(prompt, trace)


def test_the_numbers_and_the_profile_of_a_search_worked_by_hand():
    """Take 5, skip 2 and 4, which leads nowhere; take all three back; skip 5, take 2, take 4. Depth changes at the last
    token of every move."""
    prompt, trace = _words("6 | 5 | 2 | 4"), _words("+ 5 1 - 2 1 - 4 1 < - 4 1 < - 2 1 < + 5 6 - 5 6 + 2 4 + 4 0")
    trajectory = _trajectory(tasks.make("subset_sum"), prompt, trace)
    down, up = (0, 0, 1, 1, 1, 2, 2, 2, 3), (3, 3, 3, 2, 2, 2, 2, 1, 1, 1, 1, 0)
    assert trajectory.depth == (*[0] * 7, *down, *up, *down)
    found = dict(trajectory.features)
    # Six moves were tried and three taken back; on the way to the goal one could take or skip each time.
    assert (found["nodes"], found["pops"], found["goal_depth"], found["choices"]) == (6, 3, 3, 2)
    assert found["content"] == pytest.approx((5 + 2 + 4) / 3)
    values = dict(zip(STATISTICS, statistics(trajectory), strict=True))
    assert (values["length"], values["max_depth"], values["backtracks"]) == (37, 3, 1)
    assert values["branching"] == pytest.approx(6 / 5)  # six nodes below five: the root has two children


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


def test_contours_of_searches_worked_by_hand():
    """Straight down against one dead end first: the integral of the gap of two step functions, and a priced length."""
    task = tasks.make("tree_maze")
    straight = _trajectory(task, ("4", "7", "(", "4", ")"), ("4",))  # profile 0 0 0 0 0 1
    detour = _trajectory(task, ("4", "7", "(", "3", "4", ")"), ("3", "<", "3", "7", "4"))  # 6 zeros, 1 1 1 0 1
    assert straight.depth == (0, 0, 0, 0, 0, 1) and detour.depth == (0, 0, 0, 0, 0, 0, 1, 1, 1, 0, 1)
    fitted = metrics.make("contour:cells=66,price=0.1").fit(Sample.of([straight]))
    # In 66ths: straight is 1 from 55 on; detour from 36 to 54 and from 60 on. They differ on 36-54 and 55-60.
    gap = fitted.distances(Sample.of([straight]), Sample.of([detour]))[0, 0]
    assert gap == pytest.approx((18 + 5) / 66 + 0.1 * 5)


def test_a_level_is_drawn_from_its_own_task_and_sizes():
    for level in ladder_of(tasks.make("countdown"), 3):
        sample = level_sample(level, 30)
        branching = level.task.branching
        depths = {len(t.tokens[: t.asked]) - 1 - branching for t in sample.trajectories}
        assert depths == set(level.sizes) and sample.name.endswith(f", {level.name}")


def test_items_of_a_level_depend_on_seed_and_role_alone():
    level = ladder_of(tasks.make("tree_maze"), 3)[2]
    many = items(level_sample(level, 40, 3, "second"))
    assert items(level_sample(level, 15, 3, "second")) == many[:15]
    others = [items(level_sample(level, 40, *which)) for which in ((3, "second again"), (3, "first"), (4, "second"))]
    for other in others:
        assert len(set(many) & set(other)) <= 2, "two independent samples have next to nothing in common"


def test_roles_of_the_second_sample_draw_what_is_kept_for_testing():
    task = tasks.make("countdown:targets=held_out")
    for role, held_out in (("second", True), ("second again", True), ("first", False), ("null 3", False)):
        targets = [int(t.tokens[0]) for t in items(task_sample(task, 3, 20, role=role))]
        assert all((target % 10 == 7) == held_out for target in targets)
