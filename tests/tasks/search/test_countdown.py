"""Countdown against all sequences of steps, with exact fractions; and the targets that training never shows."""

from __future__ import annotations

import dataclasses
import itertools
from fractions import Fraction

import numpy as np
import pytest

from lengthwise.tasks.search.countdown import HELD_OUT, Countdown
from searches import SETTINGS, items, made

APPLY = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: abs(a - b),
    "*": lambda a, b: a * b if 1 not in (a, b) else None,
    "/": lambda a, b: max(a, b) / min(a, b) if 1 not in (a, b) else None,
}


def countdown(spec: str) -> Countdown:
    task = made(spec)
    assert isinstance(task, Countdown)
    return task


def outcome(task: Countdown, row: list[int], steps: tuple[tuple[int, str], ...]) -> Fraction | None:
    """The value after these steps, each a place among the numbers on offer and an operation; None if the rules forbid
    one of them."""
    value, rest = Fraction(row[0]), list(row[1:])
    for place, operation in steps:
        result = APPLY[operation](value, Fraction(rest.pop(place)))
        if result is None or result.denominator != 1 or not 1 <= result <= task.top:
            return None
        value = result
    return value


@pytest.mark.parametrize("spec", ["countdown", *(spec for spec in SETTINGS if spec.startswith("countdown"))])
@pytest.mark.parametrize("size", [2, 3])
def test_the_search_finds_the_first_way_there_is(spec: str, size: int) -> None:
    """All sequences of steps, in the order in which they are tried."""
    task = countdown(spec)
    options = list(itertools.product(range(task.branching), task.operations))
    for prompt, trace in items(task, size, 25):
        target, *row = map(int, prompt)
        assert len(row) == size + task.branching and len(set(row)) == len(row)
        ways = itertools.product(options, repeat=size)
        first = next(way for way in ways if outcome(task, row, way) == target)
        found = task.verify(prompt, trace)
        assert found.valid
        assert [options[move.choice] for move in found.path] == list(first)


def test_every_operation_occurs_and_only_those_asked_for() -> None:
    for operations in ("+-*/", "*-", "-/"):
        task = countdown(f"countdown:operations={operations},content=10,span=10,top=60,branching=2")
        signs = {token for _, trace in items(task, 3, 200) for token in trace if not token.isdecimal()}
        assert signs - {"<"} == set(operations)


def test_differences_and_quotients_are_positive_and_whole() -> None:
    task = countdown("countdown:operations=-/,content=12,span=12,top=40,branching=3")
    for prompt, trace in items(task, 3, 100):
        for event in task.verify(prompt, trace).events:
            assert 1 <= int(event.move.push[-1]) <= task.top


# --- targets ----------------------------------------------------------------------------------------------------------


def targets(task: Countdown, count: int = 1500) -> np.ndarray:
    return np.concatenate([task.draw(size, 4, range(count)).prompts[:, 0] - 5 for size in (2, 3)])


@pytest.mark.parametrize("spec", ["countdown", "countdown:operations=+-*/,content=12,span=12,top=60,branching=2"])
def test_held_out_targets_are_never_in_training(spec: str) -> None:
    task = countdown(spec)
    held_out = dataclasses.replace(task, targets="held_out")
    assert (targets(task) % 10 != HELD_OUT).all()
    assert (targets(held_out) % 10 == HELD_OUT).all()
    assert len(np.unique(targets(held_out))) >= 2, "7 and 17 at least"
    assert held_out.part("train") == task and held_out.part("test") == held_out
    assert task.part("train") == task.part("test") == task


def test_held_out_targets_bring_no_token_but_a_role() -> None:
    """They occur as numbers and as results in training, only not as what is to be reached."""
    task = countdown("countdown")
    shown = {token for size in (2, 3) for prompt, trace in items(task, size, 1000) for token in (*prompt[1:], *trace)}
    asked = {
        prompt[0] for size in (2, 3) for prompt, _ in items(dataclasses.replace(task, targets="held_out"), size, 500)
    }
    assert asked <= shown


def test_any_leaf_is_the_target_with_the_same_chance() -> None:
    """With all leaves within reach and none held out, a target is a uniform leaf: of the leaves of an item, the first
    is it as often as any other, but for equal values, which count as the first of them."""
    task = countdown("countdown:content=9,span=9,top=24")
    shares = []
    for prompt, _ in items(task, 2, 2000):
        row = [int(text) for text in prompt[1:]]
        values = [outcome(task, row, ((0, one), (0, two))) for one, two in itertools.product("+-", repeat=2)]
        leaves = [int(value) for value in values if value is not None and value % 10 != HELD_OUT]
        if len(leaves) == len(set(leaves)) == 4:
            shares.append(leaves.index(int(prompt[0])))
    counts = np.bincount(shares, minlength=4)
    assert counts.sum() > 300
    assert ((counts - counts.mean()) ** 2 / counts.mean()).sum() < 30, counts


def test_a_target_is_the_value_of_a_leaf_within_reach() -> None:
    """A value that comes up on the way is not reached by it: all steps are made."""
    task = countdown("countdown")
    passed = 0
    for prompt, trace in items(task, 3, 300):
        events = task.verify(prompt, trace).events
        passed += any(event.move.push[-1] == prompt[0] and event.depth < 3 for event in events if event.kind == "push")
        assert len(events) <= task.events(3)
    assert passed > 0
