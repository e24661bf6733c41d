"""The file of a page: the old one stays where the new one cannot be written, and the complaint names the option."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from lengthwise.errors import UsageError
from lengthwise.reports.page_file import write_page_file


def test_it_is_written_and_written_again(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    assert write_page_file(path, "one") == path
    write_page_file(path, "zwei ä")
    assert path.read_text(encoding="utf-8") == "zwei ä" and list(tmp_path.iterdir()) == [path]


def test_a_refusal_is_one_sentence(tmp_path: Path) -> None:
    for noun, option in (("page", "--page"), ("report", "--output")):
        place = tmp_path / "missing" / "page.html"
        words = f"cannot write the {noun} {place}: No such file or directory; give {option} a file in a folder that"
        with pytest.raises(UsageError, match=f"^{re.escape(words)} exists$"):
            write_page_file(place, "text", noun, option)


def test_nothing_half_is_left(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text("old", encoding="utf-8")
    with pytest.raises(UnicodeEncodeError):
        write_page_file(path, "a lone surrogate \ud800")
    assert path.read_text(encoding="utf-8") == "old" and list(tmp_path.iterdir()) == [path]
