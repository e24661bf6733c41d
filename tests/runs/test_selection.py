"""The choice among recipes and encodings rests on held-out sizes inside the training range, and on nothing else."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

import lengthwise as lw
from lengthwise.cli import main
from lengthwise.errors import UsageError
from lengthwise.probes.curve.curve import Curve, Point
from lengthwise.runs import selected as runs
from lengthwise.runs.plan import Plan
from lengthwise.runs.selection import CANDIDATES, best_of, candidates, chosen_among, held_out

TINY = {"depth": 1, "width": 16, "heads": 1, "steps": 3, "batch": 4}
RECIPES = {"one": TINY, "two": {**TINY, "rate": 1e-3}}


def curve_with(plan: Plan, inside: float, beyond: float, held: int) -> Curve:
    """Exact match `inside` on the sizes up to `held`, and `beyond` on larger ones."""
    points = [
        Point(size, size, 100, round(100 * (inside if size <= held else beyond)), 100, 100, 0.1, 0.0, 0.0)
        for size in range(1, 41)
    ]
    return Curve(plan.task_name, plan.position_name, plan.train_size, plan.seed, tuple(points))


def test_candidates_are_measured_inside_the_training_range_alone() -> None:
    tried = candidates("sort", ["none", "rope"], RECIPES, train_size=20, test_size=60)
    assert len(tried) == 4
    for one in tried:
        assert (one.trial.train_size, one.trial.test_size) == (16, 20) and max(one.trial.measured_sizes) == 20
        assert (one.whole.train_size, one.whole.test_size) == (20, 60)
        assert one.trial.recipe == one.whole.recipe and one.trial.architecture == one.whole.architecture


def test_a_run_that_is_better_only_beyond_is_not_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Even if somebody had measured the candidates beyond the training range, as this planted run was."""
    seen = []

    def planted(plan: Plan, *_: object) -> SimpleNamespace:
        seen.append(plan)
        good = plan.recipe.rate == 1e-3
        return SimpleNamespace(curve=curve_with(plan, 0.5 if good else 0.9, 1.0 if good else 0.0, 20), plan=plan)

    monkeypatch.setattr(runs, "carry_out", planted)
    found = runs.carry_out_selection(candidates("sort", ["none"], RECIPES, train_size=20, test_size=40))
    assert found.run.plan.recipe.rate != 1e-3 and found.record.claim("selection.chosen").value == "one, none"
    assert [plan.test_size for plan in seen] == [20, 20, 40], "one run alone is measured beyond, after the choice"


def test_ties_go_to_the_least_loss_and_then_to_the_first() -> None:
    tried = candidates("sort", ["none"], RECIPES, train_size=20, test_size=40)
    curves = [curve_with(tried[0].trial, 1.0, 0.0, 20) for _ in range(3)]
    better = replace(curves[1], points=tuple(replace(point, loss=0.05) for point in curves[1].points))
    found = [held_out(tried[0], curve) for curve in (curves[0], better, curves[2])]
    assert best_of(found) == 1 and best_of([found[0], found[2]]) == 0 and found[0].items == 400


def test_what_cannot_be_chosen_is_refused() -> None:
    with pytest.raises(UsageError, match="at least two candidates"):
        candidates("sort", ["none"], {"one": {}})
    with pytest.raises(UsageError, match="no size can be held out"):
        candidates("sort", ["none", "rope"], {"one": {}}, train_size=1, test_size=4)
    with pytest.raises(UsageError, match="recipes, encodings or"):
        chosen_among("everything", "none")
    assert "t5" in chosen_among("encodings", "kerple")[0] and "kerple" in chosen_among("encodings", "kerple")[0]


def test_selection_from_python(tmp_path: Path) -> None:
    found = lw.select(
        "binary_majority", ["none"], RECIPES, train_size=5, test_size=8, items=4, folder=tmp_path / "here"
    )
    rows = found.record.table(CANDIDATES).records()
    best = max(rows, key=lambda row: (row["exact"], -row["loss"]))
    assert found.record.claim("selection.chosen").value == f"{best['recipe']}, none"
    assert found.run.plan.test_size == 8 and len(found.run.curve.points) == 8
    assert sorted(path.name[:9] for path in (tmp_path / "here").iterdir()) == ["candidate", "candidate", "chosen"]


def test_selection_from_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = [
        "train",
        "binary_majority",
        "--select",
        "encodings",
        "--steps",
        "2",
        "--train-size",
        "5",
        "--test-size",
        "6",
    ]
    more = ["--items", "2", "--depth", "1", "--width", "16", "--heads", "1", "--quiet"]
    assert main([*line, *more, "--folder", str(tmp_path / "here"), "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert len(content["selection"]["tables"][0]["rows"]) == 6 and content["plan"]["train_size"] == 5
    assert main([*line, "--seeds", "2"]) == 2
