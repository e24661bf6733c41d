"""What was learned in the training range."""

from __future__ import annotations

import pytest

from lengthwise.analyses.evidence import Evidence
from lengthwise.analyses.ladder.risk import in_range
from planted_evidence import Place, planted


def wider_is_better(place: Place) -> float:
    """Width 16 fails in range, 32 just learns it, 64 is better; beyond it all fail, which must not count."""
    if place.axis != "training":
        return 0.9
    return {16: 0.16, 32: 0.15, 64: 0.05}[place.width] + (0.02 if place.position == "rope" else 0.0)


def test_counts_and_the_best():
    (task,) = in_range(planted(wider_is_better, tasks=("one",), depths=(2,)))
    assert (task.learned, task.configurations) == (3, 6)  # learned+offset from 32 on, rope at 64
    assert task.best == ("one", "learned+offset", 2, 64)
    assert task.token == pytest.approx(0.95, abs=0.005)
    assert 0 <= task.solved <= task.decoded > 0


def test_seeds_are_averaged():
    """One seed that learned and one that did not: the mean decides."""
    alone = {"tasks": ("one",), "positions": ("rope",), "depths": (1,), "widths": (16,), "seeds": (0, 1)}
    assert in_range(planted(lambda place: 0.25 * place.seed, **alone))[0].learned == 1
    assert in_range(planted(lambda place: 0.4 * place.seed, **alone))[0].learned == 0


def test_every_task_has_claims_with_an_interval_where_counts_allow_it():
    found = in_range(planted(wider_is_better))
    assert [task.task for task in found] == ["one", "two", "three"]
    claims = [claim for task in found for claim in task.claims()]
    assert len(claims) == 9 and all(claim.kind == "measured" for claim in claims)
    assert [claim.interval is not None for claim in claims] == [False, False, True] * 3


def test_nothing_was_measured():
    assert in_range(Evidence((), ())) == []


def test_models_whose_training_range_was_not_measured_are_left_out():
    assert in_range(planted(wider_is_better, levels=(("depth", 4), ("depth", 5)))) == []
