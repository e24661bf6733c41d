"""The catalogue: one sentence per key, filled in from values, and never needed to understand stored data."""

from __future__ import annotations

import json

import pytest

from lengthwise import messages
from lengthwise.messages import explain, is_explained, sentence
from lengthwise.records import Assumption, Claim, Column, Figure, Interval, Record, Reference, Table


@pytest.fixture
def catalogue(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(messages, "_SENTENCES", {})


@pytest.mark.usefixtures("catalogue")
def test_a_sentence_is_filled_in_and_a_key_without_one_stands_for_itself() -> None:
    explain({"a.b": "sizes {first} to {last}"})
    assert sentence("a.b", {"first": 1, "last": 20}) == "sizes 1 to 20"
    assert sentence("a.c") == "a.c" and is_explained("a.b") and not is_explained("a.c")


@pytest.mark.usefixtures("catalogue")
def test_a_key_has_one_sentence() -> None:
    explain({"a.b": "one"})
    explain({"a.b": "one"})
    with pytest.raises(ValueError, match=r"a\.b"):
        explain({"a.b": "another"})


def record() -> Record:
    claim = Claim(
        "x.reach",
        7,
        "size",
        "measured",
        interval=Interval(5, float("inf")),
        assumptions=(Assumption("x.drawn", "checked", {"count": 3}),),
        reference=Reference("wilson1927", "section 2"),
        evidence={"first": 1},
    )
    table = Table("x.points", (Column("size", "whole"), Column("exact", "share", "exact match")), ((1, 0.5), (2, None)))
    return Record(
        "x", {"items": 3}, "X", ("It holds.",), (claim,), (table,), (Figure("x.f", {"mark": "line"}),), {"n": [1]}
    )


@pytest.mark.usefixtures("catalogue")
def test_a_stored_record_reads_back_where_its_sentences_are_not_known() -> None:
    explain({"x.reach": "reach from {first}", "x.drawn": "{count} were drawn"})
    written = json.loads(json.dumps(record().plain(), allow_nan=False))
    messages._SENTENCES.clear()
    read = Record.from_plain(written)
    assert read.claims[0].title == "reach from 1" and read.claims[0].assumptions[0].statement == "3 were drawn"
    assert (read.claims, read.tables, read.figures) == (record().claims, record().tables, record().figures)
    assert read.claim("x.reach").value == 7 and read.table("x.points").records()[1] == {"size": 2, "exact": None}


def test_numbers_that_are_not_finite_are_words_in_json() -> None:
    plain = Record("x", data={"a": float("inf"), "b": [float("nan"), -float("inf")]}).plain()
    assert plain["data"] == {"a": "infinite", "b": ["not a number", "-infinite"]}


def test_a_table_with_a_row_that_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="does not fit"):
        Table("x", (Column("a"),), ((1, 2),))
    with pytest.raises(ValueError, match="two columns"):
        Table("x", (Column("a"), Column("a")), ())


def test_a_record_of_another_version_is_refused() -> None:
    with pytest.raises(ValueError, match="another version"):
        Record.from_plain({**record().plain(), "schema": 99})


def test_a_share_is_shown_in_percent() -> None:
    claim = Claim("x.share", 0.25, "share", "measured", interval=Interval(0, 0.5))
    assert str(claim).startswith("x.share: 25 % [0 %, 50 %]")
