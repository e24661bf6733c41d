"""What options share: a file that cannot be written is refused before the work."""

from __future__ import annotations

from pathlib import Path

import pytest

from lengthwise.cli import parser_of
from lengthwise.cli.options import check_place
from lengthwise.errors import UsageError
from lengthwise.outputs import write_output

PAGE = '<meta http-equiv="Content-Security-Policy" content="">'


def refused(name: Path, *endings: str) -> str:
    with pytest.raises(UsageError) as error:
        check_place(str(name), "--page", endings)
    return str(error.value)


def test_places_that_can_be_written_pass(tmp_path: Path) -> None:
    write_output(tmp_path / "old.html", PAGE)
    check_place(None, "--page", (".html",))
    for name in ("old.html", "new.HTML"):
        check_place(str(tmp_path / name), "--page", (".html",))
    check_place(str(tmp_path / "any.ending"), "--page")
    assert [path.name for path in tmp_path.iterdir()] == ["old.html"], "looking writes nothing"


def test_others_are_refused_by_the_name_of_the_option(tmp_path: Path) -> None:
    page = tmp_path / "page.txt"
    assert refused(page, ".html", ".svg") == f"--page takes a file that ends in .html or .svg, not {str(page)!r}"
    for name in (tmp_path, tmp_path / "missing" / "page.html"):
        assert refused(name) == f"cannot write {name} there; give --page a file in a folder that exists"
    parser = parser_of("train")
    with pytest.raises(UsageError, match=r"^--figure takes a file that ends in \.svg, \.png or \.html, not 'x'$"):
        parser.check_outputs(parser.parse_args(["--figure", "x"]))


def test_a_file_that_may_not_be_written_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.access", lambda path, mode: Path(path) != tmp_path)
    assert "cannot write" in refused(tmp_path / "new.html", ".html")
    write_output(tmp_path / "old.html", PAGE)
    check_place(str(tmp_path / "old.html"), "--page", (".html",))
