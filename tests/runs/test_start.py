"""Training that begins with the weights of another run: which, with which encoding, and what is refused."""

from __future__ import annotations

import pytest
import torch

import lengthwise as lw
from lengthwise.errors import UsageError
from lengthwise.runs.plan import Plan, plan_for
from lengthwise.runs.run import build_model, load_run

TINY = {"depth": 1, "width": 16, "heads": 2, "steps": 5, "batch": 8}
SIZES = {"train_size": 4, "test_size": 4, "items": 5}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return lw.train("sort", "rope", **SIZES, **TINY, folder=tmp_path_factory.mktemp("runs") / "rope")


def test_positions_are_dropped_and_the_weights_stay(run):
    plan = plan_for("sort", "none", {"start": str(run.folder), "steps": 3, "batch": 8}, **SIZES)
    model, before = build_model(plan), run.model().state_dict()
    assert plan.position_name == "none" and plan.architecture.width == 16
    assert all(torch.equal(tensor, before[name]) for name, tensor in model.state_dict().items())


def test_the_plan_is_that_of_its_weights(run, tmp_path):
    plan = plan_for("sort", "none", {"start": str(run.folder), "steps": 3, "batch": 8}, **SIZES)
    assert Plan.from_plain(plan.plain()) == plan
    fresh = plan_for("sort", "none", {**TINY, "steps": 3}, **SIZES)
    assert plan.digest() != fresh.digest() and "start" not in fresh.plain()
    (tmp_path / "moved").symlink_to(run.folder)
    moved = plan_for("sort", "none", {"start": str(tmp_path / "moved"), "steps": 3, "batch": 8}, **SIZES)
    assert moved.digest() == plan.digest()


def test_it_trains_resumes_and_is_measured(run, tmp_path):
    settings = {"start": str(run.folder), "steps": 3, "batch": 8}
    found = lw.train("sort", "none", **SIZES, **settings, folder=tmp_path / "run")
    assert found.history.step == 3 and load_run(tmp_path / "run").plan == found.plan
    before = run.model().state_dict()
    moved = sum(float((one - before[name]).abs().max()) for name, one in found.model().state_dict().items())
    assert 0 < moved < 1
    assert lw.train("sort", "none", **SIZES, **settings, folder=tmp_path / "run").curve == found.curve


@pytest.mark.parametrize(
    ("position", "settings", "said"),
    [
        ("learned", {}, "another shape"),
        ("none", {"depth": 2}, "another shape"),
        ("none", {"form": "lora:rank=2"}, "in the form full"),
        ("none", {"model": "lstm"}, "our Transformer"),
    ],
)
def test_weights_that_do_not_fit_are_refused(run, position, settings, said):
    with pytest.raises(UsageError, match=said):
        build_model(plan_for("sort", position, {"start": str(run.folder), **settings}, **SIZES))


def test_a_folder_without_a_model_is_refused(tmp_path):
    with pytest.raises(UsageError, match="no trained model"):
        plan_for("sort", "none", {"start": str(tmp_path)})
