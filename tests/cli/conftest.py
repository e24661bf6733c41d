"""The command line called in this process, and small runs for the tests that only read one."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from lengthwise.cli import main
from processes import PATIENCE

# A model that trains in a moment; nothing here is about how good it is.
TINY = (
    "--steps 5 --batch 8 --depth 1 --width 16 --heads 1 --items 80 --train-size 4 --test-size 6".split()  # noqa: SIM905
)


@dataclass(frozen=True)
class Answer:
    """What a command gave back."""

    code: int
    out: str
    err: str


@pytest.fixture(autouse=True)
def _own_folder(tmp_path, monkeypatch):
    """Every test has an empty folder to itself, 80 columns, and no settings of the tester's terminal."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)


@pytest.fixture
def tiny() -> list[str]:
    return list(TINY)


@pytest.fixture
def cli(capsys) -> Callable[..., Answer]:
    """`cli("tasks", "sort")`: the command in this process."""

    def call(*arguments: object) -> Answer:
        capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        said = capsys.readouterr()
        return Answer(code, said.out, said.err)

    return call


@pytest.fixture
def shell() -> Callable[..., Answer]:
    """The command in a process of its own, without a terminal."""

    def call(*arguments: object, **environment: str) -> Answer:
        command = [sys.executable, "-m", "lengthwise", *map(str, arguments)]
        done = subprocess.run(
            command, capture_output=True, env={**os.environ, **environment}, stdin=subprocess.DEVNULL, timeout=PATIENCE
        )
        return Answer(done.returncode, done.stdout.decode(), done.stderr.decode())

    return call


def _made(folder: Path, *arguments: str) -> Path:
    assert main(["train", *arguments, *TINY, "--folder", str(folder), "--quiet", "--json"]) == 0
    return folder


@pytest.fixture(scope="session")
def sorting_run(tmp_path_factory) -> Path:
    """A finished run, not to be changed: a test that breaks it makes a copy."""
    return _made(tmp_path_factory.mktemp("runs") / "sort", "sort")


@pytest.fixture(scope="session")
def learned_run(tmp_path_factory) -> Path:
    """A run whose encoding is a table that ends where the test did."""
    return _made(tmp_path_factory.mktemp("runs") / "learned", "sort", "--position", "learned")
