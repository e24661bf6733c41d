"""Automata against enumeration of all short words, and minimisation against its definition."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lengthwise.errors import UsageError
from lengthwise.tasks.languages.dfa import Dfa

# words over a b with an even number of a
EVEN = Dfa(("a", "b"), ((1, 0), (0, 1)), 0, frozenset([0]))


@st.composite
def automata(draw: st.DrawFn, most: int = 7) -> Dfa:
    states, letters = draw(st.integers(1, most)), draw(st.integers(1, 2))
    state = st.integers(0, states - 1)
    row = st.tuples(*[state] * letters)
    rows = draw(st.lists(row, min_size=states, max_size=states))
    return Dfa(("a", "b")[:letters], tuple(rows), draw(state), frozenset(draw(st.sets(state))))


def words(dfa: Dfa, longest: int) -> list[tuple[str, ...]]:
    return [word for n in range(longest + 1) for word in itertools.product(dfa.alphabet, repeat=n)]


def language(dfa: Dfa, longest: int) -> set[tuple[str, ...]]:
    return {word for word in words(dfa, longest) if dfa.accepts(word)}


def test_run_and_accept() -> None:
    assert EVEN.run("aab") == (0, 1, 0, 0)
    assert EVEN.accepts("abba") and not EVEN.accepts("abb") and EVEN.accepts("")
    with pytest.raises(UsageError, match="'c' is not a letter of the alphabet a b"):
        EVEN.accepts("abc")


@settings(max_examples=150, deadline=None)
@given(automata())
def test_minimised_has_the_language_and_no_two_equal_states(dfa: Dfa) -> None:
    small = dfa.minimised()
    assert language(small, 6) == language(dfa, 6)
    assert small.start == 0 and small.reachable == tuple(range(len(small.transitions)))
    # at most 7 states: two that differ are told apart by a word of at most 5 letters
    futures = {
        frozenset(w for w in words(small, 5) if Dfa(small.alphabet, small.transitions, q, small.accepting).accepts(w))
        for q in range(len(small.transitions))
    }
    assert len(futures) == len(small.transitions)


@settings(max_examples=100, deadline=None)
@given(automata(), st.randoms(use_true_random=False))
def test_equal_languages_give_equal_minimal_automata(dfa: Dfa, random) -> None:
    """Every state doubled, the copies used at random, and all states renumbered: the minimal automaton is the same."""
    count = len(dfa.transitions)
    names = list(range(2 * count))
    random.shuffle(names)
    rows = {
        names[q]: tuple(names[target + count * random.randint(0, 1)] for target in dfa.transitions[q % count])
        for q in range(2 * count)
    }
    accepting = frozenset(names[q] for q in range(2 * count) if q % count in dfa.accepting)
    doubled = Dfa(dfa.alphabet, tuple(rows[q] for q in range(2 * count)), names[dfa.start], accepting)
    assert doubled.minimised() == dfa.minimised()
    assert dfa.complement().complement().minimised() == dfa.minimised()


@settings(max_examples=60, deadline=None)
@given(automata(4), automata(4))
def test_different_languages_give_different_minimal_automata(one: Dfa, other: Dfa) -> None:
    if one.alphabet == other.alphabet:  # 4 and 4 states: languages that differ do so on a word of at most 6 letters
        assert (one.minimised() == other.minimised()) == (language(one, 7) == language(other, 7))


@settings(max_examples=100, deadline=None)
@given(automata())
def test_lengths_are_those_of_the_words(dfa: Dfa) -> None:
    found = language(dfa, 7)
    assert {n for n in range(8) if dfa.has_word(n)} == {len(word) for word in found}
    assert dfa.is_empty() == (not found)  # 7 states: the shortest word has at most 6 letters
    assert language(dfa.complement(), 5) == set(words(dfa, 5)) - found
    for q in range(len(dfa.transitions)):
        assert (q in dfa.live) == (not Dfa(dfa.alphabet, dfa.transitions, q, dfa.accepting).is_empty())
    for n in range(5):
        assert dfa.reached(n) == {dfa.run(word)[-1] for word in words(dfa, n) if len(word) == n}


@settings(max_examples=50, deadline=None)
@given(automata())
def test_reached_is_the_same_in_any_order_of_asking(dfa: Dfa) -> None:
    fresh = Dfa(dfa.alphabet, dfa.transitions, dfa.start, dfa.accepting)
    late = [fresh.reached(n) for n in range(200, -1, -1)][::-1]
    layer = frozenset([dfa.start])
    for n in range(201):
        assert dfa.reached(n) == late[n] == layer
        layer = frozenset(t for q in layer for t in dfa.transitions[q])


def test_a_huge_length_is_answered_at_once() -> None:
    threes = Dfa(("a",), ((1,), (2,), (0,)), 0, frozenset([0]))
    assert threes.has_word(3 * 10**12) and not threes.has_word(3 * 10**12 + 1)


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        (((), (), 0, ()), "at least one letter"),
        ((("a", "a"), ((0, 0),), 0, ()), "distinct"),
        ((("a", "b"), ((0,),), 0, ()), "state 0 has no transition for 'b'"),
        ((("a",), ((0, 0),), 0, ()), "state 0 has 2 transitions for 1 letters"),
        ((("a",), ((1,),), 0, ()), "a transition of state 0 leads to 1"),
        ((("a",), ((0,),), 2, ()), "the start is 2"),
        ((("a",), ((0,),), 0, (3,)), "accepting states is 3"),
    ],
)
def test_wrong_automata_are_refused(parts, message: str) -> None:
    alphabet, transitions, start, accepting = parts
    with pytest.raises(UsageError, match=message):
        Dfa(alphabet, transitions, start, frozenset(accepting))


GOOD = {
    "alphabet": ["a", "b"],
    "start": "even",
    "accepting": ["even"],
    "transitions": {"even": {"a": "odd", "b": "even"}, "odd": {"b": "odd", "a": "even"}},
}


def test_from_json(tmp_path: Path) -> None:
    (tmp_path / "even.json").write_text(json.dumps(GOOD))
    assert Dfa.from_json(tmp_path / "even.json") == EVEN
    numbered = {"alphabet": [0], "start": 1, "accepting": [1], "transitions": {"1": {"0": 1}}}
    (tmp_path / "numbered.json").write_text(json.dumps(numbered))
    assert Dfa.from_json(str(tmp_path / "numbered.json")) == Dfa(("0",), ((0,),), 0, frozenset([0]))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        *(({key: None}, f"has no '{key}'") for key in GOOD),
        ({"alphabet": "ab"}, "'alphabet' must be a list of letters, not 'ab'"),
        ({"start": "q7"}, "start names the state 'q7'"),
        ({"accepting": ["q7"]}, "accepting names the state 'q7'"),
        ({"transitions": {"even": {"a": "even"}}}, "the state 'even' has no transition for 'b'"),
        ({"transitions": {"even": {"a": "even", "b": "q7"}}}, "'even' leads by 'b' to the state 'q7'"),
        ({"transitions": {"even": {"a": "even", "b": "even", "c": "even"}}}, "'c', which is not a letter"),
        ({"transitions": {"even": "a"}}, "the transitions of 'even' are an object"),
    ],
)
def test_json_errors_name_what_is_wrong(tmp_path: Path, change, message: str) -> None:
    data = {key: value for key, value in {**GOOD, **change}.items() if value is not None}
    (tmp_path / "wrong.json").write_text(json.dumps(data))
    with pytest.raises(UsageError, match=message):
        Dfa.from_json(tmp_path / "wrong.json")


def test_unreadable_files_are_usage_errors(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read: No such file"):
        Dfa.from_json(tmp_path / "absent.json")
    for text, message in (("{", "cannot be read as JSON"), ("[]", "does not contain a JSON object")):
        (tmp_path / "wrong.json").write_text(text)
        with pytest.raises(UsageError, match=message):
            Dfa.from_json(tmp_path / "wrong.json")
