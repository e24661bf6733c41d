"""How long a study will take, said before it is started: two seconds of real work, from which hours are extended.

Kinds of plan are chosen so that every task, then every encoding, is met early; of each, a few training steps at one
size and one measured size are timed until the time is up. The constants of the cost model are fitted to that, and
what the model cannot know (a slow sampler, an encoding with a bias) remains as a factor of the task and the encoding.
"""

from __future__ import annotations

import dataclasses
import heapq
import itertools
import math
import random
import statistics
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
import torch
from scipy.optimize import nnls

from lengthwise.errors import Interrupted, UsageError
from lengthwise.probes.curve.evaluate import measure_size
from lengthwise.runs.environment import threads
from lengthwise.runs.plan import Plan
from lengthwise.runs.run import build_model
from lengthwise.seeds import Floats
from lengthwise.studies.costs import RUN, SIZE, STEP, plan_work, probe_seconds, relative_cost, size_work, step_work
from lengthwise.subjects.run import NetworkAnswers
from lengthwise.training.lengths import Fixed
from lengthwise.training.loop import train_model

K = TypeVar("K")

_STEPS = 3  # of each kind
_ITEMS = 50  # at most, of the measured size
_TRUST = 0.05  # how much a deviation from the usual constants weighs against one from what was timed


@dataclass(frozen=True)
class Timing:
    """What one piece of work took."""

    task: str
    position: str
    work: Floats
    seconds: float


@dataclass(frozen=True)
class Pace:
    """Seconds a unit of work, with a factor for every task and encoding that was timed."""

    constants: Floats
    factors: dict[tuple[str, str], float] = field(default_factory=dict)

    def factor(self, plan: Plan) -> float:
        """Of this task with this encoding; failing that, of the task times that of the encoding; failing that, 1."""
        task, position = plan.task_name, plan.model_name
        if (task, position) in self.factors:
            return self.factors[task, position]
        return self.factors.get((task, ""), 1.0) * self.factors.get(("", position), 1.0)


@dataclass(frozen=True)
class MachinePace:
    """The pace of training steps and of measured sizes, and from how many kinds of plan it was found."""

    step: Pace = Pace(STEP)
    size: Pace = Pace(SIZE)
    kinds: int = 0

    def seconds(self, plan: Plan) -> float:
        """What a run will take, but for what every run takes."""
        work = plan_work(plan)
        training, measuring = work.seconds(self.step.constants, self.size.constants)
        training *= self.step.factor(plan)
        # Other probes make many small passes, as training does; a measured size is mostly drawing items.
        speed = training / work.seconds()[0]
        return training + measuring * self.size.factor(plan) + probe_seconds(plan) * speed


@dataclass(frozen=True)
class Estimate:
    """Seconds of wall time for all plans, seconds of each, and how many kinds of plan were timed to know it."""

    seconds: float
    per_plan: tuple[float, ...]
    calibrated: int


def estimate(plans: Sequence[Plan], seconds: float = 2.0, workers: int = 1, threads: int = 1) -> Estimate:
    """What the plans will take on this machine with `workers` workers, from a calibration of `seconds` seconds.

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


def calibrate(plans: Sequence[Plan], seconds: float = 2.0, thread_count: int = 1) -> MachinePace:
    """Time kinds of plan until the time is up; a kind that fails is passed over, as its runs will say why. The time
    counts from the second kind on, since in its first step torch loads what it needs. The caller's random state is
    left alone."""
    steps: list[Timing] = []
    sizes: list[Timing] = []
    with threads(thread_count), torch.random.fork_rng(devices=[]):
        chosen = itertools.chain([min(plans, key=relative_cost)], _spread(plans)) if seconds > 0 else ()
        ends, longest = math.inf, 0.0
        for number, plan in enumerate(chosen):
            began = time.monotonic()
            if number > 1 and began + longest > ends:
                break
            try:
                step, size = _timed(plan, number % 2 == 1)
            except Interrupted:
                raise
            except Exception:  # of a user's task, or of a plan that cannot be trained
                continue
            if number == 0:
                ends = time.monotonic() + seconds
            else:
                longest = max(longest, time.monotonic() - began)
                steps.append(step)
                sizes.append(size)
    return MachinePace(fitted(steps, STEP), fitted(sizes, SIZE), len(steps)) if steps else MachinePace()


def fitted(timings: Sequence[Timing], usual: Floats) -> Pace:
    """Constants that fit the timings, none below 0 and none far from the usual ones where the timings do not say; and
    the residuals as factors.
    """
    work = np.array([timing.work for timing in timings])
    taken = np.array([timing.seconds for timing in timings])
    speed = float(np.median(taken / (work @ usual)))
    rows = np.vstack([work / taken[:, None], np.sqrt(_TRUST) * np.diag(1 / (speed * usual))])
    wanted = np.concatenate([np.ones(len(taken)), np.full(len(usual), np.sqrt(_TRUST))])
    constants: Floats = nnls(rows, wanted)[0]
    left = np.log(taken / (work @ constants))
    return Pace(constants, _factors(timings, left))


def _factors(timings: Sequence[Timing], left: Floats) -> dict[tuple[str, str], float]:
    """The residuals as factors: of a task, of an encoding, and of both together where that pair was timed.

    The logarithm is taken to be a part of the task plus a part of the encoding; each is the mean of what the other
    leaves, by turns, which ends at the least squares though not every pair was timed."""
    excesses, rounds = left.tolist(), 20
    of_task: dict[str, float] = {}
    of_position = {timing.position: 0.0 for timing in timings}
    for _ in range(rounds):
        of_task = _means((t.task, e - of_position[t.position]) for t, e in zip(timings, excesses, strict=True))
        of_position = _means((t.position, e - of_task[t.task]) for t, e in zip(timings, excesses, strict=True))
    of_both = _means(((t.task, t.position), e) for t, e in zip(timings, excesses, strict=True))
    alone = {(task, ""): mean for task, mean in of_task.items()}
    alone |= {("", position): mean for position, mean in of_position.items()}
    return {key: math.exp(mean) for key, mean in {**alone, **of_both}.items()}


def _means(pairs: Iterable[tuple[K, float]]) -> dict[K, float]:
    groups: dict[K, list[float]] = defaultdict(list)
    for key, value in pairs:
        groups[key].append(value)
    return {key: statistics.fmean(group) for key, group in groups.items()}


def _timed(plan: Plan, largest: bool) -> tuple[Timing, Timing]:
    """A few steps at the largest or at a middle training size, or all of a pool; and a middle test size measured."""
    model, names = build_model(plan), (plan.task_name, plan.model_name)
    size = plan.train_sizes[-1 if largest else len(plan.train_sizes) // 2]
    pooled = plan.recipe.pool > 1
    steps, sizes = (plan.recipe.pool, plan.recipe.sizes) if pooled else (_STEPS, Fixed(size))
    recipe = dataclasses.replace(plan.recipe, steps=steps, check_every=steps, sizes=sizes, stop_at=None)
    history = train_model(model, plan.task.part("train"), recipe, plan.train_size, plan.seed)
    step = Timing(*names, step_work(plan, [size]), history.seconds / steps)
    items, size = min(plan.items, _ITEMS), plan.test_sizes[len(plan.test_sizes) // 2]
    began = time.monotonic()
    measure_size(NetworkAnswers(model), plan.task.part("test"), size, items, plan.seed)
    return step, Timing(*names, size_work(plan, [size], items), time.monotonic() - began)


def _spread(plans: Sequence[Plan]) -> Iterator[Plan]:
    """One plan of each kind: one of middling cost, then kinds such that every task and encoding is met early on."""
    kinds = {
        (plan.task_name, plan.model_name, repr(plan.architecture), plan.recipe.batch, plan.train_size): plan
        for plan in plans
    }
    waiting = list(kinds.values())
    random.Random(0).shuffle(waiting)
    plan = sorted(waiting, key=relative_cost)[len(waiting) // 2]
    tasks_met: Counter[str] = Counter()
    positions_met: Counter[str] = Counter()
    while True:
        yield plan
        waiting.remove(plan)
        tasks_met[plan.task_name] += 1
        positions_met[plan.model_name] += 1
        if not waiting:
            return
        plan = min(waiting, key=lambda one: (tasks_met[one.task_name], positions_met[one.model_name]))
