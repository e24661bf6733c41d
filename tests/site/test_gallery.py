"""The programs of the gallery run and draw pictures, and the page shows every one of them with its words."""

from __future__ import annotations

import ast
import re
import runpy
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from site_texts import DOCS, pages

PROGRAMS = sorted((DOCS / "gallery").glob("*.py"))
PAGE = pages()["gallery/index.md"]
SVG = "{http://www.w3.org/2000/svg}"


def marks(path: Path) -> int:
    """The number of drawn shapes of a picture."""
    root = ElementTree.parse(path).getroot()
    assert root.tag == f"{SVG}svg"
    return sum(1 for part in root.iter() if part.tag in (f"{SVG}path", f"{SVG}line", f"{SVG}rect"))


def test_there_are_eight_examples_or_more_and_all_are_shown() -> None:
    assert len(PROGRAMS) >= 8
    shown = re.findall(r"^```\{literalinclude\} (\w+)\.py$", PAGE, re.MULTILINE)
    assert sorted(shown) == [path.stem for path in PROGRAMS]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_an_example_has_its_words_and_its_picture_on_the_page(program: Path) -> None:
    title, _, words = (ast.get_docstring(ast.parse(program.read_text(encoding="utf-8"))) or "").partition("\n\n")
    section = PAGE.split(f"\n## {title.rstrip('.')}\n")[1].split("\n## ")[0]
    assert words in section and f"(../pictures/gallery/{program.stem}.svg)" in section
    assert marks(DOCS / "pictures" / "gallery" / f"{program.stem}.svg") > 5


def test_every_picture_has_a_program() -> None:
    pictures = sorted(path.stem for path in (DOCS / "pictures" / "gallery").iterdir())
    assert pictures == [path.stem for path in PROGRAMS]


@pytest.mark.system
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_an_example_draws_its_picture(program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As many shapes as in the picture that is kept, up to a few: digits may differ between processors."""
    picture = tmp_path / "picture.svg"
    monkeypatch.setattr(sys, "argv", [str(program), str(picture)])
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(program), run_name="__main__")
    kept = marks(DOCS / "pictures" / "gallery" / f"{program.stem}.svg")
    assert abs(marks(picture) - kept) <= max(5, 0.2 * kept)
