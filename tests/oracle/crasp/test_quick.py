"""The quick necessary test: its witnesses, and that it never contradicts the decision."""

from __future__ import annotations

import random

import pytest

from lengthwise.oracle.crasp.decide import decide
from lengthwise.oracle.crasp.quick import Repetition, TwoIdempotents, quick_test
from lengthwise.tasks.languages.dfa import Dfa
from lengthwise.tasks.languages.regex import automaton
from oracle.crasp.random_automata import random_automaton


def acts(dfa: Dfa, word: tuple[str, ...]) -> tuple[int, ...]:
    """Where a word leads from every state."""
    return tuple(
        Dfa(dfa.alphabet, dfa.transitions, q, dfa.accepting).run(word)[-1] for q in range(len(dfa.transitions))
    )


def test_failing_is_never_contradicted_and_its_witness_holds() -> None:
    source, failed = random.Random(31), 0
    for _ in range(600):
        dfa = random_automaton(source, source.randint(2, 6), source.randint(1, 3)).minimised()
        quick = quick_test(dfa)
        if quick.passes:
            continue
        failed += 1
        assert not decide(dfa).member, dfa
        if isinstance(quick.witness, Repetition):
            cycle, action = quick.witness.cycle, acts(dfa, quick.witness.word)
            assert len(cycle) > 1
            assert all(action[q] == r for q, r in zip(cycle, (*cycle[1:], cycle[0]), strict=True))
        else:
            assert isinstance(quick.witness, TwoIdempotents)
            left, right = quick.witness.left, quick.witness.right
            assert acts(dfa, (*left, *left)) == acts(dfa, left) == acts(dfa, (*right, *left))
            assert acts(dfa, (*right, *right)) == acts(dfa, right) == acts(dfa, (*left, *right))
            assert acts(dfa, left)[quick.witness.state] != acts(dfa, right)[quick.witness.state]
    assert 100 < failed < 500


def test_passing_is_not_enough() -> None:
    dfa = automaton("(ab|bba)*")
    assert quick_test(dfa).passes and not decide(dfa).member


@pytest.mark.parametrize(
    ("expression", "passes"),
    [("(ab)*", True), ("(aa)*", False), ("{a,b}*b", False), ("(ab|aabb)*", False), ("a*", True)],
)
def test_known(expression: str, passes: bool) -> None:
    quick = quick_test(automaton(expression))
    assert quick.passes is passes
    assert quick.passes is passes and (quick.witness is None) is passes


def test_a_monoid_that_is_too_large() -> None:
    quick = quick_test(automaton("(ab|bba)*"), most=4)
    assert quick.passes is None
