"""Any record as a section of a page and as text: names stay text, failures are shown, figures are data."""

import json
import re

import pytest

from lengthwise.cli.commands.records import write_record
from lengthwise.errors import UsageError
from lengthwise.figures.plots import heat_figure, line_figure
from lengthwise.records import Assumption, Claim, Column, Interval, Record, Table
from lengthwise.reports.cells import shown
from lengthwise.reports.record_section import RecordPage, claim_row, render_record_page, write_record_page

EVIL = "<script>alert(1)</script>"


def record() -> Record:
    claim = Claim(EVIL, 1.5, "units", "certified", interval=Interval(1, 2), assumptions=(Assumption(EVIL, "violated"),))
    columns = (Column("a", "text", EVIL), Column("n", "whole"), Column("share", "share"), Column("yes", "truth"))
    rows = ((EVIL, 1234, 0.25, True), ("b", None, None, False))
    return Record(
        "one",
        title=EVIL,
        text=(f"text with `{EVIL}`",),
        claims=(claim,),
        tables=(Table("t", columns, rows, EVIL, EVIL), Table("d", columns, rows, "details", detail=True)),
        figures=(
            line_figure("one.lines", EVIL, EVIL, (EVIL, "y"), {EVIL: [(0, 1.0), (1, 0.0), (2, 3.0)]}, "y"),
            heat_figure("one.heat", "heat", "words", ("x", "y"), [(0, 0, 1.0), (1, 0, 2.0)]),
        ),
    )


def page() -> RecordPage:
    return RecordPage(EVIL, (EVIL,), ((EVIL, EVIL),), (record(), Record("two", failed=f"because of {EVIL}")))


def test_names_stay_text():
    text = render_record_page(page())
    assert EVIL not in text and text.count("&lt;script&gt;") >= 15
    assert text.count("<script") == 3 and text.count("</script>") == 3  # the data, Vega and the page's own
    assert "1,234" in text and "25 %" in text and "1 to 2" in text and 'class="violated"' in text
    assert "Failed: because of" in text and "<details>" in text
    assert "script-src &#39;sha256-" in text and "default-src &#39;none&#39;" in text


def test_a_page_with_claims_says_what_their_kinds_are():
    text = render_record_page(page())
    assert "<dt>kind</dt>" in text and "<dt>Lipschitz constant</dt>" not in text
    asked = RecordPage("m", ("Lipschitz constant at most 2.",), (), (Record("two", failed="why"),))
    assert "<dt>Lipschitz constant</dt>" in render_record_page(asked) and "<dt>kind" not in render_record_page(asked)


def test_figures_are_data_of_the_page():
    held = re.search(r'id="page-data">(.*?)</script>', render_record_page(page()), re.DOTALL)
    assert held is not None
    data = json.loads(held[1])
    assert [figure["name"] for figure in data["figures"]] == [f"one.lines-{EVIL}", "one.heat-heat"]
    assert data["figures"][0]["data"]["rows"]["y"] == [1.0, 3.0]  # a logarithm of 0 has no place
    assert data["figures"][0]["data"]["rows"]["series"] == {"texts": [EVIL], "places": [0, 0]}
    assert set(data["templates"]) == {figure["kind"] for figure in data["figures"]}


def test_a_page_without_figures_runs_no_script():
    text = render_record_page(RecordPage("m", (), (), (Record("two", failed="why"),)))
    assert "<script" not in text and "script-src &#39;none&#39;" in text


def test_a_template_is_valid_vega_lite():
    alt = pytest.importorskip("altair")
    for figure in record().figures:
        alt.Chart.from_dict({**figure.template, "datasets": dict(figure.data)}, validate=True)


def test_cells():
    assert [shown(cell) for cell in (None, 12345, 0.000123456, "a")] == ["–", "12,345", "0.0001235", "a"]
    assert [shown(True, "truth"), shown(0.5, "share")] == ["yes", "50 %"]


def test_a_place_that_does_not_exist_is_one_sentence(tmp_path):
    with pytest.raises(UsageError, match="a folder that exists"):
        write_record_page(page(), tmp_path / "no" / "page.html")


def test_text_fits_80_columns_and_shows_control_characters(capsys):
    many = tuple(Column(f"number_{n}", title=f"a number {n}") for n in range(20))
    text = "words that need more room than a column has \x1b[31m and so are wrapped at some place or another"
    table = Table(
        "t", (Column("text", "text"), *many), tuple((text, *[-1.23456e-100 * n] * 20) for n in range(40)), "T"
    )
    write_record(Record("x", text=("word " * 40,), claims=record().claims, tables=(table, *record().tables)))
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= 80 and "\x1b" not in out
    told = " ".join(out.split())
    assert "More with --json: T (40 rows)" in told and "… 27" in out and "details (2 rows)" in told


def test_a_failure_is_told_in_its_place(capsys):
    write_record(Record("x", failed="there is nothing to see"))
    assert capsys.readouterr().out.splitlines()[-1] == "failed: there is nothing to see"


@pytest.mark.wording
def test_evidence_that_names_encodings_has_no_marks_of_code():
    """Tables are plain text, so a mark would stay a backtick."""
    row = claim_row(Claim("x", 0.5, "share", "measured", evidence={"others": ["sort with `rope`"]}))
    assert row["evidence"].endswith(": sort with rope")
