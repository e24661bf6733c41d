"""Tagging prefixes: the last letter is seen, so more can be done than behind the word, and never less."""

from __future__ import annotations

import itertools
import random

import pytest

from lengthwise.oracle.crasp.decide import decide
from lengthwise.oracle.crasp.tags import decide_tags, tag_of
from lengthwise.oracle.programs.find import program_for
from lengthwise.oracle.programs.text import parse_program
from lengthwise.oracle.programs.verify import verify_program
from lengthwise.tasks import tasks
from lengthwise.tasks.languages.dfa import Dfa
from lengthwise.tasks.languages.regex import automaton


def drawn(seed: int) -> Dfa:
    source = random.Random(seed)
    states, letters = source.randint(2, 5), source.choice(["ab", "abc"])
    rows = tuple(tuple(source.randrange(states) for _ in letters) for _ in range(states))
    accepting = frozenset(state for state in range(states) if source.random() < 0.5) or frozenset([0])
    return Dfa(tuple(letters), rows, 0, accepting).minimised()


@pytest.mark.parametrize(
    ("expression", "behind", "tags"),
    [
        ("[ab]*b", False, True),  # the last letter says it all
        ("[ab]*a[ab]", False, False),  # the letter before the last is not seen
        ("(ab)*", True, True),
        ("(aa)*", False, False),
        ("[012]*02*", False, False),
    ],
)
def test_known_languages(expression: str, behind: bool, tags: bool) -> None:
    dfa = automaton(expression)
    assert decide(dfa).member is behind and decide_tags(dfa).member is tags


def test_a_program_for_the_language_that_only_its_last_letter_decides() -> None:
    program = parse_program('next["a"] := true\nnext["b"] := true\nnext["$"] := "b"')
    task = tasks.make("regular:expression=[ab]*b")
    assert verify_program(program, task, longest=10).mismatch is None


def test_what_is_known_behind_the_word_is_known_at_every_prefix() -> None:
    counted = 0
    for seed in range(400):
        dfa = drawn(seed)
        if decide(dfa).member:
            assert decide_tags(dfa).member is True
            counted += 1
    assert counted > 50


def test_two_words_that_are_confused_really_bear_different_tags() -> None:
    counted = 0
    for seed in range(400):
        dfa = drawn(seed)
        found = decide_tags(dfa).confusion
        if found is None:
            continue
        counted += 1
        ends = [dfa.run((*word, *found.suffix))[-1] for word in (found.left, found.right)]
        assert set(ends) <= dfa.live and found.suffix
        assert [tag_of(dfa, state) for state in ends] == [found.tag, found.other] and found.tag != found.other
    assert counted > 50


def test_a_compiled_program_is_never_said_not_to_exist() -> None:
    """An attack: wherever the library makes a program without positions, the decision must not say no."""
    for letters in itertools.product(["a", "b", "ab", "ba", "aab"], repeat=2):
        expression = f"({letters[0]}|{letters[1]})*"
        task = tasks.make(f"regular:expression={expression}")
        if program_for(task, "none") is not None:
            assert decide_tags(automaton(expression)).member is True, expression


def test_it_is_written_for_a_person() -> None:
    assert "bear the tags" in " ".join(decide_tags(automaton("(aa)*")).explain())
    assert decide_tags(automaton("[ab]*b")).claim().value is True
    assert decide_tags(automaton("(aa)*")).claim().status == "refuted"
