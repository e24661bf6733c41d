"""Intervals whose unit is the task: the rank rule, its guarantee by simulation, and too few tasks."""

from __future__ import annotations

import math

import numpy as np
import pytest

from lengthwise.forecasts.baselines import CELL, BaseRate
from lengthwise.forecasts.conformal import covers, interval, least_tasks
from lengthwise.forecasts.distributions import GRID, middle, steps
from lengthwise.forecasts.predicting import outlook
from lengthwise.forecasts.similar import Cases


@pytest.mark.parametrize("level, least", [(0.9, 9), (0.95, 19), (0.8, 4), (0.5, 1)])
def test_the_least_number_of_tasks(level, least):
    assert least_tasks(level) == least
    own = np.tile(steps(np.array([0.0, 1.0])).mean(axis=0), (least, 1))
    assert interval(own, np.zeros(least), np.arange(least), level) is not None
    assert interval(own[1:], np.zeros(least - 1), np.arange(least - 1), level) is None


@pytest.mark.parametrize("tasks", [9, 20, 37])
def test_fixed_forecasts_and_one_run_per_task_give_the_rank_rule(tasks):
    drawn = np.random.default_rng(tasks)
    F = steps(drawn.random(50)).mean(axis=0)
    known = drawn.random(tasks) / 2
    rank = math.ceil((tasks + 1) * 0.9)
    usual = np.flatnonzero(np.abs(middle(F) - 0.5) <= np.sort(known)[rank - 1])
    found = interval(np.tile(F, (tasks, 1)), known, np.arange(tasks))
    assert found is not None
    assert (found.low, found.high) == (GRID[usual[0]], GRID[usual[-1]])


def outcomes_of(tasks: int, runs: int, drawn: np.random.Generator) -> np.ndarray:
    """Two-peaked outcomes: runs of a task share a probability of holding, so that runs are not exchangeable."""
    chance = drawn.beta(0.3, 0.5, tasks)[:, None]
    held = drawn.random((tasks, runs)) < chance
    return np.where(held, 1 - drawn.random((tasks, runs)) / 20, drawn.random((tasks, runs)) * chance)


def test_a_task_that_is_like_the_others_is_covered_as_often_as_promised():
    """Forecasts and scores are made as for a user: from the known tasks alone."""
    drawn, tasks, runs, trials = np.random.default_rng(0), 24, 3, 150
    inside = 0
    for _ in range(trials):
        values = outcomes_of(tasks + 1, runs, drawn).reshape(-1)
        task = np.repeat(np.arange(tasks + 1), runs)
        features = {name: np.full(len(task), "") for name in CELL}
        cases = Cases(
            task,
            np.full(len(task), ""),
            features,
            np.full(len(task), 1 / runs),
            steps(values)[:, None],
            values[:, None],
        )
        known, asked = cases.part(task < tasks), cases.part(np.flatnonzero(task == tasks)[:1])
        found = outlook(BaseRate(), asked, known, 0, 0.8).intervals[0]
        assert found is not None
        inside += covers(found, values[task == tasks][0])
    # guaranteed: 0.6; typical: 0.8, with a standard error of 0.033
    assert inside / trials > 0.66
