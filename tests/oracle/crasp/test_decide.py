"""The decision without positions: the known languages, an independent implementation, witnesses that can fail."""

from __future__ import annotations

import dataclasses
import json
import random

import pytest

from lengthwise.errors import UsageError
from lengthwise.oracle.crasp.automata import component_numbers
from lengthwise.oracle.crasp.decide import decide
from lengthwise.oracle.crasp.verify import verify
from lengthwise.tasks import tasks
from lengthwise.tasks.languages.dfa import Dfa
from lengthwise.tasks.languages.regex import automaton
from oracle.crasp.counting import state_by_counts
from oracle.crasp.random_automata import random_automaton, words
from oracle.crasp.slow_decision import slow_member

TOMITA_3 = "(0|1((00)+1)*1)*(1((00)+1)*(00)*)?"  # no odd run of 1s with an odd run of 0s right behind it
INSIDE = ["(ab)*", "(ab|bbaa)*", "aa*bb*cc*dd*ee*", "{a,b}*d{b,c}*", "1*|[]0", "(10)*", "0*1*0*1*", "a*", "(a(ab)*b)*"]
OUTSIDE = [
    "(b*ab*a)*b*",
    "{a,b}*b",
    "(ab|bba)*",
    "(ab|aabb)*",
    TOMITA_3,
    "(1|01|001)*(0|00)?",
    "{0,1,2}*02*",
    "(aa)*",
    "(aaaa)*",
    "(abab)*",
]
SOME = [*INSIDE, *OUTSIDE, "(ab|aab|abb)*", "(aba|bab)*", "((ab)*c(ba)*d)*", "(a|ba|bba)*"]


@pytest.mark.parametrize("expression", INSIDE)
def test_inside(expression: str) -> None:
    decision = decide(automaton(expression))
    assert decision.member and decision.exact and verify(decision) == []
    claim = decision.claim()
    assert (claim.kind, claim.status, claim.value) == ("proved", "holds", True)
    assert all(assumption.check == "checked" for assumption in claim.assumptions)


@pytest.mark.parametrize("expression", OUTSIDE)
def test_outside(expression: str) -> None:
    decision = decide(automaton(expression))
    assert not decision.member and decision.exact and verify(decision) == []
    claim = decision.claim()
    assert (claim.kind, claim.status, claim.value) == ("proved", "refuted", False)
    assert claim.reference is not None and claim.reference.key == "yang2026"
    assert [assumption.check for assumption in claim.assumptions] == ["checked"]


@pytest.mark.parametrize("name", ["d_2", "d_3", "d_4", "d_12", "tomita_1", "tomita_2", "tomita_7"])
def test_named_inside(name: str) -> None:
    assert decide(tasks.make(name).automaton).member  # pyright: ignore[reportAttributeAccessIssue]


@pytest.mark.parametrize(
    ("expression", "period", "locality"),
    [
        ("{a,b}*b", 1, 1),
        ("(ab|bba)*", 4, 2),
        ("(ab|aabb)*", 4, 2),
        ("(1|01|001)*(0|00)?", 4, 2),
        ("(aa)*", 4, 2),
        ("(aaaa)*", 4, 2),
        ("(abab)*", 4, 2),
        ("(aa)*", 2, 0),
    ],
)
def test_positions_help(expression: str, period: int, locality: int) -> None:
    decision = decide(automaton(expression), period=period, locality=locality)
    assert decision.member and not decision.exact and verify(decision) == []
    assert decision.claim().status == "holds"


@pytest.mark.parametrize("expression", ["(b*ab*a)*b*", TOMITA_3, "{0,1,2}*02*"])
def test_positions_do_not_help(expression: str) -> None:
    decision = decide(automaton(expression), period=4, locality=2)
    assert not decision.member and verify(decision) == []
    claim = decision.claim()
    assert (claim.status, claim.value) == ("unknown", None)


@pytest.mark.wording
def test_what_a_person_reads() -> None:
    assert decide(automaton("(ab)*")).explain()[1] == "Round 1, inside {0, 1}: #a - #b is 0 at 0, 1 at 1."
    sentences = decide(automaton("(aa)*")).explain()
    assert (
        "After the empty word and after `a` the automaton is in states 0 and 1. Both lie on one cycle" in sentences[1]
    )
    assert sentences[2] == "They must be distinguished: the empty word is accepted from 0 and not from 1."
    assert "2 (value at 1 - value at 0) is the sum of the changes along (0 a 1) - (1 a 0)" in sentences[3]
    many = decide(automaton("(ab|bbaa)*")).explain()
    assert len(many) == 3 and "Round 2" in many[2] and "#({0} b {2, 5})" in many[2]


def test_claims_are_json() -> None:
    for expression in SOME:
        for settings in ({}, {"period": 2, "locality": 1}):
            json.dumps(decide(automaton(expression), **settings).claim().plain())


def test_agrees_with_the_slow_one_on_a_thousand_random_automata() -> None:
    source, inside = random.Random(11), 0
    for _ in range(1000):
        dfa = random_automaton(source, source.randint(1, 6), 3)
        decision = decide(dfa)
        assert decision.member == slow_member(dfa), dfa
        assert verify(decision) == [], dfa
        inside += decision.member
    assert 200 < inside < 800  # both answers are common, so that agreement means something


def test_agrees_with_the_slow_one_on_two_letters_and_more_states() -> None:
    source = random.Random(12)
    for _ in range(150):
        dfa = random_automaton(source, source.randint(6, 12), 2)
        decision = decide(dfa)
        assert decision.member == slow_member(dfa), dfa
        assert verify(decision) == [], dfa


def test_the_complement_and_a_larger_automaton_change_nothing() -> None:
    for expression in SOME:
        dfa = automaton(expression)
        doubled = Dfa(  # two copies that alternate: the same language, not minimal
            dfa.alphabet,
            tuple(tuple(2 * target + 1 - copy for target in row) for row in dfa.transitions for copy in (0, 1)),
            2 * dfa.start,
            frozenset(2 * state + copy for state in dfa.accepting for copy in (0, 1)),
        )
        assert decide(dfa.complement()).member == decide(doubled).member == decide(dfa).member


@pytest.mark.parametrize("settings", [{}, {"period": 2}, {"locality": 1}, {"period": 2, "locality": 2}])
def test_counting_finds_the_state(settings: dict[str, int]) -> None:
    """Membership is not taken on trust: the counts alone run every short word and some long ones."""
    source, tried = random.Random(13), 0
    cases = [automaton(expression) for expression in SOME]
    cases += [random_automaton(source, source.randint(3, 6), 2).minimised() for _ in range(120)]
    for dfa in cases:
        decision = decide(dfa, **settings)
        if not decision.member or len(dfa.transitions) < 3:
            continue
        tried += 1
        long_words = [tuple(source.choices(dfa.alphabet, k=40)) for _ in range(5)]
        for word in [*words(dfa.alphabet, 6 if len(dfa.alphabet) < 3 else 3), *long_words]:
            assert state_by_counts(decision, word) == dfa.run(word)[-1], (dfa, word)
    assert tried > 20


def test_a_wrong_term_is_noticed() -> None:
    decision = decide(automaton("(ab|bbaa)*"))
    place, part = next((i, part) for i, part in enumerate(decision.refinements) if part.rounds)
    term = part.rounds[0].terms[0]
    values = (term.values[0] + 1, *term.values[1:])
    for wrong in (
        dataclasses.replace(term, values=values),
        dataclasses.replace(term, weights=tuple((kind, weight + 1) for kind, weight in term.weights)),
        dataclasses.replace(term, weights=(), values=(0,) * len(values)),
    ):
        round = dataclasses.replace(part.rounds[0], terms=(wrong,))
        changed = dataclasses.replace(part, rounds=(round, *part.rounds[1:]))
        parts = (*decision.refinements[:place], changed, *decision.refinements[place + 1 :])
        assert verify(dataclasses.replace(decision, refinements=parts))
    assert verify(dataclasses.replace(decision, refinements=decision.refinements[1:]))


def test_a_wrong_refusal_is_noticed() -> None:
    decision = decide(automaton("(ab|aabb)*"))
    blocked = decision.blocked
    assert blocked is not None
    proof, clash = blocked.proofs[0], blocked.clash
    finer = tuple(range(len(blocked.blocks)))
    for wrong in (
        {"proofs": ()},
        {"proofs": (dataclasses.replace(proof, moves=proof.moves[1:]),)},
        {"proofs": (dataclasses.replace(proof, scale=0),)},
        {"proofs": (dataclasses.replace(proof, scale=2 * proof.scale),)},
        {"blocks": finer},
        {"blocks": (0,) * len(finer)},
        {"left": blocked.right},
        {"left_word": (*blocked.left_word, "a")},
        {"forth": ()},
        {"clash": dataclasses.replace(clash, suffix=())},
        {"clash": dataclasses.replace(clash, answer=clash.other, other=clash.answer)},
        {"clash": dataclasses.replace(clash, left=clash.right, right=clash.left)},
    ):
        assert verify(dataclasses.replace(decision, blocked=dataclasses.replace(blocked, **wrong))), wrong
    inside = decide(automaton("(ab|bbaa)*"))
    assert verify(dataclasses.replace(inside, blocked=blocked))


@pytest.mark.parametrize("settings", [{"period": 0}, {"period": 1.5}, {"locality": -1}, {"locality": True}])
def test_bad_settings(settings: dict[str, int]) -> None:
    with pytest.raises(UsageError, match="must be a whole number of at least"):
        decide(automaton("a*"), **settings)


def test_a_product_that_is_too_large_is_refused() -> None:
    with pytest.raises(UsageError, match="more than 20,000 states"):
        decide(automaton("(ab|bba)*"), period=50, locality=12)


def test_components_agree_with_reachability() -> None:
    source = random.Random(14)
    for _ in range(200):
        table = [[source.randrange(8) for _ in range(2)] for _ in range(8)]
        reach = [{q} for q in range(8)]
        for _ in range(8):
            reach = [here | {r for q in here for r in table[q]} for here in reach]
        numbers = component_numbers(table)
        for p in range(8):
            for q in range(8):
                assert (numbers[p] == numbers[q]) == (p in reach[q] and q in reach[p])


def test_a_component_too_large_to_prove_says_so() -> None:
    decision = decide(automaton("(a{1001})*"))
    assert not decision.member and verify(decision) == []
    assert [assumption.check for assumption in decision.claim().assumptions] == ["assumed"]
