"""The interpreter against the definition, position by position."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lengthwise.errors import UsageError
from lengthwise.oracle.programs.interpreter import Meaning, run_tokens
from lengthwise.oracle.programs.syntax import (
    And,
    Compare,
    Conditional,
    Constant,
    Count,
    Difference,
    Letter,
    Multiple,
    Name,
    Not,
    Or,
    Phase,
    Sum,
    Truth,
)
from lengthwise.oracle.programs.text import parse_program
from oracle_programs import LETTERS, programs


def run(program, text, first_position=0) -> Meaning:
    """A program on one text, `<bos>` included; the arrays are [1, positions]."""
    vocabulary = tuple(dict.fromkeys(text))
    tokens = np.array([[vocabulary.index(symbol) for symbol in text]], dtype=np.int64)
    return run_tokens(program, tokens, vocabulary, first_position)


def value(expression, text, i, lines):
    """The value at position i, straight from the definition: no arrays, no memory."""

    def at(part, place=i):
        return value(part, text, place, lines)

    match expression:
        case Letter(symbol):
            return text[i] == symbol
        case Truth(truth):
            return truth
        case Phase(modulus, residue):
            return i % modulus == residue
        case Not(part):
            return not at(part)
        case And(parts):
            return all(at(part) for part in parts)
        case Or(parts):
            return any(at(part) for part in parts)
        case Compare("<=", left, right):
            return at(left) <= at(right)
        case Compare("<", left, right):
            return at(left) < at(right)
        case Compare("==", left, right):
            return at(left) == at(right)
        case Compare("!=", left, right):
            return at(left) != at(right)
        case Compare(">=", left, right):
            return at(left) >= at(right)
        case Compare(">", left, right):
            return at(left) > at(right)
        case Constant(number):
            return number
        case Count(what, None):
            return sum(1 for j in range(i + 1) if at(what, j))
        case Count(what, back):
            return sum(1 for j in range(i + 1) if i - j in back and at(what, j))
        case Sum(left, right):
            return at(left) + at(right)
        case Difference(left, right):
            return at(left) - at(right)
        case Multiple(factor, term):
            return factor * at(term)
        case Conditional(condition, yes, no):
            return at(yes) if at(condition) else at(no)
        case Name(name):
            return at(lines[name])
    raise AssertionError(expression)


@settings(max_examples=60, deadline=None)
@given(programs(), st.lists(st.sampled_from(LETTERS), min_size=1, max_size=7))
def test_every_definition_means_what_the_definition_says(program, text):
    lines = {line.name: line.expression for line in program.lines if not line.output}
    meaning = run(program, text)
    for line in program.lines:
        found = (meaning.following if line.output else meaning.named)[line.name][0]
        wanted = [value(line.expression, text, i, lines) for i in range(len(text))]
        assert found.tolist() == wanted, line


@settings(max_examples=15, deadline=None)
@given(programs(), st.lists(st.sampled_from(LETTERS), min_size=2, max_size=8), st.data())
def test_nothing_looks_to_the_right(program, text, data):
    cut = data.draw(st.integers(1, len(text)))
    whole, part = run(program, text), run(program, text[:cut])
    for name, values in part.named.items():
        assert np.array_equal(whole.named[name][:, :cut], values)


def test_many_texts_at_once_are_each_read_alone_and_fillers_are_not_seen():
    program = parse_program('n := count("a")\nother := count(not "a")\nlast := count("b", back 0..1)')
    tokens = np.array([[0, 1, 0], [1, 1, -1]])
    meaning = run_tokens(program, tokens, ("a", "b"))
    assert meaning.named["n"].tolist() == [[1, 1, 2], [0, 0, 0]]
    assert meaning.named["last"].tolist() == [[0, 1, 1], [1, 2, 1]]
    assert meaning.named["other"].tolist()[1][:2] == [1, 2]


def test_a_moved_text_moves_the_phase_and_nothing_else():
    program = parse_program('even := position % 2 == 0\nn := count("a")')
    here, moved = run(program, ["a", "b", "a"]), run(program, ["a", "b", "a"], first_position=1)
    assert here.named["even"].tolist() == [[True, False, True]]
    assert moved.named["even"].tolist() == [[False, True, False]]
    assert here.named["n"].tolist() == moved.named["n"].tolist() == [[1, 1, 2]]


def test_tokens_of_the_wrong_shape_are_refused():
    with pytest.raises(UsageError, match="positions"):
        run_tokens(parse_program("n := 1"), np.array([0, 1]), ("a", "b"))
