"""Intervals for exact match whose unit is the task: hierarchical jackknife+ (lee2023).

Let n tasks be known, each with one run or several, and let the task asked about be exchangeable with them. For a known
task b let F be the forecasts made without b, and let the score of an outcome y be |F(y) - 1/2|, F the mid-distribution
function. An outcome y is left out of the interval of level 1 - a when

    sum_b (share of the runs of b whose score is >= that of y) + 1  <=  a (n + 1),

both scores being those without b. With one run per task, and forecasts that were fixed beforehand, this is the rank
ceil((n + 1)(1 - a)). With n < 1 / a - 1 nothing is ever left out: there is no interval, and none is given. The true
outcome is left out with probability at most 2 a, whatever the distribution (proved in docs/how-to/forecast.md); in
practice it is close to a, and `lengthwise forecast --evaluate` measures how close.
"""

from __future__ import annotations

import math

import numpy as np

from lengthwise.forecasts.distributions import GRID, middle, place
from lengthwise.records import Interval
from lengthwise.seeds import Floats

LEVEL = 0.9
METHOD = "conformal, by task"
_TIE = 1e-5  # scores that differ by rounding alone are equal


def least_tasks(level: float = LEVEL) -> int:
    """The least number of tasks that give an interval of this level: 19 for 95 %, 9 for 90 %."""
    return math.ceil(1 / (1 - level) - 1 - 1e-9)


def scores(F: Floats, outcomes: Floats) -> Floats:
    """|F(y) - 1/2| for one outcome per forecast."""
    found = np.take_along_axis(middle(F), place(outcomes)[..., None], axis=-1)[..., 0]
    return np.abs(found - 0.5)


def covers(ends: Interval, value: float) -> bool:
    """Whether an interval holds a value, to the nearest hundredth: its ends are values of the grid."""
    return bool(ends.low - 0.005 <= value <= ends.high + 0.005)


def interval(own: Floats, known: Floats, tasks: np.ndarray, level: float = LEVEL) -> Interval | None:
    """The interval of one run asked about.

    `own` [tasks, grid] are the forecasts for it without each known task. `known` are the scores of the known runs, and
    `tasks` [runs] the places of their tasks in `own`. None where there are too few tasks.
    """
    present = np.unique(tasks)
    if len(present) < least_tasks(level):
        return None
    candidates = np.abs(middle(own) - 0.5)  # [tasks, grid]
    share = 1 / np.bincount(tasks)[tasks]  # of a run in its task
    total = 1 + share @ (known[:, None] >= candidates[tasks] - _TIE)
    inside = np.flatnonzero(total > (1 - level) * (len(present) + 1) + 1e-9)
    if not len(inside):  # no outcome is usual: the least unusual one
        inside = np.flatnonzero(total == total.max())
    return Interval(float(GRID[inside[0]]), float(GRID[inside[-1]]), level, METHOD)
