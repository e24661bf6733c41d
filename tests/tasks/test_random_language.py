"""Languages drawn by a seed: the same everywhere, varied, and in the strata that the atlas says."""

from __future__ import annotations

import itertools

import pytest

from lengthwise.errors import UsageError
from lengthwise.oracle.check import check
from lengthwise.studies.spec import Study
from lengthwise.tasks import tasks
from lengthwise.tasks.languages.dfa import Dfa
from lengthwise.tasks.languages.random_language import RandomLanguage
from lengthwise.testing import check_task

LANGUAGES = [name for name in Study.read("atlas").tasks if name.startswith("random_language")]
OUTLOOKS = [("can hold", "can hold"), ("cannot hold", "can hold"), ("cannot hold", "cannot hold")]


def test_a_seed_is_a_language_on_every_machine() -> None:
    """Golden automata, drawn with integers alone."""
    assert RandomLanguage(1, 3).automaton == Dfa(("a", "b"), ((1, 2), (2, 0), (2, 1)), 0, frozenset({0}))
    wanted = ((1, 2), (2, 3), (2, 1), (3, 3))
    assert RandomLanguage(26).automaton == Dfa(("a", "b"), wanted, 0, frozenset({0, 1, 2}))


@pytest.mark.parametrize("shape", [(3, 2), (6, 3), (8, 4)])
def test_it_is_varied_and_keeps_the_contract(shape: tuple[int, int]) -> None:
    for seed in range(3):
        task = RandomLanguage(seed, *shape)
        assert (len(task.automaton.transitions), len(task.automaton.alphabet)) == shape
        assert task.sizes(3, 200) == list(range(3, 201)) and task.chance(40).exact < 0.5
        found = task.draw(20, 0, range(50)).answers
        assert len({tuple(row) for row in found.tolist()}) > 25, "tags differ between words"
    check_task(RandomLanguage(0, *shape), (3, 4, 12))


def test_membership_is_asked_by_its_name() -> None:
    member = tasks.make({"name": "regular_member", "language": "random_language:seed=3,states=3"})
    word = ["a", "b", "b", "a"]
    assert (member.solve(word) == ["yes"]) == RandomLanguage(3, 3).automaton.accepts(word)


@pytest.mark.parametrize("wrong", ["states=1", "states=13", "alphabet=1", "alphabet=9"])
def test_numbers_out_of_range_are_refused(wrong: str) -> None:
    with pytest.raises(UsageError, match="a random language must have 2 to"):
        tasks.make(f"random_language:{wrong}")


def test_the_atlas_has_twelve_languages_of_each_class() -> None:
    """Recomputed by the oracle: counting alone, counting with positions, neither; all different."""
    assert len(LANGUAGES) == len({_up_to_letters(tasks.restore(name)) for name in LANGUAGES}) == 36
    for stratum, outlooks in enumerate(OUTLOOKS):
        for name in LANGUAGES[12 * stratum : 12 * stratum + 12]:
            verdicts = check(name, ["none", "learned+offset"], quick=True).verdicts
            assert tuple(verdict.outlook for verdict in verdicts.values()) == outlooks, name


def test_recipes_are_chosen_on_the_first_half_of_each_class() -> None:
    chosen = set(Study.read("recipes").tasks)
    choosing = {name for first in (0, 12, 24) for name in LANGUAGES[first : first + 6]}
    assert chosen < choosing and len(chosen) == 9


def _up_to_letters(task: RandomLanguage) -> Dfa:
    """The automaton, equal for languages that differ in the names of the letters alone."""
    dfa = task.automaton
    orders = itertools.permutations(range(len(dfa.alphabet)))
    renamed = [
        Dfa(dfa.alphabet, tuple(tuple(row[i] for i in order) for row in dfa.transitions), dfa.start, dfa.accepting)
        for order in orders
    ]
    return min((one.minimised() for one in renamed), key=lambda one: (one.transitions, sorted(one.accepting)))
