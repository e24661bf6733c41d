"""Attack: control sequences planted in names, texts, settings and records never reach the terminal, and are seen."""

from __future__ import annotations

import io
import json
import re
import shutil
import sqlite3
import sys
from pathlib import Path

import pytest

from lengthwise.progress import shown
from lengthwise.studies.grid import planned_records, plans, study_facts
from lengthwise.studies.spec import Study
from lengthwise.studies.store import INDEX, RUNS, Store
from lengthwise.terminal import visible, visible_streams

# Erases the screen, sets the window's title, writes over a line, the same in C1, a bell, and a turned direction.
PLANTED = "\x1b[2J\x1b]0;owned\x07\rcertified\x9b31m\x85\u202egnol\u2066\u061c"
SHOWN = "\\x1b[2J\\x1b]0;owned\\x07"  # before the carriage return, where a paragraph may be wrapped
ACTS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
NAME = PLANTED.replace("/", "")


def _data(folder: Path) -> list[str]:
    """Items whose symbols are planted, in a file whose name is."""
    path = folder / f"{NAME}.jsonl"
    lines = [{"input": [PLANTED, "b"] * (1 + k % 3), "answer": [PLANTED]} for k in range(40)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return ["tasks", "--data", str(path)]


def _run(folder: Path, run: Path) -> Path:
    return Path(shutil.copytree(run, folder / f"run {NAME}"))


def _edited_run(folder: Path, run: Path, command: str) -> list[str]:
    place = _run(folder, run)
    record = json.loads((place / "run.json").read_text())
    record["plan"]["task"] = PLANTED
    (place / "run.json").write_text(json.dumps(record))
    return [command, str(place)]


def _foreign(folder: Path, command: str) -> list[str]:
    place = folder / "foreign"
    place.mkdir()
    (place / "config.json").write_text(json.dumps({"model_type": "gpt2", "architectures": [PLANTED]}))
    (place / f"{NAME}.safetensors").write_bytes(b"no weights")
    return [command, str(place)]


def _report(folder: Path) -> list[str]:
    return ["report", str(folder / NAME)]


ATTACKS = {
    "symbols of items, and a file's name": lambda folder, _: _data(folder),
    "a task that does not exist": lambda *_: ["tasks", PLANTED],
    "an encoding": lambda *_: ["train", "sort", "--position", PLANTED],
    "an option": lambda *_: ["train", f"--{PLANTED}"],
    "a command": lambda *_: [PLANTED],
    "a folder that is not there": lambda folder, _: ["measure", str(folder / NAME)],
    "a run's folder": lambda folder, run: ["measure", str(_run(folder, run)), "--items", "5"],
    "a run's task, measured": lambda folder, run: _edited_run(folder, run, "measure"),
    "a run's task, inspected": lambda folder, run: _edited_run(folder, run, "inspect"),
    "a run's task, bounded": lambda folder, run: _edited_run(folder, run, "bound"),
    "a foreign model, inspected": lambda folder, _: _foreign(folder, "inspect"),
    "a foreign model, bounded": lambda folder, _: _foreign(folder, "bound"),
    "a study that is not there": lambda folder, _: _report(folder),
    "a regular expression": lambda *_: ["check", "--regex", f"({PLANTED}"],
}


@pytest.mark.parametrize("attack", ATTACKS)
def test_nothing_that_is_planted_acts(cli, tmp_path: Path, sorting_run: Path, attack: str) -> None:
    answer = cli(*ATTACKS[attack](tmp_path, sorting_run))
    said = answer.out + answer.err
    assert said.strip()
    assert not ACTS.search(said), ACTS.findall(said)
    assert "Traceback" not in said


def test_what_is_planted_is_seen(cli, tmp_path: Path) -> None:
    """Wherever the folder's name makes a line end."""
    assert SHOWN in "".join(cli(*_data(tmp_path)).out.split())


@pytest.fixture
def planted_study(tmp_path: Path) -> Path:
    """The index of a study in which every text of every run is planted."""
    study = Study(name="planted", tasks=["sort"], positions=["none", "rope"], train_size=3, test_size=6, items=10)
    folder = tmp_path / "study"
    (folder / RUNS).mkdir(parents=True)
    with Store.open(folder, write=True) as store:
        for name, content in study_facts(plans(study)).items():
            store.note(name, content)
        for name, content in (("study", study.plain()), ("toml", study.toml()), ("command", PLANTED)):
            store.note(name, content)
        store.plan(planned_records(plans(study)))
    with sqlite3.connect(folder / INDEX) as db:
        db.execute("update runs set task = ?, position = ?, variant = ?, reason = ?, state = 'failed'", (PLANTED,) * 4)
    return folder


@pytest.mark.parametrize("command", ["show", "status"])
def test_the_index_of_a_study(cli, planted_study: Path, command: str) -> None:
    answer = cli("study", command, planted_study)
    assert answer.out + answer.err
    assert not ACTS.search(answer.out + answer.err)


def test_a_defect_whose_traceback_holds_data(cli, monkeypatch) -> None:
    def broken(*_: object) -> int:
        raise RuntimeError(PLANTED)

    monkeypatch.setattr("lengthwise.cli.commands.doctor.run", broken)
    answer = cli("doctor")
    assert answer.code == 1
    assert "RuntimeError" in answer.err and SHOWN in answer.err
    assert not ACTS.search(answer.err)


def test_json_says_exactly_what_the_data_say(cli, tmp_path: Path) -> None:
    answer = cli(*_data(tmp_path), "--json")
    assert answer.code == 0
    assert not ACTS.search(answer.out)
    assert PLANTED in json.loads(answer.out)["name"]


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_bars_move_the_cursor_and_their_texts_do_not(monkeypatch) -> None:
    terminal = _Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with visible_streams(), shown(title=PLANTED) as told:
        told(PLANTED, 1, 2)
        print(PLANTED, file=sys.stderr)
    said = terminal.getvalue()
    assert "\x1b[" in said  # ours
    assert "\x1b[2J" not in said and "\x1b]0;owned" not in said and "\x9b" not in said and "\u202e" not in said
    assert SHOWN in said


def test_visible_text_keeps_what_harms_nobody() -> None:
    kept = "größer ≤ 3\n\tπ 🙂 日本語 שלום"
    assert visible(kept) == kept
    assert visible("\x1b") == "\\x1b" and visible("\u202e") == "\\u202e"
