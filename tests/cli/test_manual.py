"""The manual page: written from the parsers, up to date, and rendered without a warning."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from lengthwise.cli import COMMANDS, parser_of
from lengthwise.cli.manual import _roff, manual

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "lengthwise.1"


def test_the_page_is_up_to_date(cli):
    assert PAGE.read_text(encoding="utf-8") == manual(), "run `python docs/make_cli.py`"
    assert cli("man").out == manual()


def test_the_page_names_every_command_and_option():
    sections = dict(
        re.findall(
            r"^\.SS lengthwise ([\w\\ -]*?)(?: \[?[A-Z]+.*?)?(?: \[options\])?$\n(.*?)(?=^\.S[SH])",
            manual(),
            re.MULTILINE | re.DOTALL,
        )
    )
    assert {name.replace("\\-", "-") for name in sections} == {*COMMANDS}
    for name, text in sections.items():
        for action in parser_of(name.replace("\\-", "-"))._actions:
            assert all(_roff(word) in text for word in action.option_strings or [str(action.metavar)])


def test_no_line_begins_with_an_unknown_request_or_is_not_ascii():
    text = manual()
    requests = {line.split()[0] for line in text.splitlines() if line[:1] in (".", "'")}
    assert requests == {".TH", ".SH", ".SS", ".PP", ".TP", ".I", ".B", ".EX", ".EE"} and text.isascii()


@pytest.mark.system
def test_mandoc_finds_nothing_to_complain_about():
    if shutil.which("mandoc") is None:
        pytest.skip("mandoc is not installed")
    done = subprocess.run(["mandoc", "-T", "lint", "-W", "style", str(PAGE)], capture_output=True, text=True)
    assert done.returncode == 0 and not done.stdout and not done.stderr


@pytest.mark.system
def test_groff_renders_it_without_a_warning():
    if shutil.which("groff") is None:
        pytest.skip("groff is not installed")
    command = ["groff", "-man", "-Tutf8", "-ww", "-rLL=80n", str(PAGE)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr
    assert "train-length" in re.sub(r"\x1b\[\d+m|.\x08", "", done.stdout)
