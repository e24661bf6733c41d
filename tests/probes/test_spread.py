"""Several seeds: which are kept and why, the mean and the spread of those, and that no seed goes unreported."""

import json
import math

import pytest

from lengthwise.errors import UsageError
from lengthwise.probes.curve.curve import Curve, Point
from lengthwise.probes.curve.spread import Keep, over_seeds


def curve(seed: int, rights: list[int], position: str = "none", train_size: int = 2, task: str = "t") -> Curve:
    """Ten items at each of the sizes 1, 2, 3, …"""
    points = [Point(n, n, 10, right, 10, right, 0.1, 0.0, 0.0) for n, right in enumerate(rights, start=1)]
    return Curve(task, position, train_size, seed, tuple(points))


GOOD, FAIR, BAD = curve(0, [10, 10, 10, 6]), curve(1, [10, 10, 4, 0]), curve(5, [10, 6, 0, 0])


def test_seeds_that_learned_are_kept() -> None:
    spread = over_seeds([GOOD, FAIR, BAD])
    assert spread.kept == (GOOD, FAIR) and spread.discarded == (BAD,)
    assert spread.plain()["rule"] == str(Keep()) and "95%" in str(Keep())
    assert spread.plain()["learned"] is True and over_seeds([BAD]).plain()["learned"] is False
    kept = over_seeds([GOOD, FAIR])
    assert all(claim.key.endswith(".kept") for claim in kept.claims()), "kept and all are the same"


def test_kept_and_discarded_by_the_exact_match_in_range() -> None:
    """In range the seeds have 20, 20 and 16 of 20 right; 57 of 60 with 19 of 20 at each size is learned."""
    spread = over_seeds([BAD, GOOD, FAIR], Keep(0.85))
    assert spread.kept == (GOOD, FAIR) and spread.discarded == (BAD,)
    assert over_seeds([BAD, GOOD, FAIR], Keep(0.8)).discarded == (BAD,), "what did not learn is not kept"
    points = [Point(n, n, 20, 19, 20, 19, 0.1, 0.0, 0.0) for n in (1, 2, 3)]
    near = Curve("t", "none", 3, 0, tuple(points))
    assert over_seeds([near], Keep(0.95)).kept == (near,), "at least means at least"
    assert over_seeds([near], Keep(0.96)).discarded == (near,)
    assert str(spread.rule).startswith(str(Keep())) and "85%" in str(spread.rule) and "99.95%" in str(Keep(0.9995))


def test_mean_and_spread_by_hand() -> None:
    rows = over_seeds([GOOD, FAIR, BAD], Keep(0.85)).rows()
    assert [row["size"] for row in rows] == [1, 2, 3, 4]
    third = rows[2]  # 1.0 and 0.4
    assert third["mean"] == pytest.approx(0.7) and third["sd"] == pytest.approx(0.3 * math.sqrt(2))
    assert (third["low"], third["high"], third["seeds_n"]) == (0.4, 1.0, 2)


def test_claims_report_every_seed() -> None:
    found = over_seeds([GOOD, FAIR, BAD], Keep(0.85)).claims()
    claims = {(claim.key, claim.evidence.get("first")): claim for claim in found}
    kept, every = claims["spread.reach.kept", None], claims["spread.reach.all", None]
    assert kept.value == pytest.approx((3 + 2) / 2) and every.value == pytest.approx((3 + 2 + 1) / 3)
    for claim in claims.values():
        assert claim.evidence["kept"] == [0, 1] and claim.evidence["discarded"] == [5]
        assert claim.evidence["rule"] == str(Keep(0.85))
    assert kept.evidence["seeds"] == [0, 1] and every.evidence["seeds"] == [0, 1, 5]
    far = claims["spread.exact.all", 3]
    assert far.value == pytest.approx((0.8 + 0.2 + 0.0) / 3)
    assert far.evidence["sd"] == pytest.approx(math.sqrt(((0.8 - 1 / 3) ** 2 + (0.2 - 1 / 3) ** 2 + (1 / 3) ** 2) / 2))


def test_when_none_is_kept_all_are_still_reported() -> None:
    spread = over_seeds([FAIR, BAD], Keep(1.0))
    assert spread.kept == (FAIR,)
    spread = over_seeds([BAD], Keep(1.0))
    assert spread.kept == () and spread.discarded == (BAD,)
    assert next(claim.key for claim in spread.claims()) == "spread.reach.all"
    assert spread.plain()["by_size"] == []


def test_one_seed_has_no_spread_and_json_no_nan() -> None:
    for spread in (over_seeds([GOOD]), over_seeds([GOOD, FAIR, BAD], Keep(0.85))):
        stored = json.loads(json.dumps(spread.plain(), allow_nan=False))
        seeds = [c["seed"] for c in (*stored["kept"], *stored["discarded"])]
        assert seeds == [0] or seeds == [0, 1, 5]
    assert "sd" not in over_seeds([GOOD]).rows()[0]


@pytest.mark.parametrize(
    "other",
    [
        curve(1, [10, 10, 4]),
        curve(1, [10, 10, 4, 0], position="rope"),
        curve(1, [10, 10, 4, 0], train_size=3),
        curve(1, [10, 10, 4, 0], task="another"),
    ],
)
def test_curves_of_different_configurations_are_not_mixed(other: Curve) -> None:
    with pytest.raises(UsageError, match="seeds are compared at the same task, encoding, training size and test sizes"):
        over_seeds([GOOD, other])


def test_no_curves_and_no_seed_twice() -> None:
    with pytest.raises(UsageError):
        over_seeds([])
    with pytest.raises(UsageError, match="every curve needs a seed of its own"):
        over_seeds([GOOD, GOOD])


def test_a_rule_that_cannot_be_applied() -> None:
    with pytest.raises(UsageError, match=r"seeds are kept by a share of items in \[0, 1\], not 95"):
        Keep(95)
    beyond = Curve("t", "none", 2, 0, GOOD.points[2:])
    assert over_seeds([beyond]).kept == (beyond,)
    with pytest.raises(UsageError, match="no size up to the training size 2 was measured"):
        over_seeds([beyond], Keep(0.5))


def test_the_notebook_sees_a_figure_of_every_seed() -> None:
    picture = over_seeds([GOOD, FAIR, BAD], Keep(0.85))._repr_html_()
    assert "<svg" in picture
    assert all(f"seed {seed}" in picture for seed in (0, 1, 5))
