"""The ladder of a search problem moves one axis at a time, and meets no token that training lacks."""

from __future__ import annotations

import collections
import dataclasses
import itertools
from typing import Any

import numpy as np
import pytest

from lengthwise.errors import UsageError
from lengthwise.tasks import tasks
from lengthwise.tasks.ladder import TRAINING, Laddered, Level, ladder_of
from lengthwise.tasks.search.search_task import WHOLE_RANGE
from searches import PROBLEMS, items, made

TRAIN_SIZE = 3
AXES = ("depth", "branching", "content")
PLACES = [(name, level) for name in PROBLEMS for level in ladder_of(made(name), TRAIN_SIZE)]


def features(level: Level, count: int) -> list[dict[str, float]]:
    """What items of a level do, in numbers; each of its sizes equally often."""
    found = []
    for size in level.sizes:
        drawn = items(level.task, size, count // len(level.sizes), role="law")
        found += [{"size": size, **level.task.numbers_of(prompt, trace)} for prompt, trace in drawn]
    return found


@pytest.fixture(scope="module")
def measured() -> dict[tuple[str, str], list[dict[str, float]]]:
    return {(name, level.name): features(level, 40) for name, level in PLACES}


@pytest.mark.parametrize("name", PROBLEMS)
def test_training_comes_first_then_every_axis_by_equal_steps(name: str) -> None:
    task = made(name)
    first, *others = ladder_of(task, TRAIN_SIZE)
    assert isinstance(task, Laddered)
    assert (first.axis, first.name, first.task, first.sizes) == (TRAINING, TRAINING, task, (2, 3))
    groups = {axis: list(levels) for axis, levels in itertools.groupby(others, key=lambda level: level.axis)}
    assert tuple(groups) == AXES
    here = {"depth": TRAIN_SIZE, "branching": task.branching, "content": task.content}  # pyright: ignore[reportAttributeAccessIssue]
    for axis, levels in groups.items():
        assert len(levels) >= 6, "the least a ladder has on an axis"
        values = [here[axis], *(level.value for level in levels)]
        steps = np.diff(values)
        assert (steps == steps[0]).all() and steps[0] > 0
        assert [level.name for level in levels] == [f"{axis} {value}" for value in values[1:]]


@pytest.mark.parametrize(("name", "level"), PLACES, ids=lambda thing: getattr(thing, "name", thing))
def test_a_level_changes_one_setting_or_the_sizes(name: str, level: Level) -> None:
    task = made(name)
    changed = {
        field.name: getattr(level.task, field.name)
        for field in dataclasses.fields(task)
        if getattr(level.task, field.name) != getattr(task, field.name)
    }
    if level.axis == "depth":
        assert not changed and level.sizes == (level.value,)
    else:
        assert changed == ({} if level.axis == TRAINING else {level.axis: level.value})
        assert level.sizes == (2, 3)
    assert level.task.symbols == task.symbols, "a model has one vocabulary"


@pytest.mark.parametrize(("name", "level"), PLACES, ids=lambda thing: getattr(thing, "name", thing))
def test_depth_of_the_goal_is_the_size_at_every_level(name: str, level: Level, measured) -> None:
    """So that depth stays as in training on the other two axes, item by item."""
    assert all(found["goal_depth"] == found["size"] for found in measured[name, level.name])


@pytest.mark.parametrize(("name", "level"), PLACES, ids=lambda thing: getattr(thing, "name", thing))
def test_choices_move_with_branching(name: str, level: Level, measured) -> None:
    """In the maze a room on the way has exactly `branching` ways. The rules of the other two forbid some choices, so
    there the number on offer follows the setting from below, and gives way when values or depth grow: more results
    are beyond `top`."""
    offered = np.array([found["choices"] for found in measured[name, level.name]])
    before = np.array([found["choices"] for found in measured[name, TRAINING]])
    if name == "tree_maze":
        assert (offered == level.task.branching).all()  # pyright: ignore[reportAttributeAccessIssue]
    elif level.axis == "branching":
        assert offered.mean() > before.mean() + 0.3 * (level.value - made(name).branching)  # pyright: ignore[reportAttributeAccessIssue]
    else:
        assert abs(offered.mean() / before.mean() - 1) < (0.4 if level.axis == "content" else 0.25)
    assert (offered <= level.task.kinds).all()  # pyright: ignore[reportAttributeAccessIssue]


@pytest.mark.parametrize("name", PROBLEMS)
def test_values_move_with_content_and_hardly_without(name: str) -> None:
    """Instances without a search of bounded length are drawn again, which favours some values, so that their mean
    moves a little with depth and branching; with content it moves as the range does, but for the
    items that show every value."""
    training, *others = ladder_of(made(name), TRAIN_SIZE)
    count = 600 if name == "tree_maze" else 300  # what is asked of mazes is finer

    def mean(level: Level) -> float:
        sizes = level.sizes
        drawn = (item for size in sizes for item in items(level.task, size, count // len(sizes), role="law"))
        return float(np.mean([level.task.content_of(prompt) for prompt, _ in drawn]))  # pyright: ignore[reportAttributeAccessIssue]

    before = mean(training)
    for level in others:
        moved = mean(level) - before
        if level.axis == "content":
            range_moved = level.value - made(name).content  # pyright: ignore[reportAttributeAccessIssue]
            assert 0.6 * range_moved < moved < 1.1 * range_moved, level.name
        else:
            assert abs(moved / before) < (0.03 if name == "tree_maze" else 0.12), level.name


def test_mazes_have_labels_of_one_law_at_every_level_but_content() -> None:
    """No maze is drawn again, so the label of the goal is uniform on the `span` numbers up to `content`, in few items
    on all numbers up to `top`."""
    count = 1500
    for level in ladder_of(made("tree_maze"), TRAIN_SIZE):
        task: Any = level.task
        goals = task.draw(level.sizes[0], 3, range(count), "law").prompts[:, 0] - 2
        law = np.full(task.top, 1 / task.top / WHOLE_RANGE)
        law[task.content - task.span : task.content] += (1 - 1 / WHOLE_RANGE) / task.span
        spread = ((np.bincount(goals, minlength=task.top + 1)[1:] - count * law) ** 2 / (count * law)).sum()
        assert abs(spread - (task.top - 1)) < 6 * np.sqrt(2 * (task.top - 1)), level.name


@pytest.mark.parametrize("name", PROBLEMS)
def test_no_level_has_a_token_that_training_lacks(name: str) -> None:
    """Neither among prompts nor among traces, nor at the first place of a prompt."""
    training, *others = ladder_of(made(name), TRAIN_SIZE)

    def tokens(level: Level, count: int) -> tuple[collections.Counter[int], ...]:
        prompts, traces, firsts = (collections.Counter() for _ in range(3))
        for size in level.sizes:
            drawn = level.task.draw(size, 7, range(count // len(level.sizes)), "tokens")
            for counter, rows in ((prompts, drawn.prompts), (traces, drawn.answers), (firsts, drawn.prompts[:, :1])):
                counter.update(dict(zip(*(part.tolist() for part in np.unique(rows, return_counts=True)), strict=True)))
        return prompts, traces, firsts

    known = tokens(training, 10_000)
    for level in others:
        for what, seen, here in zip(("prompts", "traces", "first places"), known, tokens(level, 1000), strict=True):
            unseen = level.task.spelled(sorted(here.keys() - seen.keys()))
            assert not unseen, f"{level.name}: {unseen} do not occur in the {what} of training"


# --- ladders that there are not ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spec", "train_size"), [("subset_sum", 1), ("countdown:content=8,span=8", 3), ("tree_maze", 30)]
)
def test_a_ladder_with_a_level_that_has_no_items_is_refused(spec: str, train_size: int) -> None:
    with pytest.raises(UsageError, match=r"^there are no items at '.*' when training ends at size"):
        ladder_of(made(spec), train_size)


def test_a_range_beyond_top_is_refused() -> None:
    task = made("tree_maze")
    narrow = dataclasses.replace(task, top=task.content)  # pyright: ignore[reportCallIssue, reportAttributeAccessIssue]
    with pytest.raises(UsageError, match="span <= content <= top"):
        ladder_of(narrow, TRAIN_SIZE)


# --- tasks of one axis ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("spec", ["copy_repeat", "parity", "addition", "dyck_k"])
@pytest.mark.parametrize("train_size", [4, 10, 21])
def test_other_tasks_climb_their_size_to_three_times_that_of_training(spec: str, train_size: int) -> None:
    task = tasks.make(spec)
    first, *others = ladder_of(task, train_size)
    assert first == Level(TRAINING, 0, task, tuple(task.sizes(1, train_size)))
    values = [level.value for level in others]
    assert values == sorted(set(values)) and 1 <= len(values) <= 6
    assert values[0] > train_size and values[-1] == task.sizes(1, 3 * train_size)[-1]
    assert all(level.axis == task.axes[0].name and level.sizes == (level.value,) for level in others)
    assert all(task.has(level.value) for level in others)


def test_a_task_that_ends_at_the_training_size_has_no_ladder() -> None:
    with pytest.raises(UsageError, match="has no items beyond size 6, so there is no ladder"):
        ladder_of(tasks.make("associative_recall:keys=6"), 6)


@pytest.mark.parametrize("name", ["subset_sum", "countdown", "tree_maze"])
def test_small_steps(name):
    """`height` cuts every axis short, `slide` moves the training range on; neither changes an item."""
    plain, shaped = tasks.make(name), tasks.make(f"{name}:height=3,slide=3")
    levels = ladder_of(shaped, 4)
    assert [level.name for level in levels if level.axis == "depth"] == ["depth 5", "depth 6", "depth 7"]
    assert [level.sizes for level in levels if level.axis == "slide"] == [(3, 4, 5), (4, 5, 6), (5, 6, 7)]
    assert len(levels) == 1 + 3 * 3 + 3
    assert list(dict.fromkeys(level.axis for level in levels)) == ["training", "depth", "branching", "content", "slide"]
    one, two = (task.draw(4, 0, range(5), role="test") for task in (plain, shaped))
    assert (one.prompts == two.prompts).all() and (one.answers == two.answers).all()


def test_ladders_that_cannot_be():
    for spec in ("subset_sum:height=0", "subset_sum:slide=-1"):
        with pytest.raises(UsageError):
            ladder_of(tasks.make(spec), 3)
