"""The automaton procedure: against exhaustive windows on random bimachines, and on the shipped formulations."""

from __future__ import annotations

import itertools
from typing import cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lengthwise.errors import UsageError
from lengthwise.oracle.locality.bimachine import (
    Bimachine,
    Scanner,
    WindowClash,
    all_windows,
    bimachine,
    clash_at,
    fold,
    least_training_size,
    prove,
    scanner,
)
from lengthwise.oracle.locality.consistency import consistency
from lengthwise.oracle.locality.machines import compare, machine_of
from lengthwise.oracle.locality.steps import formulation_steps
from lengthwise.tasks import tasks
from lengthwise.tasks.formulations.formulation import Formulation, State
from naive_locality import PAD, windows


def make(spec: str) -> Formulation:
    return cast(Formulation, tasks.make(spec))


@st.composite
def scanners(draw: st.DrawFn) -> Scanner:
    """Up to three states at random, or one that remembers the last one or two letters."""
    if memory := draw(st.sampled_from([0, 1, 2])):
        return scanner("ab", "", lambda seen, letter: (seen + letter)[-memory:])
    states = draw(st.integers(1, 3))
    row = st.tuples(*[st.integers(0, states - 1)] * 2)
    return Scanner(tuple(range(states)), tuple(draw(row) for _ in range(states)))


@st.composite
def bimachines(draw: st.DrawFn, restricted: bool = True) -> Bimachine:
    """Two letters; two labels in a random table; half of the domains are restricted."""
    left, right, domain = draw(scanners()), draw(scanners()), draw(scanners())
    places = list(itertools.product(left.names, "ab", right.names))
    bits = draw(st.integers(0, 2 ** len(places) - 1))
    table = {place: "xy"[bits >> at & 1] for at, place in enumerate(places)}
    everything = set(range(len(domain.names)))
    accepting = draw(st.sets(st.sampled_from(sorted(everything)))) if restricted and draw(st.booleans()) else everything
    return Bimachine(("a", "b"), left, right, lambda p, a, q: table[p, a, q], domain, frozenset(accepting))


def words(longest: int) -> list[tuple[str, ...]]:
    return [word for size in range(1, longest + 1) for word in itertools.product("ab", repeat=size)]


def window(word: tuple[str, ...], at: int, left: int, right: int) -> State:
    padded = (PAD,) * left + tuple((letter,) for letter in word) + (PAD,) * right
    return padded[at : at + left + right + 1]


def clashes(machine: Bimachine, left: int, right: int, longest: int) -> bool:
    """Whether two places in words of the domain look alike and are labelled differently, from the definition."""
    seen: dict[State, str] = {}
    for word in words(longest):
        if machine.accepts(word):
            for at, label in enumerate(machine.labels(word)):
                if seen.setdefault(window(word, at, left, right), label) != label:
                    return True
    return False


def check_clash(machine: Bimachine, clash: WindowClash) -> None:
    """A clash is checked on its words alone."""
    assert machine.accepts(clash.word) and machine.accepts(clash.other_word)
    one = window(clash.word, clash.position, clash.radius, clash.radius)
    assert one == window(clash.other_word, clash.other_position, clash.radius, clash.radius)
    assert machine.labels(clash.word)[clash.position] == clash.label
    assert machine.labels(clash.other_word)[clash.other_position] == clash.other_label != clash.label


@settings(max_examples=90, deadline=None)
@given(bimachines())
def test_the_least_radius_is_that_of_exhaustive_windows(machine: Bimachine) -> None:
    """From below by the clash one column narrower, checked on its words; from above by an attack with all words."""
    proof = prove(machine)
    if proof.radius is None:
        folded = fold(machine)
        for radius in (0, 1, 2, 3, 6, 11):
            clash = clash_at(folded, radius)
            assert clash is not None
            check_clash(machine, clash)
        return
    assert proof.left is not None and proof.right is not None
    assert max(proof.left, proof.right) <= proof.radius
    assert not clashes(machine, proof.left, proof.right, 7)
    if proof.radius:
        assert proof.clash is not None and proof.clash.radius == proof.radius - 1
        check_clash(machine, proof.clash)


@settings(max_examples=60, deadline=None)
@given(bimachines(restricted=False))
def test_without_a_domain_both_sides_can_be_judged_apart(machine: Bimachine) -> None:
    """One column less on either side brings a clash, however many there are on the other."""
    proof = prove(machine)
    if proof.radius is None:
        return
    assert proof.left is not None and proof.right is not None
    if proof.left:
        assert clashes(machine, proof.left - 1, 9, 9)
    if proof.right:
        assert clashes(machine, 9, proof.right - 1, 9)


@settings(max_examples=60, deadline=None)
@given(bimachines())
def test_all_windows_are_those_of_long_words(machine: Bimachine) -> None:
    """Every window in words up to a length is listed with the shortest such length, and nothing shorter is missing."""
    proof = prove(machine)
    if proof.radius is None or proof.radius > 2:
        return
    listed = all_windows(machine, proof.radius)
    assert listed is not None
    found: dict[tuple[State, str], int] = {}
    for word in words(8):
        if machine.accepts(word):
            around = windows(tuple((letter,) for letter in word), 2 * proof.radius + 1)
            for key in zip(around, machine.labels(word), strict=True):
                found.setdefault(key, len(word))
    assert found == {key: length for key, length in listed.items() if length <= 8}


def test_with_a_domain_the_sides_cannot_be_judged_apart() -> None:
    """Words `x c x` with one letter twice: the label of c is that letter, which either side shows. Left or right alone
    is enough, so each side for itself needs no column when the other sees far, but not both at once."""

    def domain(state: str, letter: str) -> str:
        return state + letter if len(state) < 3 else "wrong"

    machine = bimachine(
        ("a", "b", "c"),
        ("", lambda _, letter: letter),
        ("", lambda _, letter: letter),
        lambda left, letter, right: left if letter == "c" else "keep",
        ("", domain, lambda state: state in ("aca", "bcb")),
    )
    proof = prove(machine)
    assert (proof.radius, proof.left, proof.right) == (1, 0, 1)
    assert proof.clash is not None
    check_clash(machine, proof.clash)


def test_the_first_of_many_has_no_finite_window() -> None:
    """`flip the leftmost 1`: whether a 1 is the leftmost cannot be seen from near it."""
    machine = bimachine(
        ("0", "1"),
        (False, lambda seen, letter: seen or letter == "1"),
        ("", lambda state, _: state),
        lambda seen, letter, _: "0" if letter == "1" and not seen else letter,
        ("", lambda state, _: state, lambda _: True),
    )
    proof = prove(machine, shown=6)
    assert proof.radius is None and proof.clash is not None and proof.clash.radius == 6
    check_clash(machine, proof.clash)
    assert proof.claim().status == "refuted" and proof.radius is None and len(proof.explain()) == 2


# spec, width proved, columns to the left and right, all windows, the length of the shortest state that shows the last
PROVED = [
    ("parity_columns", 3, (1, 0), 82, 5),
    ("addition_columns", 3, (1, 0), 508, 4),
    ("addition_columns:base=10", 3, (1, 0), None, None),
    ("parity_leftmost", 5, (2, 1), 98, 5),
    ("arithmetic_flat:prime=2", 7, (3, 3), 1836, 4),
    ("arithmetic_flat", 7, (3, 3), None, None),
    ("arithmetic_flat_leftmost:prime=2", 11, (5, 3), None, None),
    ("arithmetic_flat_leftmost", 11, (5, 3), None, None),
    ("arithmetic_parenthesised:prime=2", 7, (3, 3), None, None),
    ("arithmetic_parenthesised", 7, (3, 3), None, None),
]


@pytest.mark.parametrize("spec, r, sides, count, least", PROVED)
def test_shipped_formulations(spec: str, r: int, sides: tuple[int, int], count: int | None, least: int | None) -> None:
    task = make(spec)
    machine = machine_of(task)
    assert machine is not None
    proof = prove(machine)
    assert (proof.r, proof.left, proof.right) == (r, *sides) and proof.radius is not None
    listed = all_windows(machine, proof.radius)
    assert (None if listed is None else len(listed)) == count
    assert least_training_size(machine, proof.radius, task) == least
    if proof.exact:
        assert proof.clash is not None
        check_clash(machine, proof.clash)


SIZES = {"parity_columns": 6, "addition_columns": 3, "parity_leftmost": 7, "arithmetic_flat:prime=2": 3}
SIZES |= {"arithmetic_flat_leftmost:prime=2": 3, "arithmetic_parenthesised:prime=2": 2}


@pytest.mark.parametrize("spec", SIZES)
@pytest.mark.parametrize("finished", [False, True])
def test_bimachines_are_the_steps(spec: str, finished: bool) -> None:
    """All states of small sizes and random long ones; where the domain is exact, it holds nothing else."""
    task = make(spec)
    machine = machine_of(task, finished)
    assert machine is not None
    sizes = range(1, SIZES[spec] + 1)
    assert compare(machine, formulation_steps(task, finished=finished), sizes).states > 100
    compare(machine, formulation_steps(task, items=8, finished=finished), [12, 25])
    if machine.exact:
        steps = formulation_steps(task, finished=finished)
        states = {tuple("|".join(column) for column in move.state) for size in sizes for move in steps.moves(size)}
        longest = 3 if len(machine.alphabet) > 5 else 5
        domain = {
            word
            for size in range(1, longest + 1)
            for word in itertools.product(machine.alphabet, repeat=size)
            if machine.accepts(word)
        }
        assert domain == {state for state in states if len(state) <= longest}


@pytest.mark.parametrize("spec", ["addition_columns:base=10", "arithmetic_flat", "arithmetic_parenthesised"])
def test_bimachines_of_larger_alphabets(spec: str) -> None:
    machine = machine_of(make(spec))
    assert machine is not None
    compare(machine, formulation_steps(make(spec), items=15), [1, 2, 3, 9])


def test_a_wrong_bimachine_is_found_out() -> None:
    machine = machine_of(make("parity_columns"))
    assert machine is not None and machine_of(make("copy_pointer")) is None
    with pytest.raises(UsageError, match="lacks the state"):
        compare(machine, formulation_steps(make("addition_columns")), [1])
    wrong = Bimachine(
        machine.alphabet, machine.left, machine.right, lambda p, a, q: a, machine.domain, machine.accepting
    )
    with pytest.raises(UsageError, match="differently"):
        compare(wrong, formulation_steps(make("parity_columns")), [1])


def test_a_scanner_without_end_is_refused() -> None:
    with pytest.raises(UsageError, match="finitely many"):
        scanner("a", 0, lambda count, _: count + 1)


@pytest.mark.parametrize("spec", ["parity_columns", "parity_leftmost"])
def test_the_proof_agrees_with_the_exhaustive_check(spec: str) -> None:
    machine = machine_of(make(spec))
    assert machine is not None
    proof = prove(machine)
    assert proof.r is not None
    steps = formulation_steps(make(spec))
    assert consistency(steps, proof.r, range(1, 8)).n == 1
    assert consistency(steps, proof.r - 2, range(1, 8)).n != 1
