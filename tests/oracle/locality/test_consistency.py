"""(n, r)-consistency against the definition, its witnesses, and what is said about it."""

from __future__ import annotations

import itertools
import tracemalloc
from dataclasses import replace
from typing import cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lengthwise.errors import UsageError
from lengthwise.oracle.locality.consistency import consistency
from lengthwise.oracle.locality.settle import distance, settle
from lengthwise.oracle.locality.steps import Steps, formulation_steps
from lengthwise.oracle.locality.windows import Numbering, Refuted, certificates, numbers_in, windows_of
from lengthwise.tasks import tasks
from lengthwise.tasks.formulations.between import labels_between
from lengthwise.tasks.formulations.formulation import Formulation, State, StepMove
from naive_locality import least_windows, windows


def make(spec: str) -> Formulation:
    return cast(Formulation, tasks.make(spec))


def given_moves(moves: list[StepMove]) -> Steps:
    return Steps("given", lambda size: [moves] if size == 1 else [])


words = st.lists(st.sampled_from("ab"), min_size=1, max_size=5).map(lambda word: tuple((letter,) for letter in word))


@st.composite
def relations(draw: st.DrawFn) -> list[StepMove]:
    """Steps with labels drawn at random: a few states, most of their positions asked for one of three things."""
    states: list[State] = draw(st.lists(words, min_size=1, max_size=9, unique=True))
    moves = []
    for state in states:
        labels = tuple(draw(st.sampled_from([None, "x", "y", "y", "z"])) for _ in state)
        moves.append(StepMove(state, state, labels, ()))
    return moves


@settings(max_examples=250, deadline=None)
@given(relations(), st.sampled_from([1, 3, 5]))
def test_the_least_number_of_windows_is_that_of_the_definition(moves: list[StepMove], r: int) -> None:
    found = consistency(given_moves(moves), r, [1], most=7)
    assert found.n == least_windows(moves, r)
    assert (found.verdict == "REFUTED") == (found.n is None)
    if found.witness is not None:
        witness = found.witness
        assert witness.holds()
        one, other = windows(witness.state, r), windows(witness.other_state, r)
        assert one[witness.position] == other[witness.other_position] and set(one) <= set(other)
        asked = {(move.state, at): label for move in moves for at, label in enumerate(move.labels)}
        assert asked[witness.state, witness.position] == witness.label
        assert asked[witness.other_state, witness.other_position] == witness.other_label != witness.label


@settings(max_examples=250, deadline=None)
@given(st.sets(st.integers(1, 255), max_size=8), st.sets(st.integers(1, 255), min_size=1, max_size=8))
def test_certificates_are_least_and_hit_every_difference(own: set[int], others: set[int]) -> None:
    found = certificates(own, others, 8)
    inside = [(one, other) for one in own for other in others if one & ~other == 0]
    if isinstance(found, Refuted):
        assert (found.own, found.other) in inside
        return
    assert not inside and set(found) == own
    for one, certificate in found.items():
        assert certificate is not None and certificate & ~one == 0
        assert all(certificate & ~other for other in others)
        least = next(
            count
            for count in range(9)
            for some in itertools.combinations(numbers_in(one), count)
            if all(sum(1 << number for number in some) & ~other for other in others)
        )
        assert certificate.bit_count() == least


def test_one_more_window_than_is_looked_for_is_said_to_be_more() -> None:
    steps = formulation_steps(make("addition_marked"))
    found = consistency(steps, 3, [1, 2], most=2)
    assert (found.verdict, found.n, found.growing) == ("CONSISTENT", None, True)
    assert found.claim().status == "unknown" and found.unsettled == "locality.growing"


@given(words, st.sampled_from([1, 3, 5, 7]))
def test_windows_are_numbered_one_to_one(state: State, r: int) -> None:
    numbering = Numbering(r)
    numbers = numbering.anchors(state)
    assert [numbering.window(number) for number in numbers] == windows_of(state, r) == windows(state, r)
    assert numbering.known(state) == numbers and len(set(numbers)) == len(set(windows(state, r)))
    assert numbering.known((*state, ("new",)))[-1] is None


@pytest.mark.parametrize("r", [0, 2, -1])
def test_windows_have_a_middle(r: int) -> None:
    with pytest.raises(UsageError, match="odd number"):
        consistency(formulation_steps(make("parity_columns")), r, [1])


def test_short_states_are_not_believed() -> None:
    """Copying with repeats looks settled by windows wider than half its states; one size later it is refuted."""
    steps = formulation_steps(make("copy_repeat_steps"))
    short = consistency(steps, 7, range(1, 7))
    assert short.verdict == "CONSISTENT" and short.thin and not short.settled
    assert short.claim().status == "unknown" and short.unsettled == "locality.short"
    assert consistency(steps, 7, range(1, 8)).claim().status == "refuted"


@pytest.mark.system
def test_a_claim_is_put_to_the_test_one_size_further() -> None:
    """Marks alike look settled by three windows up to size 4 and are refuted at 5; marks of their own stay settled."""
    known = {"addition_marked_alike": (None, "REFUTED"), "addition_marked": ((3, 3), "CONSISTENT")}
    for name, (window, verdict) in known.items():
        found = settle(make(name), range(1, 5), widths=(1, 3), finished=True, further=[5])
        assert (found.window, found.verdict) == (window, verdict) and found.by_width[-1].up_to == 5


def test_several_windows_are_not_believed_at_sizes_near_their_width() -> None:
    """Two windows of 7 find no clash in marks alike up to size 5, where a window shows nearly a whole number."""
    found = consistency(formulation_steps(make("addition_marked_alike")), 7, range(1, 6))
    assert found.verdict == "CONSISTENT" and found.longest > 2 * 7 and found.thin and not found.settled


def test_a_sample_whose_windows_hardly_meet_is_not_believed() -> None:
    """Among 150 letters the windows of a sample of texts are nearly all different, so that none can clash."""
    rare = formulation_steps(make("copy_distinct_steps"), 20)
    found = consistency(rare, 5, range(2, 9))
    assert found.n is not None and found.recurring < 0.1 and found.thin and not found.settled
    assert found.claim().status == "unknown" and found.unsettled == "locality.seldom"
    often = consistency(formulation_steps(make("copy_distinct_steps:alphabet=8"), 200), 3, range(2, 9))
    assert often.recurring > 0.9 and not often.thin and often.n == 2


@pytest.mark.system
def test_what_is_settled_first_is_kept() -> None:
    found = settle(make("addition_marked"), range(1, 6), widths=(1, 3, 5))
    assert found.window == (3, 3) and found.verdict == "CONSISTENT"
    assert [one.verdict for one in found.by_width] == ["REFUTED", "CONSISTENT", "CONSISTENT"]
    refuted = settle(make("copy_repeat_steps"), range(1, 8))
    assert refuted.verdict == "REFUTED" and refuted.window is None and refuted.by_width[-1].thin
    proved = settle(make("parity_leftmost"), range(1, 7))
    assert proved.verdict == "PROVED" and proved.window == (1, 5)
    assert proved.claim().kind == "proved" and proved.claim().assumptions[0].check == "checked"
    assert all(one.claim().plain() and one.explain() for one in (found, refuted, proved))


def test_a_state_can_have_more_windows_than_words_of_their_width() -> None:
    """Dichotomy: unless refuted, n is at most the number of windows a state can have, |alphabet|^r + r - 1 (the last
    r - 1 at the borders); 1 + |alphabet|^r would be too small a bound."""
    long = tuple((letter,) for letter in "aaababbbaab")
    assert len(set(windows(long, 3))) == 2**3 + 3 - 1 > 1 + 2**3


def by_label_of(states: list[State], labels: list[tuple[str, ...]]) -> Steps:
    moves = [StepMove(state, state, label, ()) for state, label in zip(states, labels, strict=True)]
    return Steps("given", lambda size: [moves], sourced=False)


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_the_lower_bound_of_the_distance_is_that_of_all_pairs_of_states(data: st.DataObject) -> None:
    states = data.draw(st.lists(words, min_size=1, max_size=20, unique=True))
    labels = [tuple(data.draw(st.sampled_from("xy")) for _ in state) for state in states]
    pairs = itertools.combinations(zip(states, labels, strict=True), 2)
    spreads = [0]
    for (one, said), (other, also) in pairs:
        differing = [at for at in range(len(one)) if len(one) == len(other) and one[at] != other[at]]
        if len(differing) == 1:
            spreads += [(abs(at - differing[0]) + 1) // 2 for at in range(len(one)) if said[at] != also[at]]
    (found,) = (spread for _, spread in distance(by_label_of(states, labels), [1]).by_size)
    # each state is compared with the first of its group, so labels that differ only between later ones show half
    assert found <= max(spreads) and (found > 0) == (max(spreads) > 0)


def test_where_nothing_is_asked_no_label_changes() -> None:
    moves = [StepMove((("a",), ("b",)), (("a",), ("b",)), labels, ()) for labels in (("keep", "keep"), (None, "x"))]
    steps = Steps("given", lambda size: [[moves[0], replace(moves[1], state=(("a",), ("c",)))]], sourced=False)
    assert distance(steps, [1]).by_size == ((1, 0),)


def test_a_lower_bound_of_the_distance_names_what_it_rests_on() -> None:
    """To erase the leftmost 1 reads one column, so R is 0, and the bound grows all the same: the schedule is global."""

    def erased(size: int) -> list[list[StepMove]]:
        words = ["".join(bits) for bits in itertools.product("01", repeat=size)]
        pairs = [(tuple((bit,) for bit in word), tuple((bit,) for bit in word.replace("1", "0", 1))) for word in words]
        own = tuple((at,) for at in range(size))
        return [[StepMove(state, after, labels_between(state, after), own)] for state, after in pairs]

    steps = Steps("given", erased)
    found, bound = distance(steps, range(1, 7)), distance(replace(steps, sourced=False), range(1, 7))
    assert (found.value, bound.growth) == (0, "infinite")
    rests = [{given.key for given in one.claim().assumptions} for one in (found, bound)]
    assert "locality.schedule_near" in rests[1] - rests[0]
    assert found.explain()[0] != bound.explain()[0]


def test_a_size_of_a_sample_that_shows_less_is_no_growth() -> None:
    near = by_label_of([(("a",), ("b",)), (("a",), ("c",))], [("x", "x"), ("y", "x")])
    steps = Steps("given", lambda size: near.chains(size) if size in (2, 3, 6) else [], sourced=False)
    found = distance(steps, range(1, 7))
    assert [spread for _, spread in found.by_size] == [0, 1, 1, 0, 0, 1]
    assert (found.growth, found.value) == ("finite", 1)


def test_long_states_take_no_room_for_every_pair_of_columns() -> None:
    states: list[State] = [tuple(("a" if at % 7 else "b",) for at in range(2000 + 2 * n)) for n in range(8)]
    steps = by_label_of(states, [("x",) * len(state) for state in states])
    tracemalloc.start()
    distance(steps, [1])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 30e6, "states of 16,000 columns in all"
