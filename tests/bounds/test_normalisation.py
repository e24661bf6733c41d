"""Norms: the bound holds between any two tokens of a shell, and is attained; parts put together."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lengthwise.bounds.lipschitz import PartBound, Region, chained, norm_bound, residual
from lengthwise.bounds.lipschitz.layers import normalised_reach
from lengthwise.errors import UsageError


def normalised(x, kind, eps):
    x = x - x.mean() if kind == "layer" else x
    return x / math.sqrt(np.mean(x**2) + eps)


def least(x, kind):
    return float(np.std(x)) if kind == "layer" else math.sqrt(np.mean(x**2))


vectors = st.lists(st.floats(-10, 10), min_size=3, max_size=3).map(np.array)


@given(vectors, vectors, st.sampled_from(["layer", "rms"]), st.sampled_from([0.0, 1e-5, 0.1]))
@settings(max_examples=200, deadline=None)
def test_any_two_tokens_of_a_shell(x, y, kind, eps):
    """Also when the straight line between them leaves the shell: x and -x are among those tried."""
    for other in (y, -x):
        floor = min(least(x, kind), least(other, kind))
        if floor < 1e-3 or np.linalg.norm(x - other) < 1e-6:
            continue
        region = Region(100.0, spread=floor if kind == "layer" else 0, size=floor if kind == "rms" else 0)
        bound = norm_bound(kind, 3, eps, region).constant
        apart = np.linalg.norm(normalised(x, kind, eps) - normalised(other, kind, eps))
        assert apart <= bound * np.linalg.norm(x - other) * (1 + 1e-7)


@pytest.mark.parametrize("kind", ["layer", "rms"])
@pytest.mark.parametrize("eps", [0.0, 1e-5, 0.5])
def test_bound_is_attained_across_the_token(kind, eps):
    x, step = np.array([1.0, -1.0, 0.0]) * 0.7, 1e-6 * np.array([1.0, 1.0, -2.0])
    floor = least(x, kind)
    region = Region(10.0, spread=floor, size=floor)
    stretched = np.linalg.norm(normalised(x + step, kind, eps) - normalised(x - step, kind, eps))
    share = stretched / (2 * np.linalg.norm(step)) / norm_bound(kind, 3, eps, region).constant
    assert 0.999 < share <= 1 + 1e-6


def test_global_bound_and_no_bound():
    assert norm_bound("layer", 4, 1e-5, Region(1.0)).constant == pytest.approx(1 / math.sqrt(1e-5))
    none = norm_bound("rms", 4, 0.0, Region(1.0))
    assert none.constant == math.inf and none.claim().status == "vacuous" and none.claim().value is None
    weighted = norm_bound("rms", 4, 0.0, Region(9.0, size=2.0), weight=[1.0, -3.0, 0.0, 1.0], bias=[4.0, 0, 0, 3.0])
    assert weighted.constant == pytest.approx(1.5) and weighted.reach == pytest.approx(3 * 2 + 5)


def test_reach():
    rng = np.random.default_rng(0)
    for _ in range(200):
        x = rng.normal(size=5) * 10 ** rng.uniform(-4, 1)
        region = Region(float(np.linalg.norm(x)))
        assert np.linalg.norm(normalised(x, "rms", 1e-5)) <= normalised_reach(5, 1e-5, region)
        assert np.linalg.norm(normalised(x, "layer", 1e-5)) <= normalised_reach(5, 1e-5, region)
    assert normalised_reach(5, 1e-5, Region(0.0)) == 0
    assert normalised_reach(4, 1e-5, Region(math.inf)) == pytest.approx(2.0)


def test_sums_move_regions():
    region = Region(3.0, spread=1.0, size=1.5, center=np.array([0.0, 0.0, 0.0, 2.0])).plus(1.0, 4)
    assert (region.radius, region.spread, region.size) == pytest.approx((4.0, 0.5, 1.0))
    assert region.radius >= 4 and region.spread <= 0.5 and region.size <= 1 and 6 <= region.reach < 6.0001
    assert Region(1.0, spread=0.1).plus(1.0, 4).spread == 0.0


def part(name, constant, norm="token"):
    return PartBound(name, constant, norm, Region(1.0), 2.0, "statement 1")


def test_parts_together():
    whole = chained([part("a", 2.0), residual(part("b", 3.0), Region(1.0), "b with residual")], "both")
    assert whole.constant == pytest.approx(8.0) and whole.constant >= 8.0
    assert whole.evidence["parts"] == {"a": 2.0, "b with residual": pytest.approx(4.0)}
    assert residual(part("b", 3.0), Region(1.0), "b").reach == pytest.approx(3.0)
    assert chained([part("a", 0.0), part("b", math.inf)], "both").constant == math.inf
    claim = whole.claim()
    assert claim.kind == "certified" and claim.status == "holds" and "tokens within 1" in claim.evidence["where"]
    with pytest.raises(UsageError, match="at least one part"):
        chained([], "none")
    with pytest.raises(UsageError, match="in one norm"):
        chained([part("a", 1.0), part("b", 1.0, "frobenius")], "both")


def test_bad_norms():
    for kind, width, eps in (("batch", 3, 0.1), ("layer", 0, 0.1), ("layer", 3, -1.0)):
        with pytest.raises(UsageError, match="a norm"):
            norm_bound(kind, width, eps, Region(1.0))
