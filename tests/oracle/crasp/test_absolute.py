"""The decision with positions: what is found, what is refuted, and attacks on the refutation."""

from __future__ import annotations

import dataclasses
import json
import random

import pytest

from lengthwise.errors import UsageError
from lengthwise.oracle.crasp import refute as refute_module
from lengthwise.oracle.crasp.decide import decide
from lengthwise.oracle.crasp.promise import everything
from lengthwise.oracle.crasp.promised import decide_absolute, search
from lengthwise.oracle.crasp.quick import stable_semigroup, transition_monoid
from lengthwise.oracle.crasp.refute import refute
from lengthwise.oracle.crasp.verify import verify, verify_refutation
from lengthwise.tasks import tasks
from lengthwise.tasks.languages.dfa import Dfa
from lengthwise.tasks.languages.regex import automaton
from oracle.crasp.random_automata import intersection, random_automaton, relabelled

TOMITA_3 = "(0|1((00)+1)*1)*(1((00)+1)*(00)*)?"
TOMITA_5 = "(00|11|(01|10)(00|11)*(01|10))*"
REFUTED = ["(b*ab*a)*b*", TOMITA_3, TOMITA_5, "{0,1,2}*02*", "(0|1(01*0)*1)*", "{a,b,c}*ac*"]
FOUND = {
    "(aa)*": (2, 0),
    "(aaaa)*": (4, 0),
    "(abab)*": (4, 0),
    "{a,b}*b": (1, 1),
    "(1|01|001)*(0|00)?": (1, 2),
    "(ab|bba)*": (1, 2),
    "(ab|aabb)*": (1, 1),
    "(a{7})*": (7, 0),
    "{a,b}*b{a,b}{5}": (1, 6),
    "(ab)*": (1, 0),
    # No odd run of 1s and, anywhere behind it, an odd run of 0s: runs that must be even cancel when every second place
    # is counted negatively.
    "(0|11)*(1(00(1|00)*)?)?": (2, 0),
}


@pytest.mark.parametrize("expression", REFUTED)
def test_refuted(expression: str) -> None:
    decision = decide_absolute(automaton(expression))
    assert decision.member is False and decision.found is None and decision.refutation is not None
    assert verify_refutation(decision.refutation) == []
    claim = decision.claim()
    assert (claim.kind, claim.status, claim.value) == ("proved", "refuted", False)
    assert json.dumps(decision.claim().plain())


def test_tomita_6_is_refuted() -> None:
    assert decide_absolute(tasks.make("tomita_6").automaton).member is False


@pytest.mark.parametrize("expression", FOUND)
def test_found(expression: str) -> None:
    dfa = automaton(expression)
    decision = decide_absolute(dfa)
    assert decision.member and decision.found is not None and decision.refutation is None
    assert (decision.found.period, decision.found.locality) == FOUND[expression]
    assert verify(decision.found) == [] and decision.claim().status == "holds"
    assert refute(everything(dfa)).found is None
    assert json.dumps(decision.claim().plain())


def attack(source: random.Random, count: int) -> dict[str, int]:
    """Random automata: nothing that is found may be refuted."""
    seen = {"found": 0, "refuted": 0, "neither": 0}
    for _ in range(count):
        dfa = random_automaton(source, source.randint(2, 6), source.randint(1, 3)).minimised()
        refuted = refute(everything(dfa)).found
        found = search(dfa, periods=(1, 2, 3, 4), localities=(0, 1, 2), most_states=600).found
        assert refuted is None or found is None, dfa
        assert refuted is None or verify_refutation(refuted) == [], dfa
        assert found is None or verify(found) == [], dfa
        seen["refuted" if refuted else "found" if found else "neither"] += 1
    return seen


def test_what_is_found_is_never_refuted() -> None:
    seen = attack(random.Random(21), 300)
    assert seen["refuted"] > 20 and seen["found"] > 100 and seen["neither"] < 10


def attack_by_construction(source: random.Random, count: int) -> int:
    """Languages that have a program by construction, some of them intersected: none may be refuted.

    Returns how many lie outside C-RASP[], where the refutation could go wrong.
    """
    outside, earlier = 0, None
    while count:
        inner = random_automaton(source, source.randint(3, 5), 2).minimised()
        decision = decide(inner)
        if not decision.member or all(not part.rounds for part in decision.refinements):
            continue  # without a component of several states there is nothing to get wrong
        count -= 1
        dfa = relabelled(source, inner, 2, source.randint(2, 4), source.randint(0, 2)).minimised()
        outside += not decide(dfa).member
        assert refute(everything(dfa)).found is None, dfa
        if earlier is not None and len(earlier.transitions) * len(dfa.transitions) <= 40:
            both = intersection(earlier, dfa).minimised()
            assert refute(everything(both)).found is None, both
        earlier = dfa
    return outside


def test_what_has_a_program_by_construction_is_never_refuted() -> None:
    assert attack_by_construction(random.Random(22), 80) > 12


@pytest.mark.slow
def test_long_attacks() -> None:
    attack(random.Random(23), 10_000)
    attack_by_construction(random.Random(24), 5_000)


def test_powers_of_short_words_refute_where_words_act_in_too_many_ways(monkeypatch: pytest.MonkeyPatch) -> None:
    cycle_and_swap = Dfa(
        ("a", "b"), tuple(((q + 1) % 12, {0: 1, 1: 0}.get(q, q)) for q in range(12)), 0, frozenset([0])
    )
    result = refute(everything(cycle_and_swap))  # all 12! permutations
    assert result.found is not None and result.reason == "many_actions" and verify_refutation(result.found) == []
    # The short words refute what the whole search refutes, and nothing that is found.
    monkeypatch.setattr(refute_module, "transition_monoid", lambda dfa: None)
    source, agreed = random.Random(25), 0
    for expression in FOUND:
        assert refute(everything(automaton(expression))).found is None
    for _ in range(60):
        dfa = random_automaton(source, source.randint(2, 6), 2).minimised()
        short = refute(everything(dfa)).found
        assert short is None or verify_refutation(short) == []
        assert short is None or search(dfa, periods=(1, 2, 3), localities=(0, 1), most_states=300).found is None
        agreed += short is not None
    assert agreed > 5


def test_a_wrong_refutation_is_noticed() -> None:
    found = refute(everything(automaton(TOMITA_3))).found
    assert found is not None and len(found.letters) > 1
    swapped = tuple(reversed(found.letters))
    for wrong in (
        {"letters": tuple((*word, "0") for word in found.letters)},
        {"letters": swapped},
        {"letters": found.letters[:1]},
        {"idempotent": ("1",) * (len(found.idempotent) - 1)},
        {"idempotent": ("0",) * len(found.idempotent)},
        {"proofs": ()},
        {"proofs": (dataclasses.replace(found.proofs[0], scale=0),)},
        {"clash": dataclasses.replace(found.clash, right=found.clash.left)},
        {"clash": dataclasses.replace(found.clash, suffix=())},
        {"blocks": tuple(range(len(found.blocks)))},
    ):
        assert verify_refutation(dataclasses.replace(found, **wrong)), wrong


def test_stable_semigroup_against_sets_of_maps() -> None:
    source = random.Random(26)
    for _ in range(60):
        dfa = random_automaton(source, source.randint(1, 4), source.randint(1, 2))
        letters = list(zip(*dfa.transitions, strict=True))
        sets = [{tuple(range(len(dfa.transitions)))}]

        def after(maps: set[tuple[int, ...]]) -> set[tuple[int, ...]]:
            return {tuple(letter[q] for q in action) for action in maps for letter in letters}  # noqa: B023

        for _ in range(80):
            sets.append(after(sets[-1]))
        monoid = transition_monoid(dfa)
        assert monoid is not None
        stable = stable_semigroup(monoid)
        assert stable is not None and stable.index <= 40
        whole = {tuple(row) for row in monoid.maps[stable.elements].tolist()}
        assert whole == sets[stable.index] == sets[2 * stable.index]
        assert all(sets[s] != sets[2 * s] for s in range(1, stable.index))  # it is the smallest
        for element in stable.elements.tolist():
            word = stable.word(element)
            action = tuple(range(len(dfa.transitions)))
            for letter in word:
                action = tuple(letters[letter][q] for q in action)
            assert len(word) == stable.index and action == tuple(monoid.maps[element].tolist())


def test_the_caps_end_in_unknown_and_not_in_waiting() -> None:
    source = random.Random(27)
    dfa = random_automaton(source, 40, 2)
    assert transition_monoid(dfa, most=50) is None
    small = transition_monoid(automaton("(ab|bba)*"))
    assert small is not None and stable_semigroup(small, most=3) is None
    result = search(automaton("(ab|bba)*"), periods=(1, 2), localities=(0, 1, 2), most_states=30)
    assert result.found is None
    assert {attempt.outcome for attempt in result.tried} == {"not_found", "too_large"}


def test_unknown_says_what_was_tried() -> None:
    decision = decide_absolute(automaton("(ab|bba)*"), localities=(0, 1))
    assert decision.member is None
    assert decision.claim().status == "unknown" and decision.claim().value is None
    assert [1, 1, "not_found"] in decision.claim().evidence["tried"]


def test_bad_search() -> None:
    for settings in ({"periods": ()}, {"periods": (0,)}, {"localities": (-1,)}):
        with pytest.raises(UsageError, match="a search needs"):
            search(automaton("a*"), **settings)
