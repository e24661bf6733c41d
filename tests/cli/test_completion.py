"""Completion: what can follow on a line, from Python and in real shells."""

from __future__ import annotations

import os
import pty
import select
import shutil
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest

from lengthwise.cli import COMMANDS, parser_of
from lengthwise.cli.completion import PATHS, SHELLS, completions, script
from lengthwise.positions import positions
from lengthwise.tasks import tasks
from processes import PATIENCE


def test_commands_are_completed_by_their_first_word():
    found = completions("lengthwise ")
    assert {name for name in COMMANDS if " " not in name} <= {*found} and PATHS not in found
    assert {*completions("lengthwise tra")} == {"train", "train-length"}


def test_commands_of_two_words_are_completed_next_to_arguments():
    assert {"status", "show", "export", "rebuild", "quick", PATHS} <= {*completions("lengthwise study ")}
    assert "show" not in completions("lengthwise study show ")


@pytest.mark.parametrize("command", ["study status", "study show", "study export", "study rebuild", "report"])
def test_studies_below_runs_are_completed(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs" / "depths" / "runs").mkdir(parents=True)
    (tmp_path / "runs" / "one-run").mkdir()
    found = completions(f"lengthwise {command} ")
    assert {"depths", PATHS} <= {*found} <= {"depths", "atlas", PATHS} and ("atlas" in found) == (command == "report")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_of_a_command_is_completed(name):
    options = {text for action in parser_of(name)._actions for text in action.option_strings}
    assert {*completions(f"lengthwise {name} -")} == options


def test_an_option_that_was_given_is_not_offered_again_unless_it_is_repeatable():
    found = completions("lengthwise check sort --train-size 5 --position rope -")
    assert "--train-size" not in found and "--position" in found


@pytest.mark.parametrize("line", ["train ", "train --seed 3 ", "measure runs/x --task ", "check --explain ", "tasks "])
def test_tasks_are_completed(line):
    assert {*tasks.names(), PATHS} <= {*completions(f"lengthwise {line}")}


@pytest.mark.parametrize("line", ["train sort --position ", "positions ", "check sort --position="])
def test_encodings_are_completed(line):
    found = {word.removeprefix("--position=") for word in completions(f"lengthwise {line}")}
    assert {*positions.names()} <= found


def test_wrappers_are_completed_behind_a_plus():
    assert {*completions("lengthwise train sort --position learned+off")} == {"learned+offset", PATHS}


def test_other_names_are_completed():
    assert {"lstm", "gru"} <= {*completions("lengthwise train sort --model ")}
    assert {*completions("lengthwise particles --dynamics ")} == {"sa", "usa", "kuramoto"}
    assert {*completions("lengthwise completion ")} == {*SHELLS}
    assert "curve" in completions("lengthwise measure runs/x --probe ")


@pytest.mark.parametrize("line", ["", " ", "lengthwise", "'", '"', "'\"`", "`", "length'wise"])
def test_the_program_alone_is_completed_by_commands(line):
    """However its name is quoted: what is typed is then the first word behind it."""
    assert {*completions(line)} == {*completions("lengthwise ")}


def test_numbers_and_unknown_commands_have_no_completion():
    assert completions("lengthwise train sort --steps ") == {}
    assert completions("lengthwise trian --") == {}


def test_a_line_may_end_inside_quotes():
    assert "rope" in completions("lengthwise train sort --position 'ro")
    assert completions("lengthwise train 'it's\" \\") is not None


def test_bash_begins_a_word_behind_its_last_break():
    assert {*completions("lengthwise train sort --position=ro", "bash")} == {"rope", PATHS}
    assert {*completions("lengthwise train sort --position=ro", "zsh")} == {"--position=rope", PATHS}


def test_options_are_completed_without_heavy_libraries():
    code = "import sys; from lengthwise.cli.completion import completions; assert completions('lengthwise train --'); "
    code += "assert not {'torch', 'numpy', 'rich'} & set(sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("shell", SHELLS)
def test_the_command_prints_the_script(cli, shell):
    assert cli("completion", shell).out == script(shell)
    assert "train\t" in cli("completion", shell, "--line=lengthwise tra").out


def test_an_unknown_shell_is_refused(cli):
    answer = cli("completion", "tcsh")
    assert answer.code == 2 and len(answer.err.splitlines()) == 1


# --- real shells ----------------------------------------------------------------------------------------------------

# How a shell is started without settings of the tester's, and what it reads first.
START = {
    "bash": (["bash", "--norc", "--noprofile", "-i"], "source ./lengthwise.bash"),
    "zsh": (["zsh", "-f", "-i"], "autoload -U compinit; compinit -u -d dump; source ./_lengthwise"),
}
LINE, ENDED = "lengthwise train sort --position learned+offs", "learned+offset"


def read_until(file: int, text: str) -> str:
    """What a terminal shows, until it shows this."""
    shown, end = "", time.monotonic() + PATIENCE
    while text not in shown:
        ready, _, _ = select.select([file], [], [], max(0.0, end - time.monotonic()))
        assert ready, f"{text!r} was not shown: {shown!r}"
        shown += os.read(file, 4096).decode(errors="replace").replace("\a", "")
    return shown


@pytest.fixture
def shell_place(tmp_path) -> dict[str, str]:
    """The scripts in the current folder, and `lengthwise` on the path."""
    for shell, name in SHELLS.items():
        (tmp_path / name).write_text(script(shell))
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "lengthwise"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m lengthwise "$@"\n')
    program.chmod(0o755)
    return {**os.environ, "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}", "HOME": str(tmp_path), "TERM": "dumb"}


def check_installed(shell: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")


@pytest.mark.system
@pytest.mark.parametrize("shell", START)
def test_tab_completes_a_word(shell_place, shell):
    check_installed(shell)
    command, script_read = START[shell]
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        command, env=shell_place, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True
    )
    os.close(theirs)
    try:
        os.write(ours, f"{script_read}; echo now-$((40+2))\n".encode())
        read_until(ours, "now-42")
        os.write(ours, f"{LINE}\t".encode())
        read_until(ours, ENDED)
    finally:
        process.kill()
        process.wait()
        os.close(ours)


@pytest.mark.system
def test_fish_completes_a_word(shell_place):
    check_installed("fish")
    command = ["fish", "--no-config", "-c", f"source lengthwise.fish; complete -C'{LINE}'"]
    done = subprocess.run(command, env=shell_place, capture_output=True, text=True, timeout=PATIENCE)
    assert done.stdout.split("\t")[0].strip() == ENDED, done.stderr


@pytest.mark.system
@pytest.mark.parametrize("shell", SHELLS)
def test_a_shell_reads_its_script_without_a_complaint(shell_place, shell):
    check_installed(shell)
    done = subprocess.run([shell, "-n", SHELLS[shell]], env=shell_place, capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr


def test_the_scripts_are_installed_with_the_package():
    root = Path(__file__).parents[2]
    shared = tomllib.loads((root / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert all((root / path).is_file() for path in shared["shared-data"])
    assert {Path(path).name for path in shared["shared-data"]} == {*SHELLS.values(), "lengthwise.1"}
