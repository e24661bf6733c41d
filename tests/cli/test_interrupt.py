"""Ctrl-C: exit code 130, one sentence, and the same command goes on as if nothing had happened."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from lengthwise.cli.commands import tasks
from processes import PATIENCE, wait_until

pytestmark = pytest.mark.system

MODEL = ["--batch", "8", "--depth", "1", "--width", "16", "--heads", "1", "--train-size", "4"]


# The command as it is, but that it saves its state after every step of training, and that it hears Ctrl-C even where
# the tests run in the background of a shell, which makes its children deaf to it.
COMMAND = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from lengthwise.cli import main
from lengthwise.training import loop
loop.CHECKPOINT_SECONDS = 0.0
sys.exit(main())
"""


def stopped_when(ready: Callable[[], bool], arguments: list[str]) -> tuple[int, str, str]:
    """Run a command, interrupt it once `ready`, and give back its exit code and what it printed."""
    command = [sys.executable, "-c", COMMAND, *arguments]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        wait_until(lambda: process.poll() is not None or ready())
        assert process.poll() is None, process.communicate()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
    return process.returncode, out, err


def test_training_goes_on_to_the_same_weights(cli):
    call = ["train", "sort", *MODEL, "--steps", "150", "--items", "80", "--test-size", "6"]
    code, out, err = stopped_when(Path("run/checkpoint.safetensors").exists, [*call, "--folder", "run"])
    assert code == 130 and out == ""
    said = err.splitlines()[-1]  # a slow machine says before that it still works
    assert said.startswith("lengthwise: stopped at step ") and "the same command" in said
    step = int(said.split("step ")[1].split()[0])
    assert 1 <= step < 150 and Path("run/checkpoint.safetensors").exists() and not Path("run/run.json").exists()

    unfinished = cli("measure", "run")
    assert unfinished.code == 2 and "not finished" in unfinished.err

    resumed, whole = cli(*call, "--folder", "run"), cli(*call, "--folder", "whole")
    assert resumed.code == whole.code == 0 and resumed.out == whole.out
    assert Path("run/model.safetensors").read_bytes() == Path("whole/model.safetensors").read_bytes()
    assert not Path("run/checkpoint.safetensors").exists()


def test_measuring_goes_on_without_training_again(cli):
    call = ["train", "sort", *MODEL, "--steps", "5", "--items", "4000", "--test-size", "40", "--folder", "run"]
    weights, plan = Path("run/model.safetensors"), Path("run/plan.json")

    def measuring() -> bool:
        return plan.exists() and "history" in json.loads(plan.read_text())

    code, out, err = stopped_when(measuring, call)
    assert code == 130 and out == "" and not Path("run/run.json").exists()
    assert err.count("\n") == 1 and "the same command" in err
    written = weights.stat().st_mtime_ns
    call[call.index("4000")] = "5"  # what is left to do is made small: the number of items is no part of training
    assert cli(*call).code == 0
    assert weights.stat().st_mtime_ns == written and Path("run/run.json").exists()


def test_stopping_a_command_that_keeps_nothing(cli, monkeypatch):
    def interrupted(*_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(tasks, "run", interrupted)
    answer = cli("tasks")
    assert (answer.code, answer.out, answer.err) == (130, "", "lengthwise: stopped; nothing was changed\n")
