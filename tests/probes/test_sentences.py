"""What is said of one curve: the censored reach, what was not learned, and one way of rounding."""

from __future__ import annotations

import json

import pytest

from lengthwise.probes.curve.curve import Curve, Point, learned_sentence, reach_sentence, rounded_percent


def curve(rights: list[int], train_size: int = 2, items: int = 200, certain: bool = True) -> Curve:
    points = [Point(n, n, items, right, items, right, 0.1, 0.0, 0.0) for n, right in enumerate(rights, start=1)]
    return Curve("t", "none", train_size, 0, tuple(points), certain)


def test_a_reach_at_the_end_of_the_measurement_is_open_above() -> None:
    claim = curve([200, 200, 200]).reach()
    assert claim.value == 3 and claim.evidence["censored"] is True
    assert claim.interval is not None and claim.interval.is_open and 1e9 in claim.interval
    plain = json.loads(json.dumps(claim.plain(), allow_nan=False))
    assert plain["interval"]["low"] == 3 and plain["interval"]["high"] is None
    said = reach_sentence(claim)
    assert "at least 3" in said and "not measured further" in said and "3 to 3" not in said and "interval" not in said
    assert "interval from 2" in reach_sentence(curve([200, 200, 192]).reach())


def test_an_upper_end_that_is_not_reached_is_open_and_one_that_is_is_not() -> None:
    """190 of 200 is 95 %; 188 is below, and the upper end of its interval above; 150 is below for certain."""
    undecided = curve([200, 200, 188]).reach()
    assert undecided.value == 2 and undecided.interval is not None and undecided.interval.is_open
    assert "no upper end" in reach_sentence(undecided)
    decided = curve([200, 200, 188, 150]).reach()
    assert decided.interval is not None and (decided.interval.low, decided.interval.high) == (2, 3)
    assert "2 to 3" in reach_sentence(decided)


def test_what_was_not_learned_comes_with_the_size_and_with_advice() -> None:
    said = learned_sentence(curve([200, 70, 200]))
    assert said.startswith("not learned") and "35.0%" in said and "size 2" in said
    assert all(word in said for word in ("steps", "depth", "rate"))
    assert learned_sentence(curve([200, 200, 0])) == ""
    assert "not meaningful" in learned_sentence(curve([0, 0, 0], certain=False))
    beyond = Curve("t", "none", 2, 0, curve([200, 200, 200]).points[2:])
    assert "not known" in learned_sentence(beyond)


@pytest.mark.parametrize(
    "share, text", [(1, "100.0"), (0, "0.0"), (0.99999, "99.9"), (0.00001, "<0.1"), (0.9995, "99.9"), (0.123, "12.3")]
)
def test_only_one_is_all_and_only_nought_is_nothing(share: float, text: str) -> None:
    assert rounded_percent(share) == text
