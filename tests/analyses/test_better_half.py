"""The better half of the configurations, level by level."""

from __future__ import annotations

import pytest

from lengthwise.analyses.evidence import Evidence
from lengthwise.analyses.ladder.better_half import better_half, better_half_table
from planted_evidence import Place, planted


def deeper_is_worse(place: Place) -> float:
    """A tenth more at each level of depth, from 0.1 (width 64) or 0.5 (width 16) on; branching costs everybody all."""
    start = {16: 0.5, 32: 0.3, 64: 0.1}[place.width]
    return {"training": 0.0, "depth": start + 0.1 * (place.value - 4)}.get(place.axis, 1.0)


def test_risks_and_solved_problems_of_the_better_half_are_found_again():
    steps = better_half(planted(deeper_is_worse, tasks=("one",), depths=(1, 2), seeds=(0, 1)))
    assert [(step.axis, step.number) for step in steps if step.axis == "depth"] == [
        ("depth", 1),
        ("depth", 2),
        ("depth", 3),
    ]
    first, last = (step for step in steps if step.axis == "depth" and step.number != 2)
    assert len(first.risks) == 6  # of 12: all 4 of width 64, and 2 of the 4 of width 32
    assert sorted(first.risks) == pytest.approx([0.1] * 4 + [0.3] * 2)
    assert (first.solved, first.decoded) == (4 * 2 * 90 + 2 * 2 * 70, 6 * 2 * 100)
    assert last.risk == pytest.approx(first.risk + 0.2)
    assert all(step.share == 0 for step in steps if step.axis == "branching")


def test_each_axis_has_its_own_better_half():
    def crossed(place: Place) -> float:
        return 0.2 if (place.position == "rope") == (place.axis == "depth") else 0.8

    steps = better_half(planted(crossed, tasks=("one",)))
    assert all(step.risk == pytest.approx(0.2) for step in steps)


def test_levels_come_from_training_on_and_claims_are_about_the_first():
    steps = better_half(planted(deeper_is_worse, tasks=("one",), levels=(("depth", 6), ("training", 0), ("depth", 5))))
    assert [step.number for step in steps] == [1, 2] and steps[0].risk < steps[1].risk
    assert [claim.key for claim in steps[0].claims()] == ["better_half.risk", "better_half.solved"]
    assert steps[1].claims() == []
    table = better_half_table(steps).records()
    assert [row["share"] for row in table] == [step.share for step in steps]


def test_nothing_was_measured():
    assert better_half(Evidence((), ())) == []
    assert better_half(planted(deeper_is_worse, levels=(("training", 0),))) == []
