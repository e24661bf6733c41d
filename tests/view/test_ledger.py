"""Rows and cursors: whoever has some is given the rest, once."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lengthwise.view.ledger import Ledger


def followed(ledger: Ledger, known: dict[int, dict], cursor: str, most: int = 2000) -> str:
    """What a page does with changes."""
    more = True
    while more:
        found = ledger.changes(cursor, most)
        if found["reset"]:
            known.clear()
        known.update({row["id"]: row for row in found["rows"]})
        for gone in found["gone"]:
            known.pop(gone, None)
        cursor, more = found["cursor"], found["more"]
    return cursor


def test_a_row_that_stays_as_it_is_is_not_told_again() -> None:
    ledger = Ledger()
    ledger.put("a", {"n": 1})
    ledger.put("b", {"n": 1})
    cursor = ledger.changes()["cursor"]
    ledger.put("a", {"n": 1})
    assert ledger.changes(cursor)["rows"] == [] and ledger.changes(cursor)["cursor"] == cursor
    ledger.put("b", {"n": 2})
    assert ledger.changes(cursor)["rows"] == [{"id": 1, "n": 2}]


def test_a_cursor_of_another_ledger_starts_from_the_beginning() -> None:
    ledger, other = Ledger(), Ledger()
    ledger.put("a", {"n": 1})
    for number in range(3):
        other.put(str(number), {"n": number})
    for cursor in ("", "x", "x.1", other.changes()["cursor"], f"{ledger.epoch}.99", f"{ledger.epoch}.-1", "…." * 99):
        found = ledger.changes(cursor)
        assert found["reset"] and [row["id"] for row in found["rows"]] == [0], cursor


def test_a_name_that_comes_back_has_its_id_again() -> None:
    ledger = Ledger()
    ledger.put("a", {"n": 1})
    ledger.put("a", None)
    assert ledger.name_of(0) is None and ledger.rows() == []
    ledger.put("a", {"n": 2})
    assert ledger.name_of(0) == "a" and ledger.rows() == [{"id": 0, "n": 2}]
    assert ledger.name_of(1) is None and ledger.name_of(-1) is None


CHANGES = st.lists(st.tuples(st.sampled_from("abcde"), st.none() | st.integers(0, 3), st.booleans()), max_size=40)


@given(CHANGES, st.integers(1, 4))
def test_whoever_follows_knows_what_is_there(changes: list[tuple[str, int | None, bool]], most: int) -> None:
    ledger, known, cursor = Ledger(), {}, ""
    for name, value, asks in changes:
        ledger.put(name, None if value is None else {"n": value})
        if asks:
            cursor = followed(ledger, known, cursor, most)
    followed(ledger, known, cursor, most)
    assert [known[place] for place in sorted(known)] == ledger.rows()
