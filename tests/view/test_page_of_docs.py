"""docs/how-to/view.md: its commands are understood, and it says what the code does."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from lengthwise.cli import parser_of
from lengthwise.integrity import JOURNAL
from lengthwise.view.app import LOOPBACK

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "view.md").read_text(encoding="utf-8")


def test_every_command_is_understood() -> None:
    found = re.findall(r"(?:^\$ |`)lengthwise view([^#`\n]*)", PAGE, flags=re.MULTILINE)
    assert len(found) >= 4
    for words in found:
        parser_of("view").parse_intermixed_args(shlex.split(words))


def test_every_option_is_shown() -> None:
    options = re.findall(r"^  (--[a-z]+)", parser_of("view").format_help(), flags=re.MULTILINE)
    assert {"--port", "--open", "--bundle"} <= set(options)
    assert all(option in PAGE for option in options if option not in ("--json", "--quiet", "--help"))


def test_names_are_those_of_the_code() -> None:
    assert f"`{JOURNAL}`" in PAGE and LOOPBACK in PAGE
