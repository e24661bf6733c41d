"""Means in blocks: the intervals cover, the detectable difference is detected as often as it says."""

import numpy as np
import pytest

from lengthwise.errors import UsageError
from lengthwise.statistics.blocked import POWER, MeanSpread, blocked_mean


def drawn(rng: np.random.Generator, tasks: int, units: int, mean: float = 0.0, between: float = 0.0) -> dict:
    """Differences with a spread of 0.05 between configurations and 0.02 between two seeds of one."""
    found = {}
    for task in range(tasks):
        own = mean + rng.normal(0, between)
        found[f"task {task}"] = {
            f"unit {unit}": list(own + rng.normal(0, 0.05) + rng.normal(0, 0.02, 2)) for unit in range(units)
        }
    return found


def within(blocks: dict) -> MeanSpread:
    found = blocked_mean(blocks).within
    assert found is not None
    return found


def test_the_mean_counts_each_value_once():
    found = blocked_mean({"one": {"a": [0.1, 0.2], "b": [0.3]}, "two": {"a": [0.6]}})
    assert found.mean == pytest.approx(0.3)
    assert found.over is not None
    assert 0.3 in found.over.interval


def test_one_block_and_one_unit():
    alone = blocked_mean({"one": {"a": [0.1], "b": [0.3]}})
    assert alone.over is None
    assert alone.spread is alone.within
    assert blocked_mean({"one": {"a": [0.1, 0.2]}}).spread is None
    with pytest.raises(UsageError):
        blocked_mean({"one": {}})


def test_the_order_of_blocks_and_units_does_not_matter():
    blocks = drawn(np.random.default_rng(0), 3, 4)
    turned = {task: dict(reversed(list(own.items()))) for task, own in reversed(list(blocks.items()))}
    assert blocked_mean(blocks) == blocked_mean(turned)


@pytest.mark.parametrize("tasks", [3, 6])
def test_coverage(tasks):
    """95 % over tasks that differ, few as they are, and within tasks."""
    rng = np.random.default_rng(1)
    found = [blocked_mean(drawn(rng, tasks, 9, mean=0.1, between=0.1)) for _ in range(100)]
    alike = [blocked_mean(drawn(rng, tasks, 9, mean=0.1)) for _ in range(100)]
    assert sum(0.1 in one.over.interval for one in found if one.over) >= 88
    assert sum(0.1 in one.within.interval for one in alike if one.within) >= 88


def test_the_detectable_difference_is_detected():
    """Shifted by what it says, a study finds a difference in about 80 % of draws; by a third of that, seldom."""
    rng = np.random.default_rng(2)
    studies = [drawn(rng, 3, 9) for _ in range(100)]
    wanted = float(np.mean([within(one).detectable for one in studies]))

    def share(shift: float) -> float:
        moved = [{t: {u: [v + shift for v in vs] for u, vs in own.items()} for t, own in s.items()} for s in studies]
        return sum(within(one).excludes_zero for one in moved) / len(moved)

    assert POWER - 0.12 <= share(wanted) <= POWER + 0.14
    assert share(wanted / 3) < 0.4
