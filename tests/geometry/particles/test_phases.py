"""The phase diagram: rows, shares, and the line of gamma."""

import math

import numpy as np
import pytest

from lengthwise.errors import UsageError
from lengthwise.geometry.particles.equal_angles import gamma
from lengthwise.geometry.particles.integrate import simulate
from lengthwise.geometry.particles.phases import (
    PhaseSettings,
    _shares,
    in_span,
    phase_rows,
    transition_rows,
    transition_time,
)
from lengthwise.geometry.particles.starts import uniform
from lengthwise.geometry.particles.system import System


def test_rows():
    rows = phase_rows((2, 16), (0.0, 6.0), (0.0, 8.0), PhaseSettings(n=6, starts=3))
    assert [(row["d"], row["time"], row["beta"]) for row in rows] == [
        (d, time, beta) for d in (2, 16) for time in (0.0, 8.0) for beta in (0.0, 6.0)
    ]
    last = {(row["d"], row["beta"]): row for row in rows if row["time"] == 8.0}
    assert last[16, 0.0]["share_one_cluster"] == 1 and last[16, 0.0]["clusters"] == pytest.approx(1, abs=1e-3)
    assert last[16, 6.0]["share_pairs"] < 0.5
    alone = phase_rows((16,), (6.0,), (0.0, 8.0), PhaseSettings(n=6, starts=3))
    assert alone[-1]["clusters"] == pytest.approx(last[16, 6.0]["clusters"], abs=1e-3)


def test_tokens_in_their_span_have_the_same_inner_products_and_the_same_future():
    start = uniform(5, 40, 0, (2,))
    small = in_span(start)
    assert small.shape == (2, 5, 5) and in_span(small) is small
    np.testing.assert_allclose(small @ small.mT, start @ start.mT, atol=1e-14)
    assert (small.diagonal(dim1=-2, dim2=-1) > 0).all(), "the coordinates are unique, whatever signs LAPACK takes"
    ends = [simulate(System("SA", 3.0), points, [0.0, 2.0]).final for points in (start, small)]
    np.testing.assert_allclose(*(end @ end.swapaxes(-1, -2) for end in ends), atol=1e-6)


def test_shares_of_two_clusters():
    points = np.stack([np.repeat(np.eye(2), 3, axis=0), np.repeat(np.eye(2)[:1], 6, axis=0)])
    pairs, one, clusters = _shares(points, 1e-3, 20.0)
    assert pairs.tolist() == [12 / 30, 1.0]
    assert one.tolist() == [0.0, 1.0]
    assert clusters == pytest.approx([2, 1], abs=1e-6)


@pytest.mark.parametrize(("kind", "beta"), [("SA", 0.0), ("SA", 4.0), ("USA", 2.0)])
def test_the_line_is_where_gamma_reaches_it(kind, beta):
    time = transition_time(kind, 32, beta, 1e-3)
    assert gamma(kind, 32, beta, [time])[0] == pytest.approx(0.999, abs=1e-9)


def test_two_tokens_reach_the_line_when_tanh_does():
    assert transition_time("SA", 2, 0.0, 1e-3) == pytest.approx(math.atanh(0.999), rel=1e-9)
    assert [row["beta"] for row in transition_rows((0.0, 1.0))] == [0.0, 1.0]


@pytest.mark.slow
def test_the_transition_nears_the_line_as_d_grows():
    """At beta 4 half of the pairs are close at a time that nears that of gamma as d grows."""
    line, off = transition_time("SA", 32, 4.0), []
    times = np.linspace(0, 30, 121).tolist()
    for d in (8, 32, 128, 512):
        rows = phase_rows((d,), (4.0,), times, PhaseSettings(starts=8))
        off.append(abs(next(row["time"] for row in rows if row["share_pairs"] >= 0.5) - line))
    assert off[-1] < 0.5
    assert off[-1] < off[0]


def test_usage_errors():
    for arguments in [((1,), (0.0,), (0.0, 1.0)), ((2,), (-1.0,), (0.0, 1.0)), ((2,), (1.0,), (1.0, 2.0))]:
        with pytest.raises(UsageError):
            phase_rows(*arguments)
    for wrong in ({"n": 1}, {"starts": 0}, {"delta": 0.0}, {"delta": 1.0}):
        with pytest.raises(UsageError, match="a phase diagram needs"):
            PhaseSettings(**wrong)
    with pytest.raises(UsageError):
        transition_rows(n=1)
