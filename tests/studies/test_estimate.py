"""The estimate of a study's time: against real runs, against schedules found by trying all, with broken tasks."""

from __future__ import annotations

import itertools
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from lengthwise.errors import Interrupted, UsageError
from lengthwise.probes.ladder import LadderProbe
from lengthwise.runs.plan import Plan, plan_for
from lengthwise.studies import estimate as module
from lengthwise.studies.costs import (
    RUN,
    SIZE,
    STEP,
    plan_work,
    pooled_widths,
    probe_seconds,
    relative_cost,
    size_work,
    step_work,
)
from lengthwise.studies.estimate import Timing, calibrate, estimate, fitted, wall_time
from lengthwise.studies.grid import plans
from lengthwise.studies.spec import Study
from lengthwise.tasks.batch import Batch
from own_tasks import BROKEN, written


def small(task: str = "sort", position: str = "none", train_size: int = 10, **model: int) -> Plan:
    return plan_for(task, position, {**model, "steps": 100}, train_size=train_size, items=50)


def test_the_time_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """By a clock that only the timed work moves: six kinds of a tenth of a second each, after one that loads torch."""
    made = plans(Study("x", ["sort", "parity", "tomita_4"], ["none", "rope"], model={"depth": [1, 2, 3]}, seeds=3))
    clock = [1000.0]

    def timed(plan: Plan, _: bool) -> tuple[Timing, Timing]:
        clock[0] += 0.1
        work = step_work(plan, [5]), size_work(plan, [5], 50)
        return tuple(Timing(plan.task_name, plan.position_name, part, 0.05) for part in work)  # pyright: ignore[reportReturnType]

    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    monkeypatch.setattr(module, "_timed", timed)
    assert calibrate(made, 0.61).kinds == 6
    assert clock[0] == pytest.approx(1000.7)


def test_workers_and_nothing_to_do() -> None:
    assert estimate([], workers=2).seconds == 0
    with pytest.raises(UsageError, match="at least 1 worker, not 0"):
        estimate([small()], workers=0)
    guess = estimate([small()] * 4, seconds=0, workers=2)
    assert guess.calibrated == 0 and guess.seconds == pytest.approx(2 * guess.per_plan[0])
    assert guess.per_plan[0] == pytest.approx(relative_cost(small()))


def test_what_makes_a_run_longer() -> None:
    base = relative_cost(small())
    assert relative_cost(small(depth=4)) > base and relative_cost(small(width=256)) > base
    assert relative_cost(small(train_size=20)) > base
    assert relative_cost(plan_for("sort", "none", {"steps": 200}, train_size=10, items=50)) > base
    assert relative_cost(plan_for("sort", "none", {"steps": 100}, train_size=10, items=500)) > base
    assert relative_cost(plan_for("sort", "none", {"steps": 100}, train_size=10, test_size=60)) > base


def test_work_is_the_formula() -> None:
    plan = plan_for("sort", "none", {"depth": 3, "width": 8, "heads": 1, "batch": 5}, train_size=4)
    tokens = 2 * 4 + 2  # <bos> prompt <sep> answer
    expected = [1, 3, 5 * 3 * tokens * 12 * 64, 5 * 3 * tokens**2 * 8, 5 * tokens]
    assert step_work(plan, [4]).tolist() == expected
    two = size_work(plan, [4, 4], 5).tolist()
    assert two == [*(2 * part for part in expected), 2 * 1000 * tokens]
    fixed = plan_for("sort", "none", {"sizes": "fixed:size=2", "steps": 10}, train_size=4)
    assert plan_work(fixed).steps == pytest.approx(10 * step_work(fixed, [2]))


def test_a_pooled_batch_is_as_long_as_its_items_and_a_ladder_is_counted() -> None:
    given = {"train_size": 3, "test_size": 4, "items": 5}
    alone = plan_for("subset_sum", "none", {"batch": 8}, **given)
    pooled = plan_for("subset_sum", "none", {"batch": 8, "pool": 16}, **given)
    widths = pooled_widths(pooled)
    lengths = [_length(pooled.task.batch(size, 0, range(200))) for size in (2, 3)]
    assert len(widths) == 16 and widths.mean() == pytest.approx(np.concatenate(lengths).mean(), rel=0.25)
    assert widths.min() < widths.max() <= pooled.task.width(3)
    assert step_work(pooled, [3])[4] == pytest.approx(8 * widths.mean())
    assert step_work(pooled, [3])[4] < step_work(alone, [3])[4]
    climbed = plan_for("subset_sum", "none", {"batch": 8}, **given, probes=[LadderProbe(8, 4, 4)])
    more = plan_for("subset_sum", "none", {"batch": 8}, **given, probes=[LadderProbe(16, 8, 4)])
    assert relative_cost(alone) < relative_cost(climbed) < relative_cost(more)
    assert probe_seconds(alone) == 0 and estimate([climbed, pooled], seconds=0.3).calibrated


def _length(batch: Batch) -> np.ndarray:
    """Tokens up to the last that is asked for, counted row by row."""
    return np.array([max(np.flatnonzero(row)) + 1 for row in batch.scored])


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(1, 20), min_size=1, max_size=6), st.integers(1, 3))
def test_longest_first_is_near_the_best_schedule(costs: list[int], workers: int) -> None:
    best = min(
        max(sum(c for c, at in zip(costs, where, strict=True) if at == worker) for worker in range(workers))
        for where in itertools.product(range(workers), repeat=len(costs))
    )
    assert best <= wall_time(costs, workers) <= (4 / 3 - 1 / (3 * workers)) * best + 1e-9


def test_the_fit_finds_the_pace_of_another_machine() -> None:
    """Five times as slow, one task twice as slow again, one encoding thrice: all of it is found from few timings."""
    factors = {"sort": 1.0, "parity": 2.0}, {"none": 1.0, "rope": 3.0}
    made = [small(t, p, n, depth=d) for t in factors[0] for p in factors[1] for n in (5, 10) for d in (1, 2, 3)]

    def truth(plan: Plan) -> float:
        return 5 * factors[0][plan.task_name] * factors[1][plan.position_name]

    for usual, work in ((STEP, lambda p: step_work(p, [5])), (SIZE, lambda p: size_work(p, [5], 50))):
        known = [p for p in made if (p.task_name, p.position_name) != ("parity", "rope")]
        timings = [Timing(p.task_name, p.position_name, work(p), truth(p) * float(work(p) @ usual)) for p in known]
        pace = fitted(timings, usual)
        for plan in made:
            guess = pace.factor(plan) * float(work(plan) @ pace.constants)
            assert 1 / 1.5 < guess / (truth(plan) * float(work(plan) @ usual)) < 1.5


def test_a_broken_task_does_not_stop_the_estimate(tmp_path: Path) -> None:
    written(tmp_path / "mine.py", BROKEN)
    broken = plan_for(f"{tmp_path}/mine.py", "none", train_size=4)
    assert estimate([broken], seconds=0.1).calibrated == 0
    both = estimate([broken, small()], seconds=0.2)
    assert both.calibrated == 1 and all(cost > RUN for cost in both.per_plan)


def test_an_interruption_goes_through(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise Interrupted("stopped")

    monkeypatch.setattr(module, "train_model", interrupted)
    with pytest.raises(Interrupted):
        estimate([small()])


def test_calibration_leaves_no_trace() -> None:
    before, count = torch.random.get_rng_state(), torch.get_num_threads()
    calibrate([small(position="learned+offset")], 0.05)
    assert torch.equal(torch.random.get_rng_state(), before) and torch.get_num_threads() == count


def test_every_task_and_encoding_is_met_early() -> None:
    made = plans(
        Study("x", ["sort", "parity", "tomita_4"], ["none", "rope", "alibi"], seeds=2, model={"depth": [1, 2]})
    )
    order = list(module._spread(made))
    assert len(order) == 18, "seeds are of one kind"
    assert {p.task_name for p in order[:3]} == {"sort", "parity", "tomita_4"}
    assert {p.position_name for p in order[:3]} == {"none", "rope", "alibi"}
