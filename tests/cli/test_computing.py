"""--device, --precision and --compile: said where they are wrong, and passed on where they are right."""

from __future__ import annotations

import json

import pytest
import torch

from lengthwise.models import placed as placing


@pytest.fixture(autouse=True)
def no_gpu(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)


@pytest.mark.parametrize("command", ["train", "measure", "inspect", "bound", "study"])
def test_a_device_that_is_not_here_exits_with_2_and_names_those_that_are(cli, sorting_run, tmp_path, command):
    subject = {"train": "sort", "study": "quick"}.get(command, sorting_run)
    found = cli(command, subject, "--device", "cuda:1")
    assert found.code == 2 and "cuda:1" in found.err and "cpu" in found.err
    assert found.err.count("\n") == 1 and not [*tmp_path.glob("runs/*")]


@pytest.mark.parametrize("command", ["train", "measure", "inspect", "bound", "study"])
@pytest.mark.parametrize("wrong", [("--device", "gpu"), ("--precision", "fp8")])
def test_what_no_device_and_no_precision_is_exits_with_2(cli, sorting_run, command, wrong):
    subject = {"train": "sort", "study": "quick"}.get(command, sorting_run)
    found = cli(command, subject, *wrong)
    assert found.code == 2 and wrong[1] in found.err and found.err.count("\n") == 1


def test_the_precision_of_training_is_part_of_the_plan_and_the_device_is_not(cli, tiny):
    plain, there, rounded = (
        json.loads(cli("train", "sort", *tiny, "--dry-run", "--json", *more).out)
        for more in ((), ("--device", "cpu", "--compile"), ("--precision", "bf16"))
    )
    assert plain["folders"] == there["folders"] != rounded["folders"]
    assert rounded["plans"][0]["recipe"]["precision"] == "bf16" and "precision" not in plain["plans"][0]["recipe"]


def test_the_precision_of_a_study_is_that_of_all_its_runs(cli):
    found = json.loads(cli("study", "quick", "--precision", "bf16", "--dry-run", "--json").out)
    assert {plan["recipe"]["precision"] for plan in found["plans"]} == {"bf16"}


def test_measuring_and_inspecting_compute_as_asked(cli, sorting_run, monkeypatch):
    seen = []
    plain = placing.placed

    def noted(network, how=None):
        seen.append(how or placing.current())
        return plain(network, how)

    monkeypatch.setattr("lengthwise.models.folder.placed", noted)
    monkeypatch.setattr(torch, "compile", lambda function, **_: function)
    how = ("--device", "auto", "--precision", "bf16", "--compile")
    assert cli("measure", sorting_run, "--sizes", "3", "--items", "4", *how).code == 0
    assert cli("inspect", sorting_run, "--probes", "layers", *how).code == 0
    assert {(one.device, one.precision, one.compile) for one in seen} == {("auto", "bf16", True)}


def test_doctor_names_the_devices(cli):
    assert json.loads(cli("doctor", "--no-speed", "--json").out)["devices"] == {"cpu": "the processor"}
    assert "devices\ncpu" in cli("doctor", "--no-speed").out
