"""The text form: reading and writing are inverse, and what is wrong is said with its place."""

import pytest
from hypothesis import given, settings

from lengthwise.errors import UsageError
from lengthwise.oracle.programs.syntax import And, Compare, Constant, Count, Letter, Line, Not, Or, Program, Sum
from lengthwise.oracle.programs.text import load_program, parse_program, print_program
from oracle_programs import programs


@settings(max_examples=80, deadline=None)
@given(programs())
def test_reading_what_was_written_gives_the_program_back(program):
    assert parse_program(print_program(program)) == program


def test_what_binds_tighter():
    text = 'x := not "a" and "b" or count("a") + 2 * count("b") < 3'
    a, b = Letter("a"), Letter("b")
    expression = parse_program(text).lines[0].expression
    assert isinstance(expression, Or)
    assert expression.parts[0] == And((Not(a), b))
    assert isinstance(expression.parts[1], Compare) and isinstance(expression.parts[1].left, Sum)
    assert print_program(parse_program(text)).strip() == text


def test_lines_go_on_in_parentheses_and_comments_are_skipped():
    program = parse_program('# a program\nn := count(\n  "a"  # the letter\n  or "b")\n\nnext["a"] := n > 1; m := 3')
    assert program.lines[0] == Line("n", Count(Or((Letter("a"), Letter("b")))))
    assert program.outputs == ("a",)
    assert program.lines[2] == Line("m", Constant(3))


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("a := b", "line 1, column 6", "not defined above"),
        ('n := 1\na := count("x"', "line 2, column 15", "is due"),
        ('a := count("x"\nb := 1', "line 1, column 15", "is due"),
        ('a := "x', "line 1, column 6", "closing quote"),
        ('a := 3 and "x"', "line 1, column 6", "a Boolean is due"),
        ('a := 1 + "x"', "line 1, column 10", "a number is due"),
        ("a := 1\na := 2", "line 2, column 1", "twice"),
        ('next["a"] := true\nnext["a"] := true', "line 2, column 1", "twice"),
        ("count := 1", "line 1, column 1", "a name of your own"),
        ("a := position % 3 == 3", "line 1, column 6", "never 3"),
        ("next[a] := true", "line 1, column 6", "in quotes"),
        ('next["a"] := 3', "line 1, column 14", "a Boolean is due"),
        ('a := count("a", back 3..1)', "line 1, column 22", "increase"),
        ('a := count("a", 3)', "line 1, column 17", "'back' is due"),
        ("a := 1 1", "line 1, column 8", "should end"),
        ("a := @", "line 1, column 6", "means nothing"),
        (r"""a := "\q" """, "line 1, column 6", "not a symbol in quotes"),
        ("a := 1 < 2 < 3", "line 1, column 12", "do not chain"),
        ('a := count("a") * 2', "line 1, column 6", "number first"),
        ("a :=", "line 1, column 5", "is due"),
        ("", "line 1, column 1", "no line"),
        ("a := " + "(" * 5000 + "1" + ")" * 5000, "", "too deep"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(text, place, words):
    with pytest.raises(UsageError) as found:
        parse_program(text)
    assert place in str(found.value) and words in str(found.value)


def test_trees_that_make_no_sense_are_refused():
    for lines in (
        (Line("a", Not(Constant(1))),),
        (Line("a", And((Letter("a"),))),),
        (Line("a", Constant(1)), Line("a", Constant(2))),
        (Line("a", Constant(1), output=True),),
        (Line("a", Sum(Letter("a"), Constant(1))),),
    ):
        with pytest.raises(UsageError):
            Program(lines)
    with pytest.raises(UsageError, match="steps back"):
        Count(Letter("a"), (2, 1))


def test_a_file_is_read_and_its_errors_name_it(tmp_path):
    path = tmp_path / "mine.crasp"
    path.write_text('n := count("a")\n', encoding="utf-8")
    assert load_program(path) == parse_program('n := count("a")')
    path.write_text("n :=\n", encoding="utf-8")
    with pytest.raises(UsageError, match=r"mine\.crasp, line 1, column 5"):
        load_program(path)
    with pytest.raises(UsageError, match="cannot be read"):
        load_program(tmp_path / "absent.crasp")
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UsageError, match="not UTF-8"):
        load_program(path)
