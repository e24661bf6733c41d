"""Learned and holds: the definition by hand, against the reach, and where there is no answer."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lengthwise.probes.curve.curve import Curve, Point
from lengthwise.probes.curve.standard import Standing, least_items, standing, too_few_items, wilson


def curve(rights: dict[int, int], train_size: int, items: int = 100, certain: bool = True) -> Curve:
    points = [Point(n, n, items, right, items, right, 0.1, 0.0, 0.0) for n, right in rights.items()]
    return Curve("t", "none", train_size, 0, tuple(points), certain)


ALL = dict.fromkeys(range(1, 13), 100)


@pytest.mark.parametrize(
    ("rights", "train_size", "learned", "holds", "multiple"),
    [
        (ALL, 4, True, True, 3),
        ({**ALL, 12: 95}, 4, True, True, 3),  # at least 95 % is 95 %
        ({**ALL, 12: 94}, 4, True, False, 3),
        ({**ALL, 4: 94}, 4, False, None, 3),  # wrong in range: nothing is said about length
        ({**ALL, 1: 0}, 4, False, None, 3),  # at every size, the smallest too
        ({**ALL, 5: 0}, 2, True, False, 3),
        ({**ALL, 7: 0}, 2, True, True, 3),  # three times is as far as is asked
        (ALL, 6, True, True, 2),  # or as far as was measured
        (ALL, 12, True, None, 1),  # nothing beyond
        ({8: 100, 12: 100}, 4, None, None, 3),  # nothing in range
        ({4: 100, 8: 100, 12: 100}, 10, True, True, 1.2),  # a task without the size it was trained to
        ({4: 100, 8: 90, 12: 100}, 10, False, None, 1.2),
        ({16: 100, 32: 100, 64: 0}, 16, True, True, 3),  # the largest size up to three times is 32
        ({16: 100, 64: 0}, 16, True, None, 3),  # there is none beyond training up to three times
    ],
)
def test_by_hand(rights, train_size, learned, holds, multiple) -> None:
    assert curve(rights, train_size).standing() == Standing(learned, holds, multiple)


def test_a_task_without_the_size_asked_for_is_measured_to_there() -> None:
    even = curve(dict.fromkeys(range(2, 45, 2), 100), 15)
    assert even.standing(45) == Standing(True, True, 3) and even.standing().multiple == pytest.approx(44 / 15)


def test_answers_that_are_drawn_are_not_judged() -> None:
    assert curve(dict.fromkeys(range(1, 13), 0), 4, certain=False).standing() == Standing(None, None, 3)
    plain = curve(ALL, 4, certain=False).plain()
    assert (plain["learned"], plain["holds"], plain["certain"]) == (None, None, False)
    assert Curve.from_record(curve(ALL, 4, certain=False).record()).certain is False


@settings(deadline=None)
@given(st.lists(st.sampled_from([100, 96, 95, 94, 50, 0]), min_size=1, max_size=40), st.integers(1, 15))
def test_for_tasks_with_every_size_both_are_statements_about_the_reach(rights: list[int], train_size: int) -> None:
    found = curve(dict(enumerate(rights, start=1)), train_size)
    reach, stands = int(found.reach().value or 0), found.standing()
    largest = len(rights)
    assert stands.learned is (reach >= min(train_size, largest))
    wanted = min(3 * train_size, largest)
    assert stands.holds is (reach >= wanted if stands.learned and largest > train_size else None)
    plain = found.plain()
    assert (plain["learned"], plain["holds"], plain["multiple"]) == (stands.learned, stands.holds, stands.multiple)


def test_standing_needs_no_curve() -> None:
    assert standing([(1, 1.0), (2, 0.5)], 1, 3) == Standing(True, False, 3)


def test_the_least_number_of_items_by_search() -> None:
    found = next(n for n in range(1, 1000) if wilson(n, n).low >= 0.95)
    assert least_items() == found == 73


@pytest.mark.parametrize("items, warned", [(1, True), (50, True), (72, True), (73, False), (200, False)])
def test_too_few_items_are_warned_of(items: int, warned: bool) -> None:
    said = too_few_items(items)
    assert bool(said) is warned
    assert not said or ("73" in said[0] and f"{100 * wilson(items, items).low:.1f} %" in said[0])
