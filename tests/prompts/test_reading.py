"""What the two readers take for an answer, reply by reply."""

from __future__ import annotations

import time

import pytest

from lengthwise.prompts.parsing import is_right, lenient_symbols, strict_symbols
from lengthwise.tasks import make_task

SORTED, ODD, LETTERS = ("2", "4", "7", "9"), ("o",), ("a", "b", "b", "a")

LENIENT = [
    # lists in all their clothes
    ("sort", "2, 4, 7, 9", SORTED),
    ("sort", "[2, 4, 7, 9]", SORTED),
    ("sort", "(2, 4, 7, 9).", SORTED),
    ("sort", '["2", "4", "7", "9"]', SORTED),
    ("sort", "**2 4 7 9**", SORTED),
    ("sort", "`2 4 7 9`", SORTED),
    ("sort", "2; 4; 7; and 9", SORTED),
    ("sort", "2\n4\n7\n9\n", SORTED),
    ("sort", "- 2\n- 4\n- 7\n- 9", SORTED),
    ("sort", "1. 2\n2. 4\n3. 7\n4. 9", SORTED),
    ("sort", "２ ４ ７ ９", SORTED),
    ("sort", "“2 4 7 9”", SORTED),
    ("sort", "The sorted numbers are 2, 4, 7 and 9.", SORTED),
    ("sort", "Here you are:\n\n2 4 7 9\n\nLet me know if you need more!", SORTED),
    ("sort", "$\\boxed{2, 4, 7, 9}$", SORTED),
    ("sort", "First 2, then 4.\nThe result is\n2 4 7 9", SORTED),
    ("sort", "Answer: 2 4 7 9. I compared all of them.", SORTED),
    ("sort", "The answer is 7 2 9 4. Wait, no. The answer is 2 4 7 9.", SORTED),
    ("sort", "2 4 7 9\n2 4 7 9\n2 4 7 9 because I say so", SORTED),
    # one word
    ("parity", "odd", ODD),
    ("parity", "Odd.", ODD),
    ("parity", "**ODD**", ODD),
    ("parity", "The number of ones is odd.", ODD),
    ("parity", "There are 3 ones in 1 0 1 1, which makes it odd.", ODD),
    ("parity", "The answer is odd, because there are 3 ones.", ODD),
    ("parity", "<think>even? 1, 2, 3</think>odd", ODD),
    ("parity", "Is it even or so?</think>\n\nodd", ODD),
    ("parity", "Antwort: odd", ODD),
    # characters without spaces, numbers in one piece
    ("copy_repeat", "abba", LETTERS),
    ("copy_repeat", "a,b,b,a", LETTERS),
    ("count", "12", ("1", "2")),
    ("count", "The letter a occurs 12 times.", ("1", "2")),
    ("addition", "110 + 11 = 1001", ("1", "0", "0", "1")),
    ("brackets", ")]", (")", "]")),
    ("brackets", "`) ]`", (")", "]")),
    ("aa_star", "{a, $} {a}, { a , $ }", ("{a,$}", "{a}", "{a,$}")),
    ("stack_manipulation", "Nothing.", ()),
    ("stack_manipulation", "The stack is empty.", ()),
    # retrieval
    ("needle", "The code of amber is 8919.", ("8919",)),
    ("needle", "8919", ("8919",)),
    ("needle", "The text mentions many things. The answer is **8919**.", ("8919",)),
    ("associative_recall", "k3 = v1", ("v1",)),
    ("variable_tracking", "Amber, Birch and Cedar", ("amber", "birch", "cedar")),
    ("variable_tracking", "The boxes are amber, birch, cedar.", ("amber", "birch", "cedar")),
    # numbers
    ("simple_task", "≈ 0.479", ("0.479000",)),
    ("kgram_law", "1/3, 0, 2/3", ("0.333333", "0.000000", "0.666667")),
    ("simple_task", "−0.25.", ("-0.250000",)),
    # wrong, but clearly meant
    ("sort", "7 2 9 4", ("7", "2", "9", "4")),
    ("parity", "even", ("e",)),
    ("parity", "even, odd", ("e", "o")),
    ("solve_equation", "- x = 4", ("-", "x", "=", "4")),
    ("associative_recall", "k3 v1 k7 v0 and k4", ("k3", "v1", "k7", "v0", "k4")),
]

NOT_FOUND = [
    ("sort", ""),
    ("sort", " \n\t "),
    ("sort", "I cannot help with that."),
    ("sort", "2, 4, 7, …"),
    ("sort", "2, 4, 7, ..."),
    ("sort", "[2, 4, 7"),
    ("sort", "2 4 7 and so on"),
    ("sort", "2 4 7 9 or 2 4 9 7"),
    ("sort", "2.4 7.9"),
    ("sort", "7 2 9 4 becomes 2 4 7 9"),
    ("sort", "7 2 9 4\n2 4 7 9"),
    ("sort", "2 4 7 90000"),
    ("sort", "deux quatre sept neuf"),
    ("sort", "Question: 7 2 9 4\nAnswer: 2 4 7 9"),
    ("sort", "<think>2 4 7 9"),
    ("sort", "The answer is"),
    ("sort", "The answer is below.\n\n2 4 7 9"),
    ("sort", "\\boxed{}"),
    ("sort", "247"),
    ("parity", "even or odd"),
    ("parity", "It is not even."),
    ("parity", "It isn't odd."),
    ("parity", "Whether even\nor odd"),
    ("parity", "Say whether the number of ones is even or odd."),
    ("parity", "The oddity of it"),
    ("solve_equation", "You ask: - x = 4"),
    ("count", "1, 2"),
    ("count", "1 2"),
    ("count", "Of the 14 letters, a makes up 12."),
    ("count", "twelve"),
    ("count", "12.5"),
    ("associative_recall", "k3 = v1, k7 = v0"),
    ("needle", "The clerk gave amber the code 8919."),
    ("needle", "A cat slept. The clerk gave amber the code 8919."),
    ("needle", "The clerk gave amber the code 8919.\nWhat is the code of amber?"),
    ("needle", "The code of amber is 8919. The code of birch is 1000."),
    ("needle", "8919 1000 is what I found"),
    ("needle", "891"),
    ("needle", "89190"),
    ("majority", "It is a tie."),
    ("majority", "There is a winner"),
    ("simple_task", "sin(0.5)"),
    ("simple_task", "1/0"),
    ("simple_task", "0.5 radians"),
    ("simple_task", "0.4.7"),
    ("kgram_law", "nan, inf, 0"),
    ("brackets", "(incomplete"),
    ("aa_star", "{a,$} {a} {a"),
]


@pytest.mark.parametrize(("name", "text", "wanted"), LENIENT)
def test_a_patient_reader_finds(name: str, text: str, wanted: tuple[str, ...]) -> None:
    assert lenient_symbols(make_task(name), text) == wanted


@pytest.mark.parametrize(("name", "text"), NOT_FOUND)
def test_even_a_patient_reader_does_not_guess(name: str, text: str) -> None:
    task = make_task(name)
    assert lenient_symbols(task, text) is None and strict_symbols(task, text) is None


@pytest.mark.parametrize(
    ("name", "text", "wanted"),
    [
        ("sort", "2 4 7 9", SORTED),
        ("sort", "\n 2 4 7 9 \n", SORTED),
        ("sort", "2  4 7 9", None),
        ("sort", "2, 4, 7, 9", None),
        ("sort", "2\n4", None),
        ("sort", "2 4 7 9.", None),
        ("parity", "odd", ODD),
        ("parity", "Odd", None),
        ("parity", "o", None),
        ("count", "12", ("1", "2")),
        ("count", "1 2", None),
        ("count", "１２", None),
        ("stack_manipulation", "nothing", ()),
        ("stack_manipulation", "", None),
        ("simple_task", "0.479", ("0.479",)),
        ("simple_task", ".479", None),
        ("simple_task", "4.79e-1", None),
    ],
)
def test_a_strict_reader(name: str, text: str, wanted: tuple[str, ...] | None) -> None:
    assert strict_symbols(make_task(name), text) == wanted


def test_numbers_are_right_within_the_tolerance() -> None:
    task = make_task("simple_task")
    assert is_right(task, ("0.57",), ("0.479426",)) and not is_right(task, ("0.58",), ("0.479426",))
    assert not is_right(task, ("0.48", "0.48"), ("0.479426",)) and not is_right(task, None, ("0.479426",))


@pytest.mark.parametrize("text", ["1 " * 200_000, "x" * 500_000, "<think>" * 50_000, "a is " * 100_000, "{" * 200_000])
def test_long_replies_are_read_quickly(text: str) -> None:
    begun = time.perf_counter()
    for name in ("sort", "aa_star", "needle", "parity", "kgram_law"):
        lenient_symbols(make_task(name), text)
    assert time.perf_counter() - begun < 5


def test_control_characters_never_come_through() -> None:
    for name in ("sort", "simple_task", "parity"):
        found = lenient_symbols(make_task(name), "Answer: \x1b[31m2\x1b[0m")
        assert found is None or all(symbol.isprintable() for symbol in found)
