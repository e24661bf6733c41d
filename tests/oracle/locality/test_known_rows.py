"""The known verdicts on the shipped formulations, over two digits and exhaustive up to the size shown."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import cast

import pytest

from lengthwise.oracle.locality.consistency import consistency
from lengthwise.oracle.locality.settle import distance
from lengthwise.oracle.locality.steps import Steps, decoder_form, formulation_steps, task_steps
from lengthwise.oracle.locality.windows import windows_of
from lengthwise.tasks import tasks
from lengthwise.tasks.formulations.digits import MultiplicationMarked
from lengthwise.tasks.formulations.formulation import Formulation, StepMove
from lengthwise.tasks.formulations.layouts import Appending

BLANK = ("_",)


def with_room(formulation: Appending, items: int | None = None, seed: int = 0) -> Steps:
    """An appending formulation with the room for the rest of the answer shown as blanks, and no end to find.

    The label stands on the first blank. It is the layout of a model that maps a state to one of equal length.
    """
    steps = formulation_steps(formulation, items, seed)

    def chains(size: int) -> Iterator[Iterator[StepMove]]:
        return (_with_blanks(list(moves)[:-1]) for moves in steps.chains(size))

    return Steps(f"{steps.name} with the room for the answer shown", chains, steps.exhaustive)


def _with_blanks(moves: Sequence[StepMove]) -> Iterator[StepMove]:
    for left, move in zip(range(len(moves), 0, -1), moves, strict=True):
        labels = (*(None for _ in move.state), move.labels[-1], *(None,) * (left - 1))
        after = (*move.after, *(BLANK,) * (left - 1))
        place = len(move.state)
        carried = tuple((at,) for at in range(len(after)))
        # The step is taken on the blank; where the appending form reads its last position, it reads that and the blank.
        sources = tuple(sorted({*move.sources[-1], place}))
        yield StepMove(
            (*move.state, *(BLANK,) * left), after, labels, (*carried[:place], sources, *carried[place + 1 :])
        )


def make(spec: str) -> Formulation:
    return cast(Formulation, tasks.make(spec))


def steps_of(spec: str) -> Steps:
    return formulation_steps(make(spec))


def room(spec: str) -> Steps:
    return with_room(cast(Appending, make(spec)))


def multiplication() -> Steps:
    """All factors of up to `size` bits each, not only those of equal lengths."""
    task = cast(MultiplicationMarked, make("multiplication_marked"))

    def chains(size: int) -> Iterator[Iterator[StepMove]]:
        for one, two in itertools.product(range(1, size + 1), repeat=2):
            if max(one, two) == size:
                for row in itertools.product((0, 1), repeat=one + two):
                    yield task.moves(task.between(row[:one], row[one:]))

    return Steps("multiplication", chains)


def direct(spec: str, every: Callable[[int], Iterable[Sequence[str]]]) -> Steps:
    return task_steps(tasks.make(spec), every)


MAJORITY = direct("binary_majority", lambda size: itertools.product("01", repeat=size))
SORTING = direct("sort:alphabet=6", lambda size: itertools.permutations("012345", size))

# steps, r, sizes, the least n up to some sizes (None: refuted), the size that shows the last pair, pairs by then
SETTLED = [
    (steps_of("parity_leftmost"), 5, range(1, 9), {8: 1}, 5, 98),
    (steps_of("parity_columns"), 3, range(1, 9), {8: 1}, 5, 82),
    (steps_of("addition_columns"), 3, range(1, 6), {5: 1}, 4, 508),
    (steps_of("addition_marked"), 3, range(1, 6), {1: 2, 2: 3, 5: 3}, 3, 179),
    (steps_of("copy_distinct_steps:alphabet=5"), 3, range(1, 6), {2: 2, 5: 2}, 3, 130),
    (steps_of("copy_pointer"), 3, range(1, 10), {1: 2, 9: 2}, 4, 94),
    (multiplication(), 3, range(1, 5), {1: 2, 2: 3, 4: 3}, None, 449),
    (steps_of("arithmetic_parenthesised:prime=2"), 7, range(1, 4), {3: 1}, None, 1840),
    (steps_of("arithmetic_flat:prime=2"), 7, range(1, 5), {4: 1}, None, 1836),
]


@pytest.mark.parametrize("steps, r, sizes, needed, least, pairs", SETTLED, ids=lambda value: getattr(value, "name", ""))
def test_settled(steps: Steps, r: int, sizes: range, needed: dict[int, int], least: int | None, pairs: int) -> None:
    found = consistency(steps, r, sizes)
    assert found.verdict == "CONSISTENT" and found.n == needed[sizes[-1]] and not found.growing
    assert {size: dict(found.by_size)[size] for size in needed} == needed
    assert (found.least_size, found.pairs) == (least, pairs)


# steps, r, the size at which every number of windows is refuted, and not before
REFUTED = [
    *((steps_of(name), r, r) for name in ("parity_direct", "copy_repeat_steps") for r in (3, 5, 7)),
    (steps_of("parity_leftmost"), 3, 3),
    (steps_of("parity_columns"), 1, 2),
    (steps_of("addition_columns"), 1, 1),
    (room("parity_appended"), 3, 5),
    (steps_of("parity_appended"), 3, 3),
    (steps_of("parity_appended"), 5, 5),
    (room("addition_appended"), 3, 4),
    (steps_of("addition_marked_alike"), 3, 5),
    (steps_of("arithmetic_parenthesised:prime=2"), 5, 3),
    (steps_of("arithmetic_flat:prime=2"), 5, 3),
    (MAJORITY, 3, 7),
    (MAJORITY, 5, 11),
    (SORTING, 3, 5),
]


@pytest.mark.parametrize("steps, r, size", REFUTED, ids=lambda value: getattr(value, "name", str(value)))
def test_refuted_at_this_size_and_not_before(steps: Steps, r: int, size: int) -> None:
    found = consistency(steps, r, range(1, size + 3))
    assert found.verdict == "REFUTED" and found.up_to == size
    assert found.witness is not None and found.witness.holds()
    assert found.claim().status == "refuted" and found.claim().kind == "proved"


GROWING = [
    (room("parity_appended"), 5, 8, {5: 2, 7: 3, 8: 4}),
    (room("addition_appended"), 5, 5, {4: 3, 5: 4}),
    (MAJORITY, 5, 10, {5: 2, 7: 3, 9: 4}),
    (MAJORITY, 7, 11, {5: 2, 9: 3}),
    (SORTING, 5, 6, {2: 2, 5: 3}),
]


@pytest.mark.parametrize("steps, r, up_to, needed", GROWING, ids=lambda value: getattr(value, "name", str(value)))
def test_ever_more_windows_are_needed(steps: Steps, r: int, up_to: int, needed: dict[int, int]) -> None:
    found = consistency(steps, r, range(1, up_to + 1))
    assert {size: dict(found.by_size)[size] for size in needed} == needed
    assert found.growing and found.claim().status == "unknown" and found.unsettled == "locality.growing"


def test_marks_alike_are_refuted_by_the_known_pair() -> None:
    """The state 00100 + 00100 has only windows that 00000 + 00100 has too, with the marks on the middle digits."""
    task = make("addition_marked_alike")
    one = list(task.moves(task.start(5, (0, 0, 1, 0, 0, 0, 0, 1, 0, 0))))[2]
    two = list(task.moves(task.start(5, (0, 0, 0, 0, 0, 0, 0, 1, 0, 0))))[2]
    assert set(windows_of(one.state, 3)) <= set(windows_of(two.state, 3))
    assert windows_of(one.state, 3)[14] == windows_of(two.state, 3)[14] and one.labels[14] != two.labels[14]


def test_leftmost_only_takes_more_than_four_r_plus_one() -> None:
    """R is 2, and windows of 9 do not settle a step by themselves; those of 11 do, as the redex is near the border."""
    steps = steps_of("arithmetic_flat_leftmost:prime=2")
    assert consistency(steps, 9, range(1, 4)).n == 2
    assert consistency(steps, 11, range(1, 4)).n == 1
    assert consistency(steps_of("arithmetic_flat:prime=2"), 9, range(1, 4)).n == 1


@pytest.mark.parametrize("spec", ["arithmetic_parenthesised:prime=2", "arithmetic_flat:prime=2"])
def test_windows_of_seven_settle_long_expressions(spec: str) -> None:
    """An attack with sampled long expressions over two elements, where windows recur most."""
    steps = formulation_steps(make(spec), items=150)
    assert consistency(steps, 7, [8, 14]).n == 1
    assert consistency(steps, 5, [8, 14]).n != 1


DISTANCES: dict[str, int | None] = {
    "parity_direct": None,
    "parity_leftmost": 1,
    "parity_appended": None,
    "parity_columns": 1,
    "addition_appended": None,
    "addition_marked": None,
    "addition_marked_alike": None,
    "addition_columns": 1,
    "copy_distinct_steps": None,
    "copy_repeat_steps": None,
    "copy_pointer": None,
    "multiplication_marked": None,
    "arithmetic_parenthesised": 4,
    "arithmetic_flat": 2,
    "arithmetic_flat_leftmost": 2,
}


@pytest.mark.parametrize("spec, value", DISTANCES.items())
def test_distance(spec: str, value: int | None) -> None:
    found = distance(formulation_steps(make(spec), items=30), range(2, 7))
    assert (found.growth, found.value) == ("infinite" if value is None else "finite", value)
    assert found.claim().value == (value or "infinite") and found.example and not found.bound


def test_a_decoder_sees_all_states_and_columns_do_not_help_it() -> None:
    """Two-line parity is (1, 3) as a step and refuted as a decoder's text, which has to copy the states."""
    found = consistency(decoder_form(make("parity_columns")), 3, range(1, 5))
    assert found.verdict == "REFUTED" and found.up_to == 2
    first = next(iter(decoder_form(make("parity_columns")).chains(2)))
    last = list(first)[-1]
    assert [column[0] for column in last.after if column != (";",)][-1] == "<eos>"
    assert sum(column == (";",) for column in last.after) == 2 and last.labels[:-1] == (None,) * (len(last.state) - 1)
