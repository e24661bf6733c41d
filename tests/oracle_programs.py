"""Random C-RASP programs, for tests of several parts."""

from __future__ import annotations

import functools

from hypothesis import strategies as st

from lengthwise.oracle.programs.syntax import (
    And,
    Compare,
    Conditional,
    Constant,
    Count,
    Difference,
    Letter,
    Line,
    Multiple,
    Name,
    Not,
    Or,
    Phase,
    Program,
    Sum,
    Truth,
)

LETTERS = ("a", "b", "<sep>", 'qu"ote\\')


def _phase(modulus):
    return st.builds(Phase, st.just(modulus), st.integers(0, modulus - 1))


@functools.cache
def expressions(named):
    """(Booleans, numbers) over names ((name, is Boolean), ...)."""
    names = dict(named)
    booleans = st.one_of(
        st.builds(Letter, st.sampled_from(LETTERS)),
        st.builds(Truth, st.booleans()),
        st.integers(1, 4).flatmap(_phase),
        *([st.sampled_from([Name(n) for n, kind in names.items() if kind])] if any(names.values()) else []),
    )
    numbers = st.one_of(
        st.builds(Constant, st.integers(-3, 3)),
        *([st.sampled_from([Name(n) for n, kind in names.items() if not kind])] if not all(names.values()) else []),
    )
    back = st.none() | st.sets(st.integers(0, 4), min_size=1, max_size=3).map(lambda steps: tuple(sorted(steps)))
    relation = st.sampled_from(["<=", "<", "==", "!=", ">=", ">"])
    for _ in range(2):
        parts = st.lists(booleans, min_size=2, max_size=3).map(tuple)
        booleans, numbers = (
            st.one_of(
                booleans,
                st.builds(Not, booleans),
                st.builds(And, parts),
                st.builds(Or, parts),
                st.builds(Compare, relation, numbers, numbers),
            ),
            st.one_of(
                numbers,
                st.builds(Count, booleans, back),
                st.builds(Sum, numbers, numbers),
                st.builds(Difference, numbers, numbers),
                st.builds(Multiple, st.integers(-3, 3), numbers),
                st.builds(Conditional, booleans, numbers, numbers),
            ),
        )
    return booleans, numbers


@st.composite
def programs(draw):
    """A program of up to four definitions and up to two outputs."""
    names, lines = {}, []
    for number in range(draw(st.integers(1, 4))):
        boolean = draw(st.booleans())
        lines.append(Line(f"d{number}", draw(expressions(tuple(names.items()))[0 if boolean else 1])))
        names[f"d{number}"] = boolean
    for symbol in draw(st.lists(st.sampled_from(LETTERS), unique=True, max_size=2)):
        lines.append(Line(symbol, draw(expressions(tuple(names.items()))[0]), output=True))
    return Program(tuple(lines))
