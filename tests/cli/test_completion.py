"""Completion: what can follow on a line, from Python and in real shells."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from test_help import loaded_by

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
    code = "from lengthwise.cli.completion import completions; assert completions('lengthwise train --')"
    assert not {"torch", "numpy", "rich"} & loaded_by(code)


@pytest.mark.parametrize("shell", SHELLS)
def test_the_command_prints_the_script(cli, shell):
    assert cli("completion", shell).out == script(shell)
    assert "train\t" in cli("completion", shell, "--line=lengthwise tra").out


def test_an_unknown_shell_is_refused(cli):
    answer = cli("completion", "tcsh")
    assert answer.code == 2 and len(answer.err.splitlines()) == 1


# --- real shells ----------------------------------------------------------------------------------------------------

# Prints what Tab offers at the end of LINE, one word per line.
ASK = {
    "bash": """
source lengthwise.bash
COMP_LINE=$LINE COMP_POINT=${#LINE}
compopt() { echo "$2 $1" >&2; }
_lengthwise lengthwise
printf '%s\\n' "${COMPREPLY[@]}"
""",
    "zsh": """
zmodload zsh/zpty
zpty z zsh -f -i
zpty -w z 'PS1=; fpath=(. $fpath); autoload -U compinit; compinit -u -d dump; source ./_lengthwise'
zpty -w z 'zstyle ":completion:*" list-separator "|"; LISTMAX=10000; LINES=1000; COLUMNS=200; echo ready; echo'
zpty -r z out '*ready*ready*'
zpty -w -n z "$LINE"$'\\t\\t'
sleep 0.1
zpty -r -m z out '*sinusoidal*'
print -r -- "$out"
""",
    "fish": """
source lengthwise.fish
complete -C"$LINE"
""",
}


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


@pytest.mark.system
@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("lengthwise train sort --position s", {"sinusoidal"}),
        ("lengthwise positions sinusoi", {"sinusoidal"}),
    ],
)
def test_a_shell_completes(shell_place, shell, line, expected):
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    done = subprocess.run(
        [shell, "-c", ASK[shell]],
        env={**shell_place, "LINE": line},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        stdin=subprocess.DEVNULL,
    )
    assert all(word in done.stdout for word in expected), done.stdout + done.stderr


@pytest.mark.system
@pytest.mark.parametrize("shell", SHELLS)
def test_a_shell_reads_its_script_without_a_complaint(shell_place, shell):
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    done = subprocess.run([shell, "-n", SHELLS[shell]], env=shell_place, capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr


def test_the_scripts_are_installed_with_the_package():
    import tomllib

    root = Path(__file__).parents[2]
    shared = tomllib.loads((root / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert all((root / path).is_file() for path in shared["shared-data"])
    assert {Path(path).name for path in shared["shared-data"]} == {*SHELLS.values(), "lengthwise.1"}
