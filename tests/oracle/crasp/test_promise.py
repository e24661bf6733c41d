"""The decision about what is really asked: never against the decision about all words, and attacked from both sides."""

from __future__ import annotations

import dataclasses
import itertools
import json
import random
from collections import Counter

import pytest

from lengthwise.oracle.crasp.decide import Decision, decide
from lengthwise.oracle.crasp.promise import Promise, everything, mixed_lengths, prefixes, tag_of
from lengthwise.oracle.crasp.promised import decide_absolute, decide_promised
from lengthwise.oracle.crasp.verify import verify_blocked, verify_found, verify_refutation
from lengthwise.oracle.programs.find import program_for
from lengthwise.oracle.programs.text import parse_program
from lengthwise.oracle.programs.verify import verify_program
from lengthwise.tasks import tasks
from lengthwise.tasks.languages.dfa import Dfa
from lengthwise.tasks.languages.regex import automaton
from oracle.crasp.counting import Counting
from oracle.crasp.random_automata import random_automaton, relabelled, words
from oracle.crasp.slow_promise import slow_promised, slow_tags


@pytest.mark.parametrize(
    ("expression", "all_words", "asked"),
    [
        ("(a|ba)*", False, True),  # the last letter settles every tag
        ("[ab]*b", False, True),
        ("(ab|aabb)*", False, True),
        ("(ab)*", True, True),
        ("[ab]*a[ab]", False, False),  # the letter before the last is not seen
        ("(aa)*", False, False),
        ("(ab|bba)*", False, False),
        ("[012]*02*", False, False),
    ],
)
def test_known_languages(expression: str, all_words: bool, asked: bool) -> None:
    dfa = automaton(expression)
    assert decide(dfa).member is all_words
    decision = decide_promised(prefixes(dfa))
    assert decision.member is asked and decision.claim().status == ("holds" if asked else "refuted")
    assert json.dumps(decision.claim().plain())


def test_a_program_for_the_language_that_only_its_last_letter_decides() -> None:
    program = parse_program('next["a"] := true\nnext["b"] := "<bos>" or "a"\nnext["$"] := "<bos>" or "a"')
    task = tasks.make("regular:expression=(a|ba)*")
    assert verify_program(program, task, longest=10).mismatch is None
    made = program_for(task, "none")
    assert made is not None and verify_program(made, task, longest=12).mismatch is None


def wrong_tags(dfa: Dfa, found: Decision, longest: int) -> list[tuple[object, ...]]:
    """Questions to which the counts do not give one answer, among all prefixes of words up to a length.

    Prefixes that lead to one state and to the same counts are followed once, as their continuations are alike.
    """
    counting = Counting(found)
    moves, tags = slow_tags(dfa)
    level, wrong, known = {(dfa.start, counting.start())}, [], {}
    for _ in range(longest):
        onward = set()
        for (state, place), letter in itertools.product(level, dfa.alphabet):
            if (state, letter) not in moves:
                continue
            said = (counting.state(place), letter)
            if known.setdefault(said, tags[state, letter]) != tags[state, letter]:
                wrong.append((*said, tags[state, letter]))
            onward.add((moves[state, letter], counting.read(place, letter)))
        level = onward
    return wrong


def compare(source: random.Random, count: int) -> Counter[str]:
    """Random automata: the decision about prefixes against the one about all words, against a slow one, and by running
    its counts. Where it adds a yes, every prefix to length 12 is run, and short ones without leaving any out."""
    seen: Counter[str] = Counter()
    while seen["automata"] < count:
        dfa = random_automaton(source, source.randint(2, 6), source.randint(1, 3)).minimised()
        if len(dfa.transitions) < 2 or dfa.is_empty():
            continue
        promise = prefixes(dfa)
        whole, decision = decide(dfa).member, decide_promised(promise)
        assert not whole or decision.member is True, dfa
        assert decision.member is not False or not whole, dfa
        assert decision.member is slow_promised(dfa), dfa
        seen["automata"] += 1
        seen[{True: "can hold", False: "cannot hold", None: "unknown"}[decision.member]] += 1
        if decision.refutation is not None:
            assert verify_blocked(promise, decision.refutation) == [], dfa
        if decision.found is not None and not whole:
            assert verify_found(promise, decision.found) == [], dfa
            assert wrong_tags(dfa, decision.found, 12) == [], dfa
            assert one_tag_for_each_place(dfa, decision.found, 6), dfa
            seen["added"] += 1
    return seen


def one_tag_for_each_place(dfa: Dfa, found: Decision, longest: int) -> bool:
    """The same word by word."""
    counting, known = Counting(found), {}
    for word in words(dfa.alphabet, longest):
        run = dfa.run(word)
        if word and run[-1] in dfa.live:
            place = counting.start()
            for letter in word[:-1]:
                place = counting.read(place, letter)
            tag = tag_of(dfa, run[-1])
            if known.setdefault((counting.state(place), word[-1]), tag) != tag:
                return False
    return True


def test_it_never_contradicts_the_decision_about_all_words() -> None:
    seen = compare(random.Random(32), 1_000)
    assert seen["can hold"] > 400 and seen["cannot hold"] > 200 and seen["added"] > 20 and seen["unknown"] < 5


def by_construction(source: random.Random, period: int = 1, window: int = 0) -> Dfa:
    """A language whose tags have a program: what may come next is a random function of the last letter and of the state
    of an automaton in C-RASP[] before it, after its letters were replaced by what positions show. All prefixes of words
    are words."""
    while True:
        inner = random_automaton(source, source.randint(2, 5), 2).minimised()
        if decide(inner).member and any(part.rounds for part in decide(inner).refinements):
            break
    inner = relabelled(source, inner, 2, period, window)
    letters = range(2)
    tags = {(q, a): frozenset(source.sample(letters, source.choice([1, 1, 2]))) for q in range(99) for a in letters}
    start = (inner.start, frozenset(letters))
    number, rows, queue = {start: 0}, [], [start]
    for state, legal in queue:
        row: list[int | None] = []
        for letter in letters:
            if letter not in legal:
                row.append(None)
                continue
            target = (inner.transitions[state][letter], tags[state, letter])
            if target not in number:
                number[target] = len(number)
                queue.append(target)
            row.append(number[target])
        rows.append(row)
    dead = len(rows)
    table = [tuple(dead if to is None else to for to in row) for row in rows]
    return Dfa(("a", "b"), (*table, (dead, dead)), 0, frozenset(range(dead))).minimised()


def attack_without_positions(source: random.Random, count: int) -> Counter[object]:
    seen: Counter[object] = Counter()
    for _ in range(count):
        dfa = by_construction(source)
        said = decide_promised(prefixes(dfa)).member
        assert said is not False, dfa
        seen[decide(dfa).member, said] += 1
    return seen


def attack_with_positions(source: random.Random, count: int) -> Counter[object]:
    seen: Counter[object] = Counter()
    for _ in range(count):
        dfa = by_construction(source, source.randint(1, 3), source.randint(0, 2))
        said = decide_absolute(prefixes(dfa), localities=range(5), most_states=2_000).member
        assert said is not False, dfa
        seen[decide(dfa).member, said] += 1
    return seen


def test_what_has_a_program_by_construction_is_never_refuted() -> None:
    seen = attack_without_positions(random.Random(33), 150)
    assert seen[False, True] > 10, seen  # outside for all words, and inside for those that are asked
    assert attack_with_positions(random.Random(34), 40)[False, True] > 5


@pytest.mark.slow
def test_long_attacks() -> None:
    attack_without_positions(random.Random(35), 3_000)
    attack_with_positions(random.Random(36), 500)


def test_with_positions_it_never_contradicts_the_decision_about_all_words() -> None:
    source, seen = random.Random(37), Counter()
    for _ in range(400):
        dfa = random_automaton(source, source.randint(2, 5), source.randint(1, 3)).minimised()
        if len(dfa.transitions) < 2 or dfa.is_empty():
            continue
        promise = prefixes(dfa)
        options = {"localities": range(4), "most_states": 800}
        whole, asked = decide_absolute(dfa, **options).member, decide_absolute(promise, **options)
        assert whole is not True or asked.member is True, dfa
        assert asked.member is not False or whole is not True, dfa
        assert decide_promised(promise).member is not True or asked.member is True, dfa
        assert asked.refutation is None or verify_refutation(asked.refutation) == [], dfa
        if asked.found is not None:
            assert verify_found(promise, asked.found) == [] and wrong_tags(dfa, asked.found, 12) == [], dfa
        assert asked.claim().status == {True: "holds", False: "refuted", None: "unknown"}[asked.member]
        seen[whole, asked.member] += 1
    assert seen[True, True] > 40 and seen[False, False] > 5, seen


def test_a_refutation_about_prefixes_passes_through_prefixes_alone() -> None:
    decision = decide_absolute(prefixes(automaton("[012]*02*")))
    assert decision.refutation is not None and not decision.refutation.clash.at_end
    clash = decision.refutation.clash
    for wrong in ({"suffix": ()}, {"at_end": True}, {"answer": clash.other}, {"left": clash.right}):
        changed = dataclasses.replace(decision.refutation, clash=dataclasses.replace(clash, **wrong))
        assert verify_refutation(changed), wrong


def test_lengths_with_one_answer_are_not_asked() -> None:
    """All words of even length and all a^n: only odd lengths have both answers, and there counting b is enough."""
    dfa = automaton("((a|b)(a|b))*|a*")
    assert decide(dfa).member is False
    promise = mixed_lengths(dfa)
    assert not promise.whole and decide_promised(promise).member is True
    asked = tasks.make("regular_member:expression=((a|b)(a|b))*|a*")
    assert list(asked.sizes(1, 6)) == [1, 3, 5]
    assert decide(automaton("(aa)*", "b")).member is False  # b shows in a count, and odd lengths are never asked
    assert decide_promised(mixed_lengths(automaton("(aa)*", "b"))).member is True
    assert mixed_lengths(automaton("[ab]*b")) == everything(automaton("[ab]*b"))


def test_words_of_lengths_that_are_left_out_refute_nothing() -> None:
    """Attack: a language in C-RASP[] at odd lengths and every word at even ones has a program where it is asked."""
    source, outside = random.Random(38), 0
    for _ in range(60):
        inner = random_automaton(source, source.randint(2, 4), 2).minimised()
        if not decide(inner).member or len(inner.transitions) < 2:
            continue
        states = len(inner.transitions)
        rows = [tuple(to + states * (1 - odd) for to in row) for odd in (0, 1) for row in inner.transitions]
        accepting = {*range(states), *(states + q for q in inner.accepting)}
        dfa = Dfa(inner.alphabet, tuple(rows), inner.start, frozenset(accepting)).minimised()
        promise = mixed_lengths(dfa)
        if promise.whole:  # at odd lengths too all words have one answer
            continue
        outside += not decide(dfa).member
        assert decide_promised(promise).member is not False, dfa
    assert outside > 10


def test_a_wrong_witness_is_noticed() -> None:
    promise = prefixes(automaton("(ab|aabb)*"))
    found = decide_promised(promise).found
    assert found is not None and verify_found(promise, found) == []
    other = decide_promised(prefixes(automaton("(a|ba)*"))).found
    assert other is not None and verify_found(promise, other)
    promise = prefixes(automaton("[ab]*a[ab]"))
    blocked = decide_promised(promise).refutation
    assert blocked is not None and verify_blocked(promise, blocked) == []
    clash = blocked.clash
    for wrong in (
        {"proofs": ()},
        {"left_word": (*blocked.left_word, "b", "a")},
        {"blocks": tuple(range(len(blocked.blocks)))},
        {"clash": dataclasses.replace(clash, right=clash.left)},
        {"clash": dataclasses.replace(clash, suffix=("a", "a", "a"))},
        {"clash": dataclasses.replace(clash, answer=clash.other)},
    ):
        assert verify_blocked(promise, dataclasses.replace(blocked, **wrong)), wrong


def test_a_word_that_begins_no_word_refutes_nothing() -> None:
    """The two states of (a|ba)* differ by `b` alone, which leaves the language from one of them."""
    promise = prefixes(automaton("(a|ba)*"))
    assert isinstance(promise, Promise) and promise.answer(0, ("b", "b"), at_end=False) is None
    assert decide_promised(promise).refutation is None
