"""Whatever takes long says so, and Ctrl-C ends it."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from types import ModuleType

import pytest

from lengthwise import progress, terminal
from lengthwise.cli.commands import tasks, view
from processes import PATIENCE, wait_until

# A command that neither tells of itself nor is heard of otherwise.
SLOW = """
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)
from lengthwise import progress
from lengthwise.cli import main
from lengthwise.cli.commands import tasks
progress.EVERY = 0.2
tasks.run = lambda options: time.sleep(3600)
sys.exit(main(["tasks"]))
"""


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "EVERY", 0.05)


def slow(seconds: float, monkeypatch: pytest.MonkeyPatch, says: str = "", command: ModuleType = tasks) -> None:
    def run(options: object) -> int:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            time.sleep(0.01)
            if says:
                print(says, file=sys.stderr)
        return 0

    monkeypatch.setattr(command, "run", run)


@pytest.mark.usefixtures("soon")
def test_a_command_that_says_nothing_is_told_of(cli, monkeypatch: pytest.MonkeyPatch) -> None:
    slow(0.6, monkeypatch)
    answer = cli("tasks")
    assert answer.code == 0 and answer.out == ""
    assert answer.err.count("tasks: ") > 1
    assert cli("tasks", "--quiet").err == ""


@pytest.mark.usefixtures("soon")
def test_a_page_is_told_of_while_it_is_written_but_not_while_it_is_served(cli, monkeypatch: pytest.MonkeyPatch) -> None:
    slow(0.6, monkeypatch, command=view)
    assert cli("view", "--bundle", "page").err.count("view: ") > 1
    assert cli("view").err == ""


def test_one_that_speaks_is_left_to_speak(cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "EVERY", 2.0)
    monkeypatch.setattr(terminal, "_wrote", 0.0)
    slow(3.0, monkeypatch, says="at work")
    assert set(cli("tasks").err.splitlines()) == {"at work"}


def test_a_bar_speaks_for_itself() -> None:
    with terminal.live_bars():
        assert terminal.silence() == 0
    assert terminal.silence() >= 0 and terminal._bars == 0


@pytest.mark.system
def test_ctrl_c_ends_what_said_nothing_but_that_it_runs() -> None:
    process = subprocess.Popen([sys.executable, "-c", SLOW], stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        first = process.stderr.readline()
        assert first.startswith("tasks: ")
        process.send_signal(signal.SIGINT)
        wait_until(lambda: process.poll() is not None, "the end", PATIENCE)
        assert process.returncode == 130
    finally:
        process.kill()
        process.communicate()
