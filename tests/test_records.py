"""A claim that cannot be honest cannot be made."""

import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lengthwise.records import Assumption, Claim, Interval, Reference

finite = st.floats(allow_nan=False, allow_infinity=False)


@settings(deadline=None)
@given(finite, finite, finite)
def test_interval_holds_what_lies_between_its_ends(a, b, value):
    low, high = sorted((a, b))
    interval = Interval(low, high)
    assert low in interval and high in interval
    assert (value in interval) == (low <= value <= high)


@pytest.mark.parametrize("low, high", [(1, 0), (math.nan, 1), (0, math.nan)])
def test_interval_needs_its_ends_in_order(low, high):
    with pytest.raises(ValueError, match="low <= high"):
        Interval(low, high)


@pytest.mark.parametrize("level", [0, -0.5, 1.01, 95, math.nan])
def test_level_is_a_probability(level):
    with pytest.raises(ValueError, match="a level must lie in"):
        Interval(0, 1, level)


def test_level_may_be_certain():
    assert Interval(2, 2, level=1).level == 1


def test_infinite_ends_are_allowed():
    assert 1e300 in Interval(0, math.inf) and -1 not in Interval(0, math.inf)


def test_reference_reads_with_and_without_place():
    assert str(Reference("huang2025", "Theorem 7")) == "huang2025, Theorem 7"
    assert str(Reference("huang2025")) == "huang2025"


@pytest.mark.parametrize("status", ["holds", "refuted"])
def test_a_claim_that_holds_has_a_value(status):
    with pytest.raises(ValueError, match="has no value"):
        Claim("reach", None, "symbols", "measured", status)


@pytest.mark.parametrize("status", ["vacuous", "unknown", "refused"])
def test_a_claim_without_value_says_why(status):
    assert Claim("reach", None, "symbols", "certified", status).status == status


def test_zero_and_false_are_values():
    assert Claim("errors", 0, "", "measured").value == 0
    assert Claim("periodic", False, "", "proved").value is False


def test_nan_is_not_a_value():
    with pytest.raises(ValueError, match="NaN"):
        Claim("reach", math.nan, "symbols", "measured", "unknown")


@pytest.mark.parametrize(
    "make, settings, said",
    [
        (Claim, ("x", 1, "", "guessed"), "kind must be one of proved, certified, measured, predicted, heuristic, not"),
        (
            Claim,
            ("x", 1, "", "proved", "true"),
            "status must be one of holds, refuted, vacuous, unknown, refused, not",
        ),
        (Assumption, ("x", "hoped"), "check must be one of checked, assumed, violated, caveat, not 'hoped'"),
    ],
)
def test_words_are_from_their_lists(make, settings, said):
    with pytest.raises(ValueError, match=said):
        make(*settings)


def test_records_do_not_change():
    claim = Claim("reach", 1, "", "measured")
    with pytest.raises(AttributeError):
        claim.value = 2  # pyright: ignore[reportAttributeAccessIssue]


def test_claim_in_words():
    claim = Claim(
        "reach",
        61.23456,
        "symbols",
        "certified",
        interval=Interval(50, 70.5),
        assumptions=(Assumption("weights are bounded", "violated"), Assumption("one layer", "checked")),
    )
    assert str(claim) == "reach: 61.23 symbols [50, 70.5] (certified); assumption violated: weights are bounded"
    assert str(Claim("reach", None, "symbols", "measured", "unknown")) == "reach: unknown (measured)"
    assert str(Claim("errors", 0, "", "measured")) == "errors: 0 (measured)"
    one = Claim("mean", 0.5, "", "measured", assumptions=(Assumption("one seed shows no spread", "caveat"),))
    assert str(one) == "mean: 0.5 (measured); caveat: one seed shows no spread"


def test_plain_claim_is_json_and_keeps_everything():
    claim = Claim(
        "reach",
        60,
        "symbols",
        "measured",
        interval=Interval(50, 70, 0.9, "bootstrap"),
        assumptions=(Assumption("one layer", "checked"),),
        reference=Reference("huang2025", "Figure 1"),
        evidence={"seeds": [1, 2], "items": 1000},
    )
    plain = json.loads(json.dumps(claim.plain()))
    assert plain == {
        "key": "reach",
        "title": "reach",
        "value": 60,
        "unit": "symbols",
        "kind": "measured",
        "status": "holds",
        "interval": {"low": 50, "high": 70, "level": 0.9, "method": "bootstrap"},
        "assumptions": [{"key": "one layer", "statement": "one layer", "check": "checked"}],
        "reference": {"key": "huang2025", "place": "Figure 1"},
        "evidence": {"seeds": [1, 2], "items": 1000},
    }
