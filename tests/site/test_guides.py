"""Every command and program of the tutorial, and of the guides that have no test of their own, is run.

They run as they are written but for options that make them short (`SHORTER`) and places that only the reader knows.
A command that no rule knows fails.
"""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from pathlib import Path
from typing import Any

import pytest

import lengthwise as lw
from lengthwise.cli import main
from lengthwise.executors import executors
from lengthwise.records import Record
from lengthwise.studies.grid import plans
from lengthwise.studies.spec import Study
from site_texts import blocks, pages

GUIDES = (
    "index.md",
    "tutorial/index.md",
    "how-to/own-data.md",
    "how-to/cluster.md",
    "how-to/shell.md",
    "how-to/read-report.md",
    "how-to/compare-datasets.md",
    "reference/dfa.md",
)
PAGES = pages()
TUTORIAL = PAGES["tutorial/index.md"]
TINY = "--steps 2 --batch 4 --items 5"
SHAPE = "--depth 1 --width 16 --heads 2"
# What is added to a command, by its first words; the longest match counts.
SHORTER = {
    "train": f"{TINY} {SHAPE}",
    "train mytask.py::LastFirst --model": TINY,
    "check": "",
    "doctor": "",
    "examples": "",
    "forecast": "",
    "tasks": "",
    "shift": "--items 20 --resamples 20",
    "shift train.jsonl": "",
    "shift short.jsonl": "",
    "study first.toml --dry-run": "",
    "study first.toml": "",
    "study show": "",
    "study status": "",
    "study quick": "--dry-run",
    "report": "",
}
PLACES = {"short.jsonl": "train.jsonl", "long.jsonl": "test.jsonl"}


def flush(text: str) -> str:
    """A page with the blocks of its lists at the margin."""
    return re.sub(r"^   (?=\S)", "", text, flags=re.MULTILINE)


def commands() -> list[tuple[str, str]]:
    """The lines of the terminals, by page, without prompt and remark."""
    found = []
    for page in GUIDES:
        for line in "".join(blocks(flush(PAGES[page]), "console")).splitlines():
            assert line.startswith("$ "), f"a line of a terminal in {page} is a command, not {line!r}"
            words = shlex.split(line[2:], comments=True)
            if words[0] != "pip":
                found.append((page, shlex.join(words)))
    return list(dict.fromkeys(found))


def shortened(command: str) -> list[str]:
    program, *words = shlex.split(command)
    assert program == "lengthwise", f"no rule for {command!r}"
    known = [start for start in SHORTER if " ".join(words).startswith(start)]
    assert known, f"no rule for {command!r}"
    extra = shlex.split(SHORTER[max(known, key=len)])
    given = [PLACES.get(word, word) for word in words]
    if "--executor" in given:  # there is no cluster here; its settings must be understood
        place = given.index("--executor") + 1
        assert executors.make(given[place])
        given[place] = "local:workers=1"
    return given if "--dry-run" in given else [*given, *extra]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, synthetic_study: Any) -> Path:
    """A folder with the files that the pages tell a reader to save, and the study `quick` as if it had been run."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)
    task, network = blocks(TUTORIAL, "python")[:2]
    Path("mytask.py").write_text(task)
    Path("my.py").write_text(network)
    (settings,) = blocks(TUTORIAL, "toml")
    small = "[model]\ndepth = 1\nwidth = 16\nheads = 2\n\n[training]\nbatch = 4\n"
    Path("first.toml").write_text("items = 5\n" + settings.replace("300", "2").replace("[training]\n", small))
    Path("sums.jsonl").write_text(blocks(PAGES["how-to/own-data.md"], "json")[0])
    Path("even.json").write_text(blocks(PAGES["reference/dfa.md"], "json")[0])
    for name, text in zip(("train", "test"), blocks(PAGES["how-to/compare-datasets.md"], "json"), strict=True):
        Path(f"{name}.jsonl").write_text(text)
    return tmp_path


def test_extras_are_quoted_wherever_their_installation_is_shown() -> None:
    """zsh takes brackets for a pattern and refuses the command."""
    package = Path(lw.__file__).parent
    texts = {**PAGES, **{str(path): path.read_text(encoding="utf-8") for path in package.rglob("*.py")}}
    bare = {name: found for name, text in texts.items() if (found := re.findall(r"pip install [\w.]+\[", text))}
    assert not bare


@pytest.mark.system
@pytest.mark.parametrize("page, command", commands())
def test_a_command_runs(page: str, command: str, here: Path, synthetic_study: Any, capsys: Any) -> None:
    words = shortened(command)
    if words[:2] == ["study", "show"] and words[2] == "first":
        assert main(["study", "first.toml", "--quiet"]) == 0
    if "quick" in words and (words[0] == "report" or words[1] in ("show", "status")):
        synthetic_study(here / "runs" / "quick")
    assert main(words) == 0, capsys.readouterr().err
    for option in ("--figure", "--figures"):
        if option in words:
            assert Path(words[words.index(option) + 1]).exists()


def test_every_command_of_the_guides_is_known() -> None:
    assert len([shortened(command) for _, command in commands()]) > 30


def test_the_study_of_the_tutorial_has_as_many_runs_as_it_says(tmp_path: Path) -> None:
    (settings,) = blocks(TUTORIAL, "toml")
    (tmp_path / "first.toml").write_text(settings)
    promised = int(re.findall(r"how many runs there are \((\d+)\)", TUTORIAL)[0])
    assert len(plans(Study.read(tmp_path / "first.toml"))) == promised and tomllib.loads(settings)["seeds"] == 2


@pytest.mark.system
@pytest.mark.wording
def test_the_card_in_the_tutorial_is_what_check_prints(here: Path, capsys: Any) -> None:
    shown = [block for block in blocks(TUTORIAL, "text") if block.startswith("sort:")]
    assert len(shown) == 1 and main(["check", "sort"]) == 0
    assert capsys.readouterr().out.startswith(shown[0].rstrip("\n"))


@pytest.mark.system
def test_the_program_of_the_tutorial_runs(here: Path, capsys: Any) -> None:
    program = blocks(TUTORIAL, "python")[2]
    small = "train_size=4, test_size=6, items=5, steps=2, batch=4, depth=1, width=16, heads=1"
    assert "train_size=20, test_size=60" in program
    exec(compile(program.replace("train_size=20, test_size=60", small), "tutorial", "exec"), {})
    assert len(capsys.readouterr().out.splitlines()) >= 3


def test_the_program_on_datasets_runs(here: Path, capsys: Any) -> None:
    exec(compile(blocks(PAGES["how-to/compare-datasets.md"], "python")[0], "page", "exec"), {})
    assert capsys.readouterr().out.strip()


def test_the_program_on_records_says_what_its_remark_says(capsys: Any) -> None:
    (program,) = blocks(PAGES["reference/records.md"], "python")
    exec(compile(program, "page", "exec"), {"Record": Record})
    assert capsys.readouterr().out.splitlines() == re.findall(r"print\(.*\)  # (.*)", program)


@pytest.mark.system
def test_the_page_on_folders_names_every_file_of_a_run(here: Path) -> None:
    run = lw.train("sort", train_size=3, test_size=4, items=5, steps=2, batch=4, depth=1, width=16, heads=1)
    page = PAGES["reference/run-folder.md"]
    for path in run.folder.iterdir():
        assert f"`{path.name}" in page
    for key in json.loads((run.folder / "run.json").read_text()):
        assert f"| `{key}` |" in page
