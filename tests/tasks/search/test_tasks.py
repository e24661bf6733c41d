"""The three search problems keep the contract of a task, and say what is wrong with bad settings and prompts."""

from __future__ import annotations

import inspect
import re

import numpy as np
import pytest

from lengthwise.errors import UsageError
from lengthwise.seeds import Seeds
from lengthwise.tasks import tasks
from lengthwise.tasks.search import search_task
from lengthwise.testing import check_task
from searches import PROBLEMS, SETTINGS, every_setting, items, made


@pytest.mark.parametrize("name", PROBLEMS)
def test_contract(name: str) -> None:
    training, *others = made(name).levels(3)
    deepest = max(level.value for level in others if level.axis == "depth")
    check_task(training.task, [*training.sizes, deepest], items=8)


@pytest.mark.parametrize("spec", SETTINGS)
def test_contract_with_settings(spec: str) -> None:
    check_task(made(spec), SETTINGS[spec], items=8)


@pytest.mark.parametrize("name", PROBLEMS)
def test_contract_at_the_last_level_of_every_axis(name: str) -> None:
    """Each level is a task of its own: it draws, and its own solver answers."""
    last = {level.axis: level for level in made(name).levels(3)}
    for level in last.values():
        check_task(level.task, level.sizes[-1:], items=8)


@pytest.mark.parametrize("name", PROBLEMS)
def test_worked_examples_of_the_docstring(name: str) -> None:
    found = re.findall(r"`([^`]+)` → `([^`]+)`", inspect.getdoc(type(made(name))) or "")
    assert found
    for prompt, trace in found:
        assert " ".join(made(name).solve(prompt.split())) == trace


@pytest.mark.parametrize("name", PROBLEMS)
def test_rejected_rows_are_drawn_again_as_if_all_were(name: str) -> None:
    """The plain way: attempts on all rows, of which each row takes its first usable one."""
    task = made(name)
    for size in (3, 5):
        draws = Seeds(2).draws("again", size, items=range(60))
        prompts, answers, kept = None, None, np.zeros(60, dtype=bool)
        for _ in range(500):
            samples, usable = task.attempt(size, draws)
            fresh = usable & ~kept
            if prompts is None or answers is None:
                prompts, answers = samples.prompts, samples.answers
            prompts[fresh], answers[fresh] = samples.prompts[fresh], samples.answers[fresh]
            kept |= usable
            if kept.all():
                break
        drawn = task.draw(size, 2, range(60), "again")
        assert np.array_equal(drawn.prompts, prompts) and np.array_equal(drawn.answers, answers)


@pytest.mark.parametrize(
    ("spec", "sizes"),
    [
        ("along:task=subset_sum,axis=branching,at=3", [1, 3]),
        ("along:task=tree_maze,axis=branching,at=3", [2, 4]),
        ("along:task=countdown:span=6,axis=content,at=3", [8, 12]),
    ],
)
def test_other_axes_can_be_the_size(spec: str, sizes: list[int]) -> None:
    check_task(tasks.make(spec), sizes, items=16)


def test_branching_of_countdown_cannot_be_the_size() -> None:
    """Its solver must know it, and a prompt does not say it."""
    with pytest.raises(UsageError, match="has no axis 'branching' after its first"):
        tasks.make("along:task=countdown,axis=branching,at=3")


def test_settings_that_no_item_fits_are_refused_at_the_draw(monkeypatch: pytest.MonkeyPatch) -> None:
    """No target up to 6 ends in 7."""
    monkeypatch.setattr(search_task, "_ATTEMPTS", 20)
    task = made("countdown:content=3,span=3,top=6,targets=held_out")
    with pytest.raises(UsageError, match=r"^no item of size 2 was found with these settings; a larger content or top"):
        task.draw(2, 0, range(2))


@pytest.mark.parametrize(("task", "size"), every_setting(), ids=str)
def test_items_differ(task, size) -> None:
    distinct = {prompt for prompt, _ in items(task, size, 60)}
    assert len(distinct) >= 15 or size * task.kinds <= 6, "an item for every row, not one for all"


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ("branching=0", "branching must be at least 1"),
        ("span=1", "2 <= span <= content <= top"),
        ("content=5,span=6", "2 <= span <= content <= top"),
        ("content=50,top=49", "2 <= span <= content <= top"),
        ("branching=two", "whole number"),
        ("depth=3", "has no setting 'depth'"),
    ],
)
def test_bad_settings(name: str, settings: str, said: str) -> None:
    with pytest.raises(UsageError, match=said) as caught:
        tasks.make(f"{name}:{settings}")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ("operations=+%", "operations must be some of"),
        ("operations=++", "each operation must be named once"),
        ("operations=", "operations must be some of"),
        ("targets=new", "targets must be one of seen, held_out"),
    ],
)
def test_bad_settings_of_countdown(settings: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        tasks.make(f"countdown:{settings}")


@pytest.mark.parametrize("name", PROBLEMS)
def test_sizes_end_where_the_values_do(name: str) -> None:
    task = made(name)
    known = task.sizes(0, 200)
    assert known == list(range(2, known[-1] + 1)), "from 2 on without gaps"
    with pytest.raises(UsageError, match=rf"^the task has no items of size {known[-1] + 1}"):
        task.draw(known[-1] + 1, 0, [0])


UNREADABLE = [
    ("subset_sum", ""),
    ("subset_sum", "6"),
    ("subset_sum", "6 5 | 2"),
    ("subset_sum", "6 | | 2"),
    ("subset_sum", "6 | 5 |"),
    ("subset_sum", "| 5 | 2"),
    ("subset_sum", "0 | 5 | 2"),
    ("subset_sum", "6 | 5 | 0"),
    ("subset_sum", "6 | 5 | 1000"),
    ("subset_sum", "6 | 5 | 02"),
    ("subset_sum", "6 | 5 | ²"),
    ("subset_sum", "6 | 5 | +"),
    ("countdown", ""),
    ("countdown", "5"),
    ("countdown", "5 3"),
    ("countdown", "5 + 3"),
    ("countdown", "0 3 4"),
    ("countdown", "1000 3 4"),
    ("countdown", "5 3 ²"),
    ("countdown", "5 3 ٣"),
    ("tree_maze", ""),
    ("tree_maze", "4"),
    ("tree_maze", "( 4 )"),
    ("tree_maze", "4 ( 3 )"),
    ("tree_maze", "4 7 ( 3 4"),
    ("tree_maze", "4 7 ( 3 4 ) )"),
    ("tree_maze", "4 7 ( 3 3 )"),
    ("tree_maze", "4 7 ( 7 )"),
    ("tree_maze", "4 7 ( )"),
    ("tree_maze", "4 7 ( ( 3 ) )"),
    ("tree_maze", "4 7 ( 3 ) ( 4 )"),
    ("tree_maze", "4 7 ( 3 ( 4 ) ( 5 ) )"),
    ("tree_maze", "4 7 3"),
    ("tree_maze", "4 7 ( ² )"),
    ("tree_maze", "4 7 ( 3 1000 )"),
    ("tree_maze", "1000 7 ( 3 )"),
    ("tree_maze", "< 7 ( 3 )"),
]


@pytest.mark.parametrize(("name", "prompt"), UNREADABLE)
def test_unreadable_prompts(name: str, prompt: str) -> None:
    for ask in (made(name).problem, made(name).solve, lambda rows: made(name).verify(rows, ())):
        with pytest.raises(UsageError) as caught:
            ask(prompt.split())
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", PROBLEMS)
def test_contour_and_numbers_fit_the_trace(name: str) -> None:
    task = made(name)
    for size in (2, 4):
        for prompt, trace in items(task, size, 30):
            contour, numbers = task.contour(prompt, trace), task.numbers_of(prompt, trace)
            assert len(contour) == len(prompt) + len(trace)
            assert set(contour[: len(prompt)]) == {0} and contour[-1] == size == numbers["goal_depth"]
            steps = np.diff(contour)
            assert set(np.unique(steps)) <= {-1, 0, 1}
            assert (steps == 1).sum() == numbers["nodes"] and (steps == -1).sum() == numbers["pops"]
            assert numbers["pops"] == trace.count("<")
            assert 1 <= numbers["choices"] <= task.kinds


@pytest.mark.parametrize("name", PROBLEMS)
def test_some_items_of_training_show_the_whole_range(name: str) -> None:
    """Few items draw from all values, which is what shows training every token."""
    task = made(name)
    beyond = [
        max(int(text) for text in prompt[1:] if text.isdecimal()) > task.content  # pyright: ignore[reportAttributeAccessIssue]
        for prompt, _ in items(task, 3, 1500)
    ]
    assert 0.005 < np.mean(beyond) < 1 / search_task.WHOLE_RANGE + 0.03
