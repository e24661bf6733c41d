"""Scalings of RoPE as they are written on the command line."""

from __future__ import annotations

import pytest

from lengthwise.errors import UsageError
from lengthwise.positions import make_position, positions
from lengthwise.positions.encodings import Rope
from lengthwise.positions.scaling import KINDS, make_scaling


@pytest.mark.parametrize("kind", KINDS)
def test_a_scaling_is_written_as_it_is_read(kind):
    spec = kind if kind in ("own", "none") else f"{kind}:factor=4"
    assert str(make_scaling(spec)) == spec


@pytest.mark.parametrize(
    ("own", "scaling", "read"),
    [
        ("rope", "linear:factor=4", "rope:scaling=interpolation,factor=4"),
        ("rope:base=500", "yarn:factor=4,original=64", "rope:base=500,scaling=yarn,factor=4,original=64"),
        ("rope+offset", "dynamic", "rope:scaling=dynamic+offset"),
        ("rope:scaling=ntk,factor=2", "none", "rope"),
        ("rope:scaling=ntk,factor=2", "own", "rope:scaling=ntk,factor=2"),
    ],
)
def test_an_encoding_of_ours_is_read_with_it(own, scaling, read):
    found = make_scaling(scaling).position(make_position(own))
    assert found == make_position(read) and make_position(positions.text_of(found)) == found


def test_none_is_plain_whatever_the_context():
    assert make_scaling("none:factor=8").rope(500.0) == Rope(500.0)


@pytest.mark.parametrize(
    "wrong",
    ["yran:factor=4", "yarn", "yarn:factor=1", "linear:factor=0.5", "own:factor=2", "yarn:factr=4", "ntk:low=9"],
)
def test_what_is_refused(wrong):
    with pytest.raises(UsageError):
        make_scaling(wrong)


@pytest.mark.parametrize("own", ["none", "alibi", "learned+offset"])
def test_an_encoding_without_rope_has_nothing_to_scale(own):
    with pytest.raises(UsageError, match="nothing to scale"):
        make_scaling("yarn:factor=4").position(make_position(own))
