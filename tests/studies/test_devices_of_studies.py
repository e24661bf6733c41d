"""The device of a study reaches its workers."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from lengthwise.errors import UsageError
from lengthwise.executors import Executor, Job, Outcome
from lengthwise.hardware import computing
from lengthwise.runs.run import load_run
from lengthwise.studies.coordinator import carry_out_study
from lengthwise.studies.spec import Study
from lengthwise.studies.worker import work

STUDY = Study(
    "devices", ["binary_majority"], train_size=3, test_size=4, items=4, model={"depth": 1, "width": 16, "heads": 1},
    training={"steps": 2, "batch": 4}, override=[{"task": "binary_majority", "training": {"steps": 3}}],
)  # fmt: skip


@dataclass(eq=False)
class Noting(Executor):
    """Runs nothing, and keeps what it was asked."""

    gpus: bool = False
    asked: list[Job] = field(default_factory=list)

    @property
    def slots(self) -> int:
        return 1

    @property
    def gives_gpus(self) -> bool:
        return self.gpus

    def _start(self, job: Job) -> None:
        self.asked.append(job)

    def _collect(self, seconds: float) -> list[Outcome]:
        return [Outcome(job.key, "failed") for job in self.asked[-1:]]

    def _ask(self, key: str) -> None: ...

    def _kill(self, keys: Any) -> None: ...


@pytest.mark.parametrize(
    ("device", "gpus", "wanted"),
    [(None, False, None), ("mps", False, "mps"), (None, True, "cuda"), ("cpu", True, "cpu"), ("auto", True, "auto")],
)
def test_workers_compute_where_the_study_does(device, gpus, wanted, tmp_path):
    executor = Noting(gpus=gpus)
    with computing(device, compile=True):
        carry_out_study(STUDY, tmp_path / "study", executor)
    assert [job.arguments["how"] for job in executor.asked] == 2 * [
        {"device": wanted, "precision": "float32", "compile": True}
    ]
    assert {job.folder.parent for job in executor.asked if job.folder} == {tmp_path / "study" / "runs"}


def test_a_device_that_is_not_here_is_said_before_local_workers_start(tmp_path, monkeypatch):
    import torch

    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(UsageError, match="cpu"), computing("cuda"):
        carry_out_study(STUDY, tmp_path / "study", "local:workers=1")


def test_a_worker_does_what_it_is_told(tmp_path: Path, monkeypatch):
    from lengthwise.studies.grid import plans

    study = STUDY.with_training(precision="bf16")
    assert study.plain()["override"][0]["training"] == {"steps": 3, "precision": "bf16"}
    (plan,) = plans(study)
    assert plan.recipe.precision == "bf16"
    work(plan.plain(), str(tmp_path / "run"), how={"device": "auto", "precision": "float32", "compile": False})
    made = load_run(tmp_path / "run")
    assert made.plan.recipe == plan.recipe and made.environment["device"] in ("cpu", "cuda:0")
