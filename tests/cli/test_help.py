"""What the command line says about itself, and what it loads to say it."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from lengthwise import __version__
from lengthwise.cli import COMMANDS, parser_of

DOCS = Path(__file__).parents[2] / "docs"


def loaded_by(code: str) -> set[str]:
    """The modules a fresh interpreter has loaded after running some code."""
    report = "\nimport sys; print(' '.join(sys.modules), file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code + report], capture_output=True, text=True, check=True)
    return set(done.stderr.split())


def test_importing_the_package_loads_no_heavy_library():
    assert not {"torch", "numpy", "rich", "altair"} & loaded_by("import lengthwise")


def test_help_loads_no_heavy_library():
    calls = [["--help"], ["--version"], *([*name.split(), "--help"] for name in COMMANDS)]
    code = f"from lengthwise.cli import main\nfor call in {calls}: assert main(call) == 0"
    assert not {"torch", "numpy", "rich", "altair"} & loaded_by(code)


def test_tasks_are_listed_and_shown_without_torch():
    code = "from lengthwise.cli import main\nmain(['tasks']); main(['tasks', 'sort', '--show', '3'])"
    assert "torch" not in loaded_by(code)


def test_a_mistyped_option_is_told_without_torch():
    assert "torch" not in loaded_by("from lengthwise.cli import main\nassert main(['train', '--stepps', '3']) == 2")


@pytest.mark.parametrize("call", [["--help"], ["-h"], ["help"], []])
def test_help_lists_every_command(cli, call):
    answer = cli(*call)
    assert answer.code == 0 and answer.err == ""
    for name, text in COMMANDS.items():
        assert any(line.startswith(f"  {name}  ") and text in line for line in answer.out.splitlines())


def test_help_of_a_command_lists_the_commands_below_it(cli):
    below = [name for name in COMMANDS if name.startswith("study ")]
    assert len(below) == 4
    for name in below:
        assert any(line.startswith(f"  {name}  ") for line in cli("study", "--help").out.splitlines())
    assert "commands:" not in cli("study", "show", "--help").out


def test_a_mistyped_command_of_two_words_is_suggested(cli):
    answer = cli("study", "shwo", "quick")
    assert answer.code == 2 and "'study show'" in answer.err


def test_version(cli):
    assert cli("--version").out == f"lengthwise {__version__}\n"


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_a_command_explains_every_option(cli, name):
    answer = cli(*name.split(), "--help")
    assert answer.code == 0 and answer.err == ""
    for action in parser_of(name)._actions:
        assert action.help, f"{action.dest} is not explained"
        for word in action.option_strings or [str(action.metavar)]:
            assert any(
                line.replace(",", "").split()[:1] == [word] or f", {word} " in line for line in _list(answer.out)
            )


def _list(help_text: str) -> list[str]:
    return [line for line in help_text.splitlines() if line.startswith("  ")]


STUDIES = ("study status", "study show", "study export", "study rebuild", "report")
WITHOUT_CHANCE = (
    "ask",
    "advise",
    "bound plan",
    "bound contrastive",
    "bound width",
    "limit simulate",
    "limit compare",
    "view",
    "examples",
    "completion",
    "man",
    *STUDIES,
)  # nothing there is random


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_the_common_options(name):
    options = {option for action in parser_of(name)._actions for option in action.option_strings}
    assert {"--help", "--json", "--quiet"} <= options
    assert ("--seed" in options) == (name not in WITHOUT_CHANCE), "an option that does nothing is none"


@pytest.mark.parametrize("call", [[], *(name.split() for name in COMMANDS)])
def test_help_fits_80_columns_whatever_the_environment_says(cli, call, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    assert max(map(len, cli(*call, "--help").out.splitlines())) <= 80


def test_the_reference_page_is_up_to_date():
    spec = importlib.util.spec_from_file_location("make_cli", DOCS / "make_cli.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.PAGE.read_text(encoding="utf-8") == module.page(), "run `python docs/make_cli.py`"


def test_the_reference_page_names_every_command_and_option():
    text = (DOCS / "reference" / "cli.md").read_text(encoding="utf-8")
    for name in COMMANDS:
        section = text.split(f"## lengthwise {name}\n")[1].split("\n## ")[0]
        for action in parser_of(name)._actions:
            assert set(action.option_strings) <= set(section.replace(",", " ").split())


def test_python_m_runs_the_same_commands(shell):
    answer = shell("--version")
    assert answer.code == 0 and answer.out == f"lengthwise {__version__}\n"
    wrong = shell("trian")
    assert wrong.code == 2 and "'train'" in wrong.err
