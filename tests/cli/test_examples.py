"""Examples: copied without loss, the same as the pages show them, and all of them run."""

from __future__ import annotations

import json
import os
import runpy
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from lengthwise.cli import main
from processes import PATIENCE
from site_texts import DOCS, ROOT, blocks

EXAMPLES = ROOT / "src" / "lengthwise" / "examples"
README = (EXAMPLES / "README.md").read_text(encoding="utf-8")
COMMANDS = [line[2:] for block in blocks(README, "console") for line in block.splitlines()]
TINY = "--steps 2 --batch 4 --items 5"
SMALL = "--depth 1 --width 16 --heads 2"
# What is added to a command, by its first words, to make it short; "" runs it as it stands.
SHORTER = {
    "study show": "",
    "study": "--seeds 1 --no-report",
    "tasks": "",
    "positions": "",
    "check": "",
    "forecast": "",
    "doctor": "--no-speed",
    "train mytask.py::LastFirst --model": f"{TINY} --train-size 4 --test-size 6",
    "train --data": f"{TINY} {SMALL}",
    "train": f"{TINY} {SMALL} --train-size 4 --test-size 6",
}
SHORTER_TEXT = {
    "steps = 300": "steps = 2\nbatch = 4",
    "test_size=60": "test_size=60, steps=2, batch=4, items=5, depth=1",
}


def shortened(command: str) -> str:
    words = command.removeprefix("lengthwise ")
    start = max((start for start in SHORTER if words.startswith(start)), key=len)
    # A later value of an option counts, so the sizes of a command are replaced.
    return f"{command} {SHORTER[start]}".strip()


def shortened_text(text: str) -> str:
    for old, new in SHORTER_TEXT.items():
        text = text.replace(old, new)
    return text


def test_examples_are_what_the_pages_show():
    made = runpy.run_path(str(DOCS / "make_examples.py"))["example_files"]()
    there = {path.name: path.read_text(encoding="utf-8") for path in EXAMPLES.iterdir() if path.is_file()}
    assert there == {**made, "README.md": README}, "run `python docs/make_examples.py`"


def test_every_example_has_a_command():
    named = {path.name for path in EXAMPLES.iterdir() if path.is_file()} - {"README.md"}
    assert not [name for name in named if not any(name in command for command in COMMANDS)]


def test_examples_are_copied_and_never_overwritten_unless_told(cli, tmp_path):
    answer = cli("examples")
    folder = tmp_path / answer.out.strip()
    assert answer.code == 0 and {path.name for path in folder.iterdir()} == {path.name for path in EXAMPLES.glob("*.*")}
    assert cli("examples").code == 0  # nothing has changed
    own = folder / "my.py"
    own.write_text("mine")
    (folder / "first.toml").unlink()
    refused = cli("examples")
    assert refused.code == 2 and "my.py" in refused.err and len(refused.err.splitlines()) == 1
    assert own.read_text() == "mine" and not (folder / "first.toml").exists()
    assert cli("examples", folder, "--overwrite").code == 0
    assert own.read_bytes() == (EXAMPLES / "my.py").read_bytes() and (folder / "first.toml").exists()


def test_a_folder_in_the_place_of_an_example_is_left_alone(cli, tmp_path):
    (tmp_path / "there" / "my.py").mkdir(parents=True)
    assert cli("examples", "there").code == 2
    (tmp_path / "file").write_text("")
    assert cli("examples", "file").code == 2


def test_what_the_file_system_refuses_is_one_sentence(cli, tmp_path, monkeypatch):
    """A folder may vanish, or be one in which nothing can be made, such as /proc."""

    def gone(path):
        raise FileNotFoundError(2, "No such file or directory", str(path))

    monkeypatch.setattr("lengthwise.cli.commands.examples.replace_file", gone)
    answer = cli("examples", tmp_path / "own")
    assert answer.code == 2 and answer.err.startswith("lengthwise: ") and answer.err.count("\n") == 1


def test_a_link_that_leads_nowhere_is_left_alone(cli, tmp_path):
    link = tmp_path / "README.md"
    link.symlink_to("nowhere")
    assert cli("examples", tmp_path).code == 2 and link.is_symlink()


def test_examples_are_listed(cli):
    told = json.loads(cli("examples", "--list", "--json").out)["examples"]
    assert {*told} == {path.name for path in EXAMPLES.glob("*.*")} - {"README.md"}
    assert {line.split()[0] for line in cli("examples", "--list").out.splitlines()} == {*told}


@pytest.mark.system
def test_every_example_runs(cli, tmp_path, monkeypatch, capsys):
    assert cli("examples", "there").code == 0
    monkeypatch.chdir(tmp_path / "there")
    for path in Path().glob("*.*"):
        path.write_text(shortened_text(path.read_text(encoding="utf-8")), encoding="utf-8")
    for command in COMMANDS:
        if command.startswith("lengthwise "):
            words = shlex.split(shortened(command))[1:]
            assert main([*words, "--quiet"]) == 0, f"{command}: {capsys.readouterr().err}"
        elif command.startswith("python "):
            done = subprocess.run(
                [sys.executable, *command.split()[1:]], capture_output=True, text=True, timeout=PATIENCE
            )
            assert done.returncode == 0, done.stderr
        else:
            assert command == "jupyter lab tutorial.ipynb"  # the next test


@pytest.mark.system
def test_the_notebook_runs(tmp_path, monkeypatch):
    import nbclient
    import nbformat

    notebook = nbformat.reads((EXAMPLES / "tutorial.ipynb").read_text(encoding="utf-8"), as_version=4)
    nbformat.validate(notebook)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            lines = shortened_text(cell.source).splitlines()
            cell.source = "\n".join(
                # A command that fails must fail its cell, which a line with ! does not.
                f"!{shortened(line[1:])} || echo FAILED" if line.startswith("!lengthwise ") else line
                for line in lines
            )
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    nbclient.NotebookClient(notebook, timeout=PATIENCE, resources={"metadata": {"path": str(tmp_path)}}).execute()
    outputs = [part for cell in notebook.cells for part in cell.get("outputs", [])]
    said = "".join(part.text for part in outputs if part.output_type == "stream")
    assert "FAILED" not in said and said.count("by bins") == 3  # one for each training of one seed


def test_the_notebook_runs_every_command_of_the_tutorial():
    cells = json.loads((EXAMPLES / "tutorial.ipynb").read_text(encoding="utf-8"))["cells"]
    run = [line[1:].rstrip("\n") for cell in cells for line in cell["source"] if line.startswith("!")]
    page = (DOCS / "tutorial" / "index.md").read_text(encoding="utf-8")
    told = [line[2:] for block in blocks(page, "console") for line in block.splitlines()]
    assert run == [line for line in told if line.startswith("lengthwise ")] and len(run) > 10
