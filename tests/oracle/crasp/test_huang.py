"""The published flags of the regular languages: whether a program exists, for no positions and for offsets."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from lengthwise.oracle.crasp.decide import decide
from lengthwise.oracle.crasp.promise import prefixes
from lengthwise.oracle.crasp.promised import decide_absolute, decide_promised
from lengthwise.tasks import tasks
from lengthwise.tasks.languages.regular import RegularLanguage

FILE = Path(__file__).resolve().parents[2] / "data" / "huang2025.csv"


def regular_flags() -> list[tuple[str, str, bool]]:
    with FILE.open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["encoding"] in ("nope", "ape_random_offset")]
    known = {row["task"] for row in rows if row["task"] in tasks.names() or "*" in row["task"] or row["task"][0] == "D"}
    chosen = [row for row in rows if row["task"] in known and language(row["task"])]
    return [(row["task"], row["encoding"], row["predicted_to_generalize"] == "True") for row in chosen]


def language(name: str) -> RegularLanguage | None:
    made = tasks.make(name)
    return made if isinstance(made, RegularLanguage) else None


def test_there_are_34_flags() -> None:
    assert len(regular_flags()) == 34


@pytest.mark.parametrize(("name", "encoding", "exists"), regular_flags())
def test_flag(name: str, encoding: str, exists: bool) -> None:
    dfa = language(name).automaton
    # The published question is what may come next after every prefix; whether a word belongs has the same flags.
    asked, whole = decide_promised, decide
    if encoding == "ape_random_offset":
        asked = whole = decide_absolute
    for decision in (asked(prefixes(dfa)), whole(dfa)):
        assert decision.member is exists  # and not None: nothing is left unknown
        assert decision.claim().status == ("holds" if exists else "refuted")
