"""Period, locality, depth, size and what a program needs."""

import pytest

from lengthwise.oracle.programs.syntax import LookBack, depth, locality, needs, period, size
from lengthwise.oracle.programs.text import parse_program

NESTED = """
before := count("a", back 1) == 1
two := count(before, back 0..2) >= 1
far := count(two and position % 4 == 1) > 2
next["a"] := far and position % 6 == 0
"""


def test_a_program_that_uses_everything():
    program = parse_program(NESTED)
    assert period(program) == 12
    assert locality(program) == LookBack(each=(1, 2), total=3)
    assert depth(program) == 3
    assert needs(program) == "absolute"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ('n := count("a")', "none"),
        ('n := count("a", back 0)', "none"),
        ("n := position % 1 == 0", "none"),
        ('n := count("a", back 1)', "absolute"),
        ("n := position % 2 == 0", "absolute"),
    ],
)
def test_what_is_needed(text, wanted):
    assert needs(parse_program(text)) == wanted


def test_what_has_a_name_is_counted_once():
    assert size(parse_program('n := count("a")\nm := n + n')) == size(parse_program('n := count("a")')) + 1


def test_depth_follows_names():
    text = "\n".join(["d0 := true", *(f"d{k} := count(d{k - 1}) > 1" for k in range(1, 8))])
    assert depth(parse_program(text)) == 7
