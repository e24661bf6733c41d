"""The page of an inspection, from plain data: names stay text, failures are shown, pictures are drawn."""

import pytest

from lengthwise.errors import UsageError
from lengthwise.inspection.content import Inspection, Picture, Section, Table
from lengthwise.records import Assumption, Claim
from lengthwise.reports.inspection import render_inspection, shown, write_inspection

EVIL = "<script>alert(1)</script>"


def inspection() -> Inspection:
    claim = Claim(EVIL, 1.5, "units", "certified", assumptions=(Assumption(EVIL, "violated"),))
    lines = tuple({"x": x, "y": float(x), "series": EVIL} for x in range(3))
    heat = tuple({"x": x, "y": 0, "value": float(x)} for x in range(3))
    table = Table(EVIL, (EVIL, "n"), ((EVIL, 1234), ("b", None)), EVIL)
    pictures = (
        Picture("lines", EVIL, EVIL, EVIL, "y", lines, "y"),
        Picture("heat", "heat", "words", "x", "y", heat),
    )
    sections = (
        Section("one", EVIL, (f"text with `{EVIL}`",), (claim,), (table,), (table,), pictures),
        Section("two", "Two", failed=f"because of {EVIL}"),
    )
    return Inspection(EVIL, ((EVIL, EVIL),), EVIL, ((EVIL, EVIL),), sections)


def test_names_stay_text():
    page = render_inspection(inspection())
    assert "<script" not in page and page.count("&lt;script&gt;") >= 15
    assert page.count("<svg") == 2 and "1,234" in page and "could not be made" in page and "violated" in page
    assert "default-src &#39;none&#39;; script-src &#39;none&#39;; style-src" in page


def test_cells():
    assert [shown(cell) for cell in (None, 12345, 0.000123456, "a")] == ["–", "12,345", "0.0001235", "a"]


def test_infinite_numbers_become_words():
    plain = Inspection("m", (), "", (), (Section("a", "A", tables=(Table("t", ("c",), ((float("inf"),),)),)),)).plain()
    assert plain["sections"][0]["tables"][0]["rows"] == [["infinite"]]


def test_a_place_that_does_not_exist_is_one_sentence(tmp_path):
    with pytest.raises(UsageError, match="a folder that exists"):
        write_inspection(inspection(), tmp_path / "no" / "page.html")
