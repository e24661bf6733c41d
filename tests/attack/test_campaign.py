"""A short campaign, and whatever a campaign found once."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from attack.campaign import Outcome, _fault, _serves, run
from attack.damage import STORE
from attack.invocations import BEGINNINGS, OF_MODELS, OF_STUDIES, Invocation, invocation
from attack.reproducers import REPRODUCERS, plain, restored
from lengthwise.cli import COMMANDS

KEPT = json.loads(REPRODUCERS.read_text())


def test_invocations_follow_from_seed_and_number() -> None:
    first, again = (invocation(3, 5) for _ in range(2))
    assert first.arguments == again.arguments and len({tuple(invocation(3, n).arguments) for n in range(100)}) > 90


def test_every_command_is_attacked() -> None:
    """Whoever adds a command adds a beginning of it."""
    begun = [*BEGINNINGS, *OF_MODELS, *OF_STUDIES]
    named = {" ".join(words) for one in begun for words in (one.split()[:1], one.split()[:2])}
    assert [name for name in COMMANDS if name not in named] == []


def test_a_kept_invocation_writes_the_same_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also those of a model of which one file was changed."""
    monkeypatch.setenv(STORE, str(tmp_path / "store"))
    original = tmp_path / "store" / "run"
    original.mkdir(parents=True)
    for name, text in (("config.json", "{}"), ("run.json", "{}")):
        (original / name).write_text(text)

    def write(folder: Path) -> None:
        shutil.copytree(original, folder / "run")
        (folder / "run" / "config.json").write_text("[")
        (folder / "run" / "run.json").unlink()
        (folder / "link").symlink_to("link")
        (folder / "bytes").write_bytes(b"\xff")
        os.mkfifo(folder / "pipe")
        (folder / "folder").mkdir()

    one = Invocation(3, ["ask", "run", "3"], [write])
    kept = json.loads(json.dumps(plain(one, "hang")))
    assert (kept["copied"], kept["gone"], kept["arguments"]) == (["run"], ["run/run.json"], one.arguments)
    assert sorted(kept["files"]) == ["bytes", "folder", "link", "pipe", "run/config.json"]
    assert plain(restored(kept), "hang") == kept


@pytest.mark.parametrize(
    "code, text, stopped, told, fault",
    [
        (2, "lengthwise: no", False, False, ""),
        (2, "no sentence", False, False, "code"),
        (1, "Traceback (most recent call last):\nKeyError", False, False, "traceback"),
        (7, "", False, False, "code"),
        (-9, "", False, False, "signal"),
        (-2, "", True, False, "hang"),
        (130, "checking: 10 s", True, True, ""),
        (2, "lengthwise: this takes more memory than the machine gives; ask", False, False, "memory"),
    ],
)
def test_what_counts_as_a_fault(code: int, text: str, stopped: bool, told: bool, fault: str) -> None:
    assert _fault(code, text, stopped, told) == fault


def outcome_of(source: str) -> Outcome:
    """Of a task in a Python file, whose code runs in the fork."""
    return run(Invocation(0, ["tasks", "own.py"], [lambda folder: (folder / "own.py").write_text(source) and None]))


@pytest.mark.system
def test_faults_are_found() -> None:
    """The runner sees what it looks for: exits that leave the process, and memory beyond the limit."""
    assert outcome_of("import os; os._exit(9)").fault == "code"
    assert outcome_of("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)").fault == "signal"
    assert outcome_of("raise SystemExit(9)").fault == ""


@pytest.mark.parametrize(
    "words, serves", [("view .", True), ("view . --bundle page", False), ("view --bundle=a", False), ("tasks", False)]
)
def test_a_bundle_is_not_taken_for_a_page_that_is_served(words: str, serves: bool) -> None:
    """It may take longer than a page takes to say where it is, and is not stopped for that."""
    assert _serves(Invocation(0, words.split(), [])) is serves


def test_a_page_that_is_served_ends_by_ctrl_c() -> None:
    assert _fault(0, "http://127.0.0.1:1", True, True, served=True) == ""
    assert _fault(0, "http://127.0.0.1:1", True, True) == "hang"


@pytest.mark.system
@pytest.mark.parametrize("kept", KEPT, ids=lambda kept: " ".join(kept["arguments"])[:60])
def test_what_was_found_stays_closed(kept: dict, monkeypatch: pytest.MonkeyPatch, models: Path) -> None:
    monkeypatch.setenv(STORE, str(models))
    outcome = run(restored(kept))
    assert not outcome.fault, outcome


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from attack.damage import make_models

    folder = tmp_path_factory.mktemp("models")
    make_models(folder)
    return folder


@pytest.mark.system
def test_a_short_campaign() -> None:
    """500 invocations of a fixed seed, in a process of its own."""
    tests = Path(__file__).parents[1]
    command = [sys.executable, "-m", "attack.campaign", "--seed", "0", "--count", "500", "--workers", "2"]
    done = subprocess.run(
        command, cwd=tests, env={**os.environ, "OMP_NUM_THREADS": "1"}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout[-4000:]
