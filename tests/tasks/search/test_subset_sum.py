"""Subset sum against all subsets: the search finds the first solution there is, and pruning loses none."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lengthwise.errors import UsageError
from searches import items, made

TASK = made("subset_sum")


def groups_of(prompt: tuple[str, ...]) -> tuple[int, list[list[int]]]:
    """Target and groups, read with a plain split."""
    target, *groups = " ".join(prompt).split(" | ")
    return int(target), [[int(number) for number in group.split()] for group in groups]


def solutions(target: int, groups: list[list[int]]) -> set[tuple[int, ...]]:
    """Every way to the target, as the choice in each group up to the last that is needed; the choice behind the numbers
    of a group is to skip it. All of them are tried, without any pruning."""
    found = set()
    for choices in itertools.product(*(range(len(group) + 1) for group in groups)):
        taken = [[*group, 0][choice] for group, choice in zip(groups, choices, strict=True)]
        if sum(taken) == target:
            last = max(place for place, number in enumerate(taken) if number)
            found.add(choices[: last + 1])
    return found


def check_search(prompt: tuple[str, ...], trace: tuple[str, ...]) -> None:
    """The search succeeds with the first solution in order of choices, and tries nothing the rules exclude."""
    target, groups = groups_of(prompt)
    known = solutions(target, groups)
    found = TASK.verify(prompt, trace)
    assert found.valid
    assert tuple(move.choice for move in found.path) == min(known), "an earlier solution was lost"
    path, left = [], [target]
    for event, after in zip(found.events, (*found.events[1:], None), strict=True):
        if event.kind == "pop":
            path.pop()
            left.pop()
            assert not any(way[: len(path) + 1] == (*path, event.move.choice) for way in known), "a solution was left"
            continue
        group = groups[len(path)]
        number = [*group, 0][event.move.choice]
        assert number <= left[-1] <= sum(max(group) for group in groups[len(path) :]), "a dead branch was tried"
        path.append(event.move.choice)
        left.append(left[-1] - number)
        if left[-1] > sum(max(group) for group in groups[len(path) :]):
            assert after is not None and after.kind == "pop", "a dead state is left at once"


@pytest.mark.parametrize("spec", ["subset_sum", "subset_sum:branching=2,content=15,span=15,top=24"])
@pytest.mark.parametrize("size", [2, 3, 4])
def test_drawn_instances_against_all_subsets(spec: str, size: int) -> None:
    for prompt, trace in items(made(spec), size, 50):
        target, groups = groups_of(prompt)
        assert len(groups) == size and {len(group) for group in groups} == {made(spec).kinds - 1}
        numbers = [number for group in groups for number in group]
        assert len(set(numbers)) == len(numbers) and 1 <= target <= made(spec).top  # pyright: ignore[reportAttributeAccessIssue]
        check_search(prompt, trace)


@settings(max_examples=80, deadline=None)
@given(
    st.integers(1, 30),
    st.lists(st.lists(st.integers(1, 15), min_size=1, max_size=3), min_size=1, max_size=5),
)
def test_any_instance_against_all_subsets(target: int, groups: list[list[int]]) -> None:
    """Also those that no sampler draws: equal numbers, groups of different sizes, no solution."""
    prompt = (str(target), *(text for group in groups for text in ("|", *map(str, group))))
    if solutions(target, groups):
        check_search(prompt, tuple(TASK.solve(prompt)))
    else:
        with pytest.raises(UsageError, match="without a solution"):
            TASK.solve(prompt)


def test_the_last_group_is_needed() -> None:
    for size in (2, 3, 6):
        assert all(len(TASK.verify(*item).path) == size for item in items(TASK, size, 60))


def test_both_rules_prune_and_searches_backtrack() -> None:
    """In drawn items: some numbers are not tried as they are too large, some states are left at once, and most items
    with three groups or more take something back."""
    too_large, left_at_once, backtracks = 0, 0, 0
    drawn = list(items(TASK, 4, 200))
    for prompt, trace in drawn:
        _, groups = groups_of(prompt)
        problem = TASK.problem(prompt)
        events = TASK.verify(prompt, trace).events
        for event in events:
            moves = problem.moves(event.move.state) if event.kind == "push" else None
            left_at_once += moves == () and event.depth < len(groups)
            too_large += moves is not None and len(moves) == 1
        backtracks += any(event.kind == "pop" for event in events)
    assert too_large > 20 and left_at_once > 20 and backtracks > 0.4 * len(drawn)
    assert backtracks < len(drawn), "and some do not"


def test_targets_spread() -> None:
    targets = TASK.draw(3, 0, range(2000)).prompts[:, 0] - 4
    assert targets.min() >= 1 and targets.max() <= TASK.top  # pyright: ignore[reportAttributeAccessIssue]
    assert len(np.unique(targets)) > 0.8 * TASK.top  # pyright: ignore[reportAttributeAccessIssue]
