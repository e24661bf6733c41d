"""The file of a page: the old one stays where the new one cannot be written, and the complaint is one sentence."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from lengthwise.errors import LengthwiseError, UsageError
from lengthwise.reports.record_section import write_page_file

POLICY = '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'">'


def test_it_is_written_and_written_again(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    assert write_page_file(path, f"{POLICY}one") == path
    write_page_file(path, f"{POLICY}zwei ä")
    assert path.read_text(encoding="utf-8").startswith(f"{POLICY}zwei ä") and list(tmp_path.iterdir()) == [path]


def test_a_refusal_is_one_sentence(tmp_path: Path) -> None:
    place = tmp_path / "missing" / "page.html"
    words = f"cannot write the report {place}: No such file or directory; give it a file in a folder that exists"
    with pytest.raises(UsageError, match=f"^{re.escape(words)}$"):
        write_page_file(place, "text", "report")


def test_nothing_half_is_left(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    write_page_file(path, f"{POLICY}old")
    before = path.read_bytes()
    with pytest.raises(UnicodeEncodeError):
        write_page_file(path, "a lone surrogate \ud800")
    with pytest.raises(LengthwiseError, match="Content-Security-Policy"):
        write_page_file(path, "a page that allows anything")
    assert path.read_bytes() == before and list(tmp_path.iterdir()) == [path]


def test_a_page_of_somebody_else_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text("mine", encoding="utf-8")
    with pytest.raises(UsageError, match="give another name"):
        write_page_file(path, f"{POLICY}ours")
    assert path.read_text(encoding="utf-8") == "mine"
