"""The waterfall of a bound, as a figure and as text."""

import itertools

import pytest

from lengthwise.errors import UsageError
from lengthwise.figures.waterfall import waterfall_chart, waterfall_rows, waterfall_text

TERMS = [("source risk", 0.1), ("Lipschitz x W1", 0.25), ("approximation", 0.0), ("sampling", 0.05)]


def test_each_term_stands_on_those_before():
    rows = waterfall_rows(TERMS)
    for before, after in itertools.pairwise(rows[:-1]):
        assert after["from"] == before["to"]
    assert rows[-1] == {
        "term": "bound",
        "value": pytest.approx(0.4),
        "from": 0.0,
        "to": rows[-2]["to"],
        "kind": "total",
    }


def test_figure_shows_every_term_and_the_ceiling():
    spec = waterfall_chart(TERMS, "a bound", ceiling=1.0).to_dict()
    assert len(spec["layer"]) == 3 and len(waterfall_chart(TERMS).to_dict()["layer"]) == 2
    assert [row["term"] for row in spec["layer"][0]["data"]["values"]] == [*(name for name, _ in TERMS), "bound"]
    assert spec["title"] == "a bound"


def test_text():
    lines = waterfall_text(TERMS, ceiling=1.0, width=20).splitlines()
    assert len(lines) == 5 and all(line.count("|") == 1 for line in lines)
    places = [line.index("|") for line in lines]
    assert len(set(places)) == 1, "the ceiling is one line"
    assert lines[0].count("▒") == 2 and lines[1].count("▒") == 5 and lines[-1].count("█") == 8
    assert lines[0].endswith("0.1") and lines[-1].endswith("0.4")
    assert "|" not in waterfall_text(TERMS) and "|" in waterfall_text(TERMS, ceiling=0.2), "also where it is exceeded"


def test_bad_terms():
    for terms, message in (
        ([], "at least one term"),
        ([("a", -1.0)], "finite number"),
        ([("a", float("nan"))], "finite"),
    ):
        with pytest.raises(UsageError, match=message):
            waterfall_text(terms)
