"""A curve on a geometric grid: which sizes, that runs and studies keep it, and that its record names them."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lengthwise.errors import UsageError
from lengthwise.probes.curve import CurveProbe
from lengthwise.probes.probe import probes
from lengthwise.runs.plan import plan_for
from lengthwise.runs.run import carry_out, load_run
from lengthwise.studies.costs import relative_cost
from lengthwise.studies.record import read_finished
from lengthwise.tasks import tasks
from lengthwise.tasks.sizes import geometric_sizes

GRID = CurveProbe(grid="geometric")


@pytest.mark.parametrize(
    ("task", "trained", "tested", "found"),
    [
        ("parity", 20, 160, [1, 2, 5, 10, 15, 20, 25, 30, 40, 50, 60, 80, 100, 120, 160]),
        ("parity", 20, 60, [1, 2, 5, 10, 15, 20, 25, 30, 40, 50, 60]),
        ("parity", 20, 33, [1, 2, 5, 10, 15, 20, 25, 30, 33]),
        ("parity", 5, 5, [1, 2, 3, 5]),
        ("tomita_5", 10, 40, [2, 4, 6, 10, 12, 14, 20, 24, 30, 40]),  # even sizes alone: the next smaller one
        ("addition", 12, 24, [4, 6, 9, 12, 15, 18, 24]),  # sizes begin at 4
    ],
)
def test_sizes(task: str, trained: int, tested: int, found: list[int]) -> None:
    assert geometric_sizes(tasks.make(task), trained, tested) == found


@given(st.integers(8, 60), st.integers(1, 12))
def test_the_grid_has_both_ends_and_no_wide_gap(trained: int, multiple: int) -> None:
    sizes = geometric_sizes(tasks.make("parity"), trained, multiple * trained)
    assert {1, trained, multiple * trained} <= set(sizes) and len(sizes) <= 8 + 3 * multiple.bit_length()
    beyond = [size for size in sizes if size >= trained]
    assert all(after <= 1.5 * before for before, after in itertools.pairwise(beyond))


def test_a_run_keeps_the_grid(tmp_path: Path) -> None:
    settings = {"depth": 1, "width": 16, "heads": 1, "steps": 2, "batch": 4}
    plan = plan_for("parity", "none", settings, train_size=4, test_size=32, items=3, probes=["curve:grid=geometric"])
    run = carry_out(plan, tmp_path)
    wanted = [1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32]
    assert [point.size for point in run.curve.points] == wanted == list(plan.measured_sizes)
    assert load_run(tmp_path).curve == run.curve == read_finished(tmp_path).curve
    assert run.record("curve").settings["grid"] == "geometric"
    every = plan_for("parity", "none", settings, train_size=4, test_size=32, items=3)
    assert relative_cost(plan) < relative_cost(every), "the estimate of a study counts the sizes that are measured"


@pytest.mark.wording
def test_the_sizes_of_a_grid_are_named(tmp_path: Path) -> None:
    settings = {"depth": 1, "width": 16, "heads": 1, "steps": 1, "batch": 4}
    plan = plan_for("parity", "none", settings, train_size=4, test_size=32, items=3, probes=["curve:grid=geometric"])
    assert "16, 20, 24, 32" in carry_out(plan, tmp_path).record("curve").text[-1]


def test_another_grid_is_refused() -> None:
    assert probes.make("curve:grid=geometric") == GRID
    with pytest.raises(UsageError, match="one of every, geometric"):
        probes.make("curve:grid=sparse")
