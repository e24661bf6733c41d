"""Standard streams as a shell or a service may give them: closed, full, or with a reader that went away."""

from __future__ import annotations

import errno
import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from lengthwise.cli import main
from processes import PATIENCE


class Failing(io.StringIO):
    """A stream that nothing can be written to."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number

    def write(self, text: str) -> int:
        raise OSError(self.number, os.strerror(self.number))


@pytest.mark.parametrize("name", ["stdout", "stderr", "stdin"])
def test_a_closed_stream_is_no_failure(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, name, None)
    assert main(["tasks"]) == 0


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO, errno.EBADF, errno.EAGAIN])
def test_results_that_cannot_be_written_are_an_error(
    number: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdout", Failing(number))
    assert main(["tasks"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("lengthwise: ") and said.count("\n") == 1


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO, errno.EPIPE])
def test_narration_that_cannot_be_written_changes_nothing(
    number: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither a result nor the exit code."""
    monkeypatch.setattr(sys, "stderr", Failing(number))
    assert main(["tasks"]) == 0 and "sort" in capsys.readouterr().out
    assert main(["tasks", "nosuch"]) == 2


@pytest.mark.system
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is full")
@pytest.mark.parametrize("arguments, code", [("tasks", 0), ("tasks nosuch", 2)])
def test_a_full_stderr_keeps_the_exit_code_of_the_process(arguments: str, code: int) -> None:
    """Python tries once more when it ends."""
    command = [sys.executable, "-m", "lengthwise", *arguments.split()]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=full, timeout=PATIENCE)
    assert done.returncode == code


def test_a_folder_that_was_deleted_is_named_before_work_begins(cli, tmp_path: Path) -> None:
    """Nothing that is given by a relative path is found there, and torch ends the process."""
    gone = tmp_path / "gone"
    gone.mkdir()
    os.chdir(gone)
    gone.rmdir()
    answer = cli("examples")
    assert answer.code == 2 and answer.err.startswith("lengthwise: ") and answer.err.count("\n") == 1
    assert cli("examples", "--help").code == 0
