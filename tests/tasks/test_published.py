"""The published results kept with a task are the rows of the table they were read from."""

from __future__ import annotations

import csv

import pytest

from lengthwise.tasks import tasks
from published_names import ALGORITHMIC, REGULAR, TABLE

NAMES = {**ALGORITHMIC, **REGULAR}

# encoding in the table → encoding as the facts call it
ENCODINGS = {
    "ape_random_offset": "learned+offset",
    "nope": "none",
    "ape_random_offset_regularised_1e-4": "learned+offset, regularised 1e-4",
}


def rows(name: str) -> list[dict[str, str]]:
    with TABLE.open(newline="") as file:
        return [row for row in csv.DictReader(file) if row["task"] == name]


@pytest.mark.parametrize("name", NAMES)
def test_published_exact_match_is_the_table(name: str) -> None:
    expected = {
        ENCODINGS[row["encoding"]]: (
            tuple(float(row[f"exact_match_{bin_}"]) for bin_ in ("in_range", "2x", "3x")),
            float(row["chance"]) if row["chance"] else None,
        )
        for row in rows(name)
    }
    assert len(expected) == 3
    published = tasks.make(NAMES[name]).facts.published
    assert {curve.encoding: (curve.exact_match, curve.chance) for curve in published} == expected
    assert len(published) == 3 and {curve.reference.key for curve in published} == {"huang2025"}


@pytest.mark.parametrize("name", NAMES)
def test_crasp_status_is_the_table(name: str) -> None:
    expected = {ENCODINGS[row["encoding"]]: row["predicted_to_generalize"] == "True" for row in rows(name)}
    regularised = expected.pop("learned+offset, regularised 1e-4")
    assert dict(tasks.make(NAMES[name]).facts.crasp) == expected
    # a regulariser is a way of training, not an encoding: it has the status of the encoding it is used with
    assert regularised == expected["learned+offset"]
