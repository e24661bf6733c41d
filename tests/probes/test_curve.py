"""The curve: points, bins and the reach by hand, its interval, and the way to JSON and back."""

import importlib.util
import itertools
import json
import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lengthwise.errors import UsageError
from lengthwise.probes.curve.curve import Curve, Point
from lengthwise.probes.curve.standard import wilson
from lengthwise.records import Record


def point(size: int, right: int, items: int = 200, loss: float = 0.5) -> Point:
    """An item of size n has n tokens, and every wrong item has one wrong token."""
    tokens = items * size
    return Point(size, size, items, right, tokens, tokens - (items - right), loss, 0.5**size, 0.5)


def curve(rights: dict[int, int], train_size: int = 2, items: int = 200) -> Curve:
    points = tuple(point(size, right, items) for size, right in rights.items())
    return Curve("a task", "none", train_size, 3, points)


CURVES = st.builds(
    lambda rights, train_size: curve(rights, train_size, items=20),
    st.dictionaries(st.integers(1, 40), st.one_of(st.just(20), st.integers(0, 20)), min_size=1).map(
        lambda rights: dict(sorted(rights.items()))
    ),
    st.integers(1, 20),
)


# --- points and bins ------------------------------------------------------------------------------------------------


def test_a_point_by_hand() -> None:
    one = point(5, 150)
    assert (one.exact, one.token) == (0.75, 0.95)
    assert one.interval == wilson(150, 200) and one.token_interval == wilson(950, 1000)
    assert curve({5: 150}).at(5) == one
    with pytest.raises(KeyError, match="size 6 was not measured"):
        curve({5: 150}).at(6)


def test_bins_pool_what_lies_in_them() -> None:
    points = (point(1, 10, 10, 1.0), point(2, 20, 40, 2.0), point(3, 0, 30, 4.0))
    first, second = Curve("t", "none", 2, 0, points).bins()
    assert (first.size, first.last, first.items, first.right) == (1, 2, 50, 30)
    assert (first.tokens, first.tokens_right) == (10 + 80, 10 + 60)
    assert first.exact == 0.6 and first.interval == wilson(30, 50)
    assert first.loss == pytest.approx((10 * 1.0 + 80 * 2.0) / 90), "the mean over the tokens asked for"
    assert first.chance == pytest.approx((10 * 0.5 + 40 * 0.25) / 50) and first.token_chance == pytest.approx(0.5)
    assert second == replace(points[2], size=3, last=3)


@pytest.mark.parametrize(
    ("sizes", "train_size", "edges", "wanted"),
    [
        (range(1, 7), 2, None, [(1, 2), (3, 4), (5, 6)]),
        (range(1, 8), 3, None, [(1, 3), (4, 6), (7, 7)]),
        (range(1, 6), 5, None, [(1, 5)]),
        (range(1, 4), 20, None, [(1, 3)]),
        ([2, 4, 20], 4, None, [(1, 4), (17, 20)]),
        ([30, 40], 10, None, [(21, 30), (31, 40)]),
        (range(1, 7), 2, [1, 4], [(1, 1), (2, 4)]),
        (range(1, 7), 2, [6], [(1, 6)]),
    ],
)
def test_the_edges_of_bins(sizes, train_size: int, edges, wanted: list[tuple[int, int]]) -> None:
    bins = curve(dict.fromkeys(sizes, 100), train_size).bins(edges)
    assert [(pooled.size, pooled.last) for pooled in bins] == wanted


@given(CURVES)
def test_bins_lose_nothing(measured: Curve) -> None:
    bins = measured.bins()
    for name in ("items", "right", "tokens", "tokens_right"):
        assert sum(getattr(p, name) for p in bins) == sum(getattr(p, name) for p in measured.points)
    assert all(one.last < two.size for one, two in itertools.pairwise(bins))
    assert all(min(measured.train_size, p.last) == p.last or p.size > measured.train_size for p in bins)


# --- the reach ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rights", "reach", "censored"),
    [
        ({1: 200, 2: 195, 3: 190, 4: 189, 5: 200}, 3, False),  # 190 of 200 is 95 %; what comes back later is not held
        ({1: 200, 2: 200}, 2, True),
        ({1: 189, 2: 200}, 0, False),  # the first size fails
        ({4: 200, 8: 200, 12: 100}, 8, False),  # sizes that do not exist are not held against it
        ({4: 200, 8: 200}, 8, True),
        ({7: 0}, 0, False),
    ],
)
def test_the_reach_by_hand(rights: dict[int, int], reach: int, censored: bool) -> None:
    claim = curve(rights).reach()
    assert (claim.value, claim.kind, claim.unit) == (reach, "measured", "size")
    assert claim.evidence["censored"] is censored
    assert claim.evidence["smallest_size"] == min(rights) and claim.evidence["largest_size"] == max(rights)
    assert claim.evidence["threshold"] == 0.95 and claim.evidence["items_per_size"] == 200


def test_the_interval_of_the_reach() -> None:
    """Of 200 items, 197 have a Wilson lower end of 95.7 % and 196 one of 95.0 %; 184 an upper end of 95.0 %."""
    low, sure = wilson(196, 200), wilson(197, 200)
    assert low.low < 0.95 < sure.low and wilson(183, 200).high < 0.95 < wilson(184, 200).high
    claim = curve({1: 200, 2: 197, 3: 196, 4: 190, 5: 184, 6: 183, 7: 200}).reach()
    assert claim.interval is not None
    assert (claim.interval.low, claim.value, claim.interval.high) == (2, 4, 5)


def test_another_threshold() -> None:
    measured = curve({1: 200, 2: 150, 3: 100})
    assert [measured.reach(t).value for t in (1.0, 0.76, 0.75, 0.5)] == [1, 1, 2, 3]


@given(CURVES, st.floats(0.05, 1))
def test_the_reach_is_what_its_definition_says(measured: Curve, threshold: float) -> None:
    held = [p.size for p in measured.points if all(q.exact >= threshold for q in measured.points if q.size <= p.size)]
    claim = measured.reach(threshold)
    assert claim.value == max(held, default=0)
    assert claim.interval is not None and claim.value in claim.interval


# --- JSON -----------------------------------------------------------------------------------------------------------


@given(CURVES)
def test_there_and_back(measured: Curve) -> None:
    stored = Record.from_plain(json.loads(json.dumps(measured.record().plain(), allow_nan=False)))
    assert Curve.from_record(stored) == measured
    assert stored.table("curve.points").column("exact") == [p.exact for p in measured.points]
    assert stored.claim("curve.reach").value == measured.reach().value
    json.dumps(measured.plain(), allow_nan=False)


def test_claims_are_the_reach_and_the_bins() -> None:
    measured = curve({1: 200, 2: 200, 3: 100, 4: 0})
    reach, inside, outside = measured.claims()
    assert (reach.key, reach.value) == ("curve.reach", 2)
    assert (inside.key, inside.value, inside.evidence["last"]) == ("curve.exact", 1.0, 2)
    assert (outside.key, outside.value, outside.evidence["first"]) == ("curve.exact", 0.25, 3)
    assert outside.interval == wilson(100, 400) and outside.kind == "measured"
    assert outside.reference is not None and outside.reference.key == "wilson1927"


@pytest.mark.wording
def test_the_words_of_claims() -> None:
    titles = [claim.title for claim in curve({1: 200, 2: 200, 3: 100, 4: 0}).claims()]
    assert titles == ["reach", "exact match, sizes 1 to 2", "exact match, sizes 3 to 4"]


def test_a_curve_of_whole_answers_alone_has_no_token_accuracy() -> None:
    points = tuple(Point(n, n, 10, 9, 0, 0, math.nan, 0.1, 0.1) for n in (1, 2, 3))
    found = Curve("t", "", 2, 0, points)
    assert math.isnan(found.bins()[0].token) and found.record().table("curve.points").column("loss") == [None] * 3
    again = Curve.from_record(Record.from_plain(json.loads(json.dumps(found.record().plain(), allow_nan=False))))
    assert again.plain() == found.plain()


def test_python_habits() -> None:
    found = curve({1: 200, 2: 100, 3: 0})
    assert "reach 1" in repr(found) and found.plot().to_dict()["layer"]
    assert "<table>" in found.record()._repr_html_() and "curve.points (3 rows)" in repr(found.record())


def test_a_data_frame_or_a_clear_sentence() -> None:
    found = curve({1: 200, 2: 100, 3: 0})
    if importlib.util.find_spec("pandas"):
        assert list(found.to_pandas()["size"]) == [1, 2, 3]
    else:
        with pytest.raises(UsageError, match="pip install pandas"):
            found.to_pandas()


def test_the_notebook_sees_a_figure() -> None:
    assert "<svg" in curve({1: 200, 2: 100, 3: 0})._repr_html_()
