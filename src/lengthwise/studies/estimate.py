"""How long a study will take, said before it is started."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

from lengthwise.errors import UsageError
from lengthwise.runs.plan import Plan
from lengthwise.studies.calibration import calibrate
from lengthwise.studies.costs import RUN, relative_cost

__all__ = ["Estimate", "estimate", "relative_cost", "wall_time"]


@dataclass(frozen=True)
class Estimate:
    """Seconds of wall time for all plans, seconds of each, and how many kinds of plan were timed to know it."""

    seconds: float
    per_plan: tuple[float, ...]
    calibrated: int


def estimate(plans: Sequence[Plan], seconds: float = 2.0, workers: int = 1, threads: int = 1) -> Estimate:
    """What the plans will take on this machine with so many workers, from a calibration of so many seconds.

    Expect to be off by a factor of up to 2.5 either way: two seconds are few, a machine shared with others is slower
    later or was slower just now, and workers slow one another down where they share a cache. Training that stops early
    (`stop_at`) is counted in full, so there it is an upper bound; the start of the workers, some seconds, is not
    counted. The calibration can overrun by what its first kind of plan takes."""
    if workers < 1:
        raise UsageError(f"a study needs at least 1 worker, not {workers}")
    if not plans:
        return Estimate(0.0, (), 0)
    pace = calibrate(plans, seconds, threads)
    costs = tuple(pace.seconds(plan) + RUN for plan in plans)
    return Estimate(wall_time(costs, workers), costs, pace.kinds)


def wall_time(costs: Sequence[float], workers: int) -> float:
    """When the last worker is done if each takes the longest run that is left: at most 4/3 of the best possible."""
    busy = [0.0] * min(workers, max(1, len(costs)))
    for cost in sorted(costs, reverse=True):
        heapq.heapreplace(busy, busy[0] + cost)
    return max(busy)
