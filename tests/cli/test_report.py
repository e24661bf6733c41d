"""`lengthwise report`."""

from __future__ import annotations

import json

import pytest


@pytest.fixture
def study(tmp_path, synthetic_study):
    return synthetic_study(tmp_path / "runs" / "quick", ["sort"], ["none", "rope"], seeds=1, failed=0)


def test_the_path_is_printed(cli, study):
    answer = cli("report", "quick")
    assert answer.code == 0 and answer.out == "runs/quick/report.html\n" and answer.err == ""
    assert (study / "report.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_another_file_and_figures(cli, study, tmp_path):
    answer = cli("report", study, "--out", "page.html", "--figures", "figures", "--json", "--quiet")
    found = json.loads(answer.out)
    assert answer.code == 0 and answer.err == "" and found["report"] == "page.html"
    assert len(found["figures"]) == len(list((tmp_path / "figures").iterdir())) == 15
    assert (tmp_path / "page.html").exists() and not (study / "report.html").exists()


@pytest.mark.parametrize(
    "arguments, said",
    [
        (["report"], "NAME"),
        (["report", "quikc"], "did you mean 'quick'"),
        (["report", "quick", "--out", "nowhere/page.html"], "nowhere"),
    ],
)
def test_wrong_use_is_told_in_a_sentence(cli, study, arguments, said):
    answer = cli(*arguments)
    assert answer.code == 2 and said in answer.err and answer.err.count("\n") == 1 and answer.out == ""


def test_a_damaged_index_is_named(cli, study):
    (study / "index.sqlite").write_bytes(b"this is not a database, whatever its name says" * 100)
    answer = cli("report", "quick")
    assert answer.code == 2 and "damaged" in answer.err and "index.sqlite" in answer.err
