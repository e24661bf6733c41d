"""Expressions against Python's own matcher on every short word, and the messages for wrong ones."""

from __future__ import annotations

import itertools
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lengthwise.errors import UsageError
from lengthwise.limits import shown_text
from lengthwise.tasks.languages.regex import automaton

WORDS = ["".join(word) for n in range(7) for word in itertools.product("ab", repeat=n)]


def grown(part: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.lists(part, min_size=2, max_size=3).map("".join),
        st.lists(part, min_size=2, max_size=3).map(lambda parts: f"({'|'.join(parts)})"),
        st.tuples(part, st.sampled_from(["*", "+", "?", "{2}", "{0}", "{1,3}", "{0,2}", "{2,}", "{0,}"])).map(
            lambda pair: f"({pair[0]}){pair[1]}"
        ),
    )


EXPRESSIONS = st.recursive(st.sampled_from(["a", "b", "[ab]", "[a-b]", "()"]), grown, max_leaves=8)


@settings(max_examples=300, deadline=None)
@given(EXPRESSIONS)
def test_the_automaton_accepts_what_python_matches(expression: str) -> None:
    dfa = automaton(expression, "ab")
    pattern = re.compile(expression)
    wrong = [word for word in WORDS if dfa.accepts(word) != bool(pattern.fullmatch(word))]
    assert not wrong, f"{expression} differs on {wrong[:3]}"
    assert dfa == dfa.minimised()


@settings(max_examples=60, deadline=None)
@given(EXPRESSIONS)
def test_laws_of_expressions_hold_as_equal_automata(x: str) -> None:
    def of(expression: str):
        return automaton(expression, "ab")

    assert of(f"(({x})*)*") == of(f"({x})*") == of(f"()|({x})+") == of(f"({x})+?")
    assert of(f"({x}){{2,4}}") == of(f"({x})({x})(({x})(({x})?))?")
    assert of(f"({x})|[]") == of(x) == of(f"({x})()")
    assert of(f"({x})[]").is_empty()


@pytest.mark.parametrize(
    ("expression", "python"),
    [
        ("{a,b}*d{b,c}*", "[ab]*d[bc]*"),
        ("{0,1,2}*02*", "[012]*02*"),
        ("{ab, ba}*", "(ab|ba)*"),
        ("{0,1}*{0,1}", "[01]*[01]"),
        ("a{0,1}", "a?"),
        ("a{0,1,2}", "a[012]"),
        ("a{2, 3}b", "a{2,3}b"),
        ("a[01]", "a[01]"),
        ("(a){2}", "aa"),
        ("a b | c", "ab|c"),
        ("[a-c-]", "[abc-]"),
        ("[a c]", "[ac]"),
        ("a|ε", "a?"),
        ("a-b,c", "a-b,c"),
        (r"\*\ \\", r"\*\ \\"),
        (r"[\]a]", r"[\]a]"),
        (r"{a,\,}", "[a,]"),
        (r"a{2\}", None),
        ("a**", "a*"),
        ("a+?", "a*"),
    ],
)
def test_notation(expression: str, python: str | None) -> None:
    if python is None:
        with pytest.raises(UsageError, match="never closed"):
            automaton(expression)
        return
    dfa = automaton(expression)
    pattern = re.compile(python)
    for n in range(5):
        for word in itertools.product(dfa.alphabet, repeat=n):
            assert dfa.accepts(word) == bool(pattern.fullmatch("".join(word))), word


def test_the_alphabet_is_sorted_and_can_be_larger_than_the_expression() -> None:
    assert automaton("cba").alphabet == ("a", "b", "c")
    wider = automaton("1*", "01")
    assert wider.alphabet == ("0", "1") and wider.accepts("11") and not wider.accepts("10")


@pytest.mark.parametrize(
    ("expression", "column", "message"),
    [
        ("(ab", 1, "parenthesis is never closed"),
        ("a(b(c)", 2, "parenthesis is never closed"),
        ("ab)", 3, "parenthesis was never opened"),
        ("", 1, "a letter or a group is expected"),
        ("a|", 3, "a letter or a group is expected"),
        ("(|a)", 2, "a letter or a group is expected"),
        ("*a", 1, "nothing before \\* to repeat"),
        ("a|+", 3, "nothing before \\+ to repeat"),
        ("a{5,2}", 2, "at least 5 and at most 2 times is impossible"),
        ("a{9999999999}", 2, "repeats too often"),
        ("b{a,", 2, "this { is never closed"),
        ("{a,,b}", 1, "a word of this set is missing"),
        ("{a,(b)}", 4, "a set in braces lists words"),
        ("ab[cd", 3, "this \\[ is never closed"),
        ("[^a]", 2, "a class lists its letters"),
        ("[c-a]", 2, "c-a runs backwards"),
        ("a]", 2, "this ] was never opened"),
        ("a}", 2, "this } was never opened"),
        ("a.b", 2, "this . has no meaning here"),
        ("ab\\", 3, "a backslash"),
        ("\\d", 1, "a backslash"),
        ("(" * 60 + "a" + ")" * 60, 51, "nested more than 50 deep"),
    ],
)
def test_mistakes_are_told_with_their_column(expression: str, column: int, message: str) -> None:
    with pytest.raises(UsageError, match=f"column {column}: .*{message}") as caught:
        automaton(expression)
    assert str(caught.value).startswith(shown_text(expression))


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("(a|b)*a(a|b){14}", "more than 10,000 states"),
        ("((a{100}){100}){100}", "more than 10,000 letters"),
        ("(()){100000}a", "more than 10,000 letters"),
        ("[一-鿿]", "20,992 letters"),
        ("()", "names no letter"),
    ],
)
def test_what_is_too_large_or_empty_is_refused(expression: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        automaton(expression)


def test_a_long_run_of_stars_and_deep_nesting_are_read() -> None:
    assert automaton("a" + "*" * 5000) == automaton("a*")
    assert automaton("(" * 50 + "ab" + ")?+" * 50) == automaton("(ab)*")


@pytest.mark.parametrize("expression", ["(ab|ba)*a+b?", "(a|b)*abb", "((aa|b)*a?){2}", "a*b*a*b*", "(a|b)*a(a|b)(a|b)"])
def test_minimal_automata_have_the_size_that_another_library_finds(expression: str) -> None:
    fa = pytest.importorskip("automata.fa.dfa")
    nfa = pytest.importorskip("automata.fa.nfa")
    other = fa.DFA.from_nfa(nfa.NFA.from_regex(expression), minify=True).to_complete().minify()
    ours = automaton(expression)
    assert len(other.states) == len(ours.transitions)
    assert all(other.accepts_input(word) == ours.accepts(word) for word in WORDS)
