"""Coverage: what a sample has to show, what it misses, and which tests need what it misses."""

from __future__ import annotations

from typing import cast

import pytest

from lengthwise.errors import UsageError
from lengthwise.oracle.locality.coverage import SeenWindows, coverage, seen_in, seen_in_items, unshown
from lengthwise.oracle.locality.steps import Steps, drawn_steps, formulation_steps
from lengthwise.tasks import tasks
from lengthwise.tasks.formulations.formulation import Formulation


def make(spec: str) -> Formulation:
    return cast(Formulation, tasks.make(spec))


LEFTMOST = make("parity_leftmost")
WINDOWS = coverage(formulation_steps(LEFTMOST), 5, range(1, 8))


def test_the_windows_of_the_leftmost_layout() -> None:
    assert len(WINDOWS.entries) == 98 and WINDOWS.least_size == 5
    assert WINDOWS.by_size() == {1: 2, 2: 10, 3: 34, 4: 66, 5: 98}
    assert WINDOWS.claim().value == 5 and WINDOWS.claim().evidence["entries"] == 98


def test_too_short_a_training_size_misses_the_windows_of_longer_ones() -> None:
    seen = seen_in(WINDOWS, formulation_steps(LEFTMOST), range(1, 5))
    assert len(seen.unseen) == 32 and {entry.size for entry in seen.unseen} == {5}
    assert seen.claim().value == pytest.approx(66 / 98)
    assert seen.states == 70
    lacking = unshown(seen, formulation_steps(LEFTMOST), [4, 5, 8])
    assert lacking.shares == ((4, 0.0), (5, 1.0), (8, 1.0)) and lacking.example


def test_three_missing_windows_are_named_and_the_tests_that_need_them_counted() -> None:
    """A sample of all states but those that show some windows: exactly the tests that contain them lack something."""
    hidden = {entry.window for entry in WINDOWS.entries if entry.size == 5} & {
        entry.window for entry in WINDOWS.entries if "".join(c[0] for c in entry.window) in ("01010", "11111", "00000")
    }
    assert len(hidden) == 3

    def shows(move: object) -> bool:
        state = move.state  # pyright: ignore[reportAttributeAccessIssue]
        return any(state[at : at + 5] in hidden for at in range(len(state)))

    full = formulation_steps(LEFTMOST)
    sample = Steps("sample", lambda size: [[move for move in full.moves(size) if not shows(move)]])
    seen = seen_in(WINDOWS, sample, range(1, 8))
    assert {entry.window for entry in seen.unseen} == hidden
    assert len(seen.explain()) == 4
    lacking = unshown(seen, full, [7])
    chains = [list(chain) for chain in full.chains(7)]
    assert lacking.shares == ((7, sum(any(map(shows, chain)) for chain in chains) / len(chains)),)


@pytest.mark.parametrize(
    "spec, r, n, sizes", [("copy_pointer", 3, 2, range(1, 8)), ("addition_marked", 3, 3, range(1, 4))]
)
def test_certificates_settle_every_state_they_were_made_from(spec: str, r: int, n: int, sizes: range) -> None:
    steps = formulation_steps(make(spec))
    needed = coverage(steps, r, sizes, n)
    assert all(len(entry.others) < n for entry in needed.entries)
    for size in sizes:
        for move in steps.moves(size):
            for place, entries in needed.settled_by(move):
                assert entries, (move.state, place)
                assert {needed.entries[entry].label for entry in entries} == {move.labels[place]}
    assert seen_in(needed, steps, sizes).claim().value == 1.0
    assert unshown(seen_in(needed, steps, sizes), steps, sizes).shares[-1][1] == 0.0


def test_the_items_of_a_run_and_what_they_miss() -> None:
    columns = make("addition_columns")
    needed = coverage(formulation_steps(columns, finished=True), 3, range(1, 6))
    few, many = (seen_in(needed, drawn_steps(columns, items), range(1, 6)) for items in (20, 1500))
    assert few.claim().value < 0.6 < 0.97 < many.claim().value and few.states == 100
    tests = formulation_steps(columns, items=40)
    worse, better = (unshown(seen, tests, [8]).shares[0][1] for seen in (few, many))
    assert worse > 0.9 and better < 0.5
    assert few.claim().evidence["states"] == 100
    claim = unshown(few, tests, [8]).claim()
    assert claim.kind == "measured" and claim.evidence["instances"] == 40


@pytest.mark.parametrize("spec, r", [("addition_columns", 3), ("arithmetic_flat:prime=2", 7), ("parity_leftmost", 5)])
def test_drawn_items_are_looked_up_as_states_are(spec: str, r: int) -> None:
    """Windows looked up in arrays are those of the states one by one, those of shrunken states among them."""
    task = make(spec)
    needed = coverage(formulation_steps(task, 20, finished=True), r, range(1, 5))
    slow, fast = seen_in(needed, drawn_steps(task, 90), range(1, 7)), seen_in_items(needed, task, 540, range(1, 7))

    def windows(seen: SeenWindows) -> set[object]:
        assert seen.windows is not None
        return {needed.numbering.window(number) for number in seen.windows}

    assert slow.seen == fast.seen and windows(slow) == windows(fast) and slow.states == fast.states == fast.planned


def test_a_cap_on_the_items_looked_at_is_said() -> None:
    pointer = make("copy_pointer")
    needed = coverage(formulation_steps(pointer), 3, range(1, 5), 2)
    few = seen_in_items(needed, pointer, 5_000, range(1, 5), most=100)
    assert (few.states, few.planned) == (100, 5_000) and few.capped in few.explain()
    assert few.claim().evidence["planned"] == 5_000
    assert seen_in_items(needed, pointer, 80, range(1, 5), most=100).capped == ""


def test_a_window_that_training_shows_counts_even_if_no_state_looked_at_had_it() -> None:
    """The windows needed are those of a few states; what the tests lack is judged by the training items alone."""
    needed = coverage(formulation_steps(LEFTMOST, 2), 5, [2])
    seen = seen_in(needed, formulation_steps(LEFTMOST), range(1, 6))
    assert unshown(seen, formulation_steps(LEFTMOST), [8]).last == (8, 0.0)


def test_appended_items_give_every_step() -> None:
    sample = drawn_steps(make("copy_distinct_steps:alphabet=5"), 3)
    assert [len(list(chain)) for chain in sample.chains(4)] == [5, 5, 5] and sample.form == "decoder"


def test_windows_that_do_not_settle_have_no_coverage() -> None:
    with pytest.raises(UsageError, match="1 window does not settle"):
        coverage(formulation_steps(LEFTMOST), 3, range(1, 5))
    with pytest.raises(UsageError, match="2 windows do not settle"):
        coverage(formulation_steps(make("addition_marked")), 3, range(1, 4), n=2)
    seen = seen_in(WINDOWS, formulation_steps(LEFTMOST), [1])
    with pytest.raises(UsageError, match="no instances"):
        unshown(seen, formulation_steps(LEFTMOST), [0])
