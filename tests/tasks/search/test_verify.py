"""The verifier accepts the trace of the depth-first search and nothing else; sampler and solver agree with it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lengthwise.errors import UsageError
from lengthwise.tasks.search.problem import search_trace
from searches import PROBLEMS, SETTINGS, SPOILERS, Item, every_setting, items, made, spoiled

ALL = (*SPOILERS, "another instance")


def rejected(task, item: Item, trace: tuple[str, ...]) -> bool:
    """Whether a trace that is not the right one is found out; the reason is given, and a place inside it."""
    found = task.verify(item[0], trace)
    assert found.valid == (found.wrong == "")
    assert 0 <= found.at <= len(trace)
    return not found.valid


@pytest.mark.parametrize(("task", "size"), every_setting(), ids=str)
def test_sampler_solver_and_verifier_agree(task, size) -> None:
    for prompt, trace in items(task, size, 60):
        found = task.verify(prompt, trace)
        assert found.valid and found.solved and found.at == len(trace), (prompt, trace, found.wrong)
        assert tuple(task.solve(prompt)) == trace
        assert task.solves(prompt, trace)


@pytest.mark.parametrize(("task", "size"), every_setting(), ids=str)
def test_spoiled_traces_are_rejected(task, size) -> None:
    rng = np.random.default_rng(3)
    known = list(items(task, size, 16))
    changed = 0
    for number, item in enumerate(known):
        for how in ALL:
            trace = spoiled(task, item, known[number - 1][1], how, rng)
            changed += trace != item[1]
            assert trace == item[1] or rejected(task, item, trace), (how, item, trace)
    assert changed > 0.7 * len(known) * len(ALL), "most accidents change something"


@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_any_sequence_of_symbols_but_one_is_rejected(data) -> None:
    """Traces put together from pieces of the right one and from any symbols at all."""
    task = made(data.draw(st.sampled_from([*PROBLEMS, *SETTINGS])))
    item = next(items(task, 2, 1, seed=data.draw(st.integers(0, 2**32))))
    start, end = sorted(data.draw(st.tuples(*[st.integers(0, len(item[1]))] * 2)))
    middle = tuple(data.draw(st.lists(st.sampled_from(task.symbols), max_size=6)))
    trace = (*item[1][:start], *middle, *item[1][end:])
    assert trace == item[1] or rejected(task, item, trace)


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_right_trace_is_one_and_its_beginnings_end_too_early(name: str) -> None:
    task = made(name)
    for prompt, trace in items(task, 3, 20):
        for end in range(len(trace)):
            found = task.verify(prompt, trace[:end])
            assert not found.valid and not found.solved
            whole = found.at == end
            assert (found.wrong == "it ends before the goal") == whole
            assert whole or found.at < end
        behind = task.verify(prompt, (*trace, *trace[-1:]))
        assert behind.wrong == "it continues after the goal" and behind.at == len(trace)


@pytest.mark.parametrize("name", PROBLEMS)
def test_where_it_went_wrong_is_the_event_with_the_wrong_token(name: str) -> None:
    task, rng = made(name), np.random.default_rng(0)
    for item in items(task, 4, 60):
        trace = spoiled(task, item, (), "substitution", rng)
        places = [place for place, (one, two) in enumerate(zip(item[1], trace, strict=True)) if one != two]
        if places:
            found, right = task.verify(item[0], trace), task.verify(*item)
            event = next(event for event in right.events if event.start <= places[0] < event.end)
            assert found.at == event.start
            assert found.wrong == f"the search continues with {' '.join(item[1][event.start : event.end])!r}"


DETOURS = [
    # (task, prompt, trace, whether it solves the problem): none of them is the depth-first search
    ("subset_sum", "6 | 5 | 2 | 4", "- 5 6 + 2 4 + 4 0", True),  # the straight way
    ("subset_sum", "6 | 5 | 2 | 4", "- 5 6 - 2 6 < - 2 6 + 2 4 + 4 0", True),  # another order
    ("subset_sum", "6 | 5 | 2 | 4", "- 5 6 + 2 4 < + 2 6 + 2 4 + 4 0", True),  # the same move twice
    ("subset_sum", "6 | 5 | 2 | 4", "+ 5 1 < + 5 6 - 5 6 + 2 4 + 4 0", True),  # back before all was tried
    ("subset_sum", "6 | 5 | 2 | 4", "+ 2 4 + 4 0", False),  # a group is left out
    ("subset_sum", "6 | 5 | 2 | 4", "+ 5 1 + 2 0", False),  # wrong arithmetic
    ("subset_sum", "6 | 5 | 2 | 4", "- 5 6 + 2 4 < + 2 4 + 2 4 + 4 0", False),  # back to a state that was not there
    ("subset_sum", "6 | 5 | 2 | 4", "- 5 6 + 2 4", False),  # not there yet
    ("subset_sum", "6 | 5 | 2 | 4", "- 5 6 + 2 4 + 4 0 < + 4 4", False),  # on behind the goal
    ("subset_sum", "6 | 5 | 2 | 4", "", False),
    ("countdown", "2 3 4 5", "+ 4 7 - 5 2", True),
    ("countdown", "2 3 4 5", "- 4 1 < - 4 3 + 4 7 - 5 2", True),
    ("countdown", "2 3 4 5", "+ 5 8 - 4 4", False),  # the second number before the first, with branching 1
    ("countdown", "2 3 4 5", "+ 4 7 - 5 3", False),
    ("tree_maze", "4 7 ( 3 5 ( 8 4 ) )", "5 4", True),
    ("tree_maze", "4 7 ( 3 5 ( 8 4 ) )", "5 < 5 7 3 < 3 7 5 4", True),
    ("tree_maze", "4 7 ( 3 5 ( 8 4 ) )", "3 4", False),  # there is no such way
    ("tree_maze", "4 7 ( 3 5 ( 8 4 ) )", "5 8 < 8 7 4", False),  # back to the wrong room
]


@pytest.mark.parametrize(("name", "prompt", "trace", "solves"), DETOURS)
def test_detours_solve_a_problem_without_being_its_search(name: str, prompt: str, trace: str, solves: bool) -> None:
    task = made(name)
    assert task.solves(prompt.split(), trace.split()) is solves
    assert not task.verify(prompt.split(), trace.split()).valid


def test_a_prompt_without_a_solution_is_refused_by_the_solver_alone() -> None:
    task = made("subset_sum")
    prompt = list("9|5|2|1")
    with pytest.raises(UsageError, match=r"^the search ends without a solution"):
        search_trace(task.problem(prompt))
    assert not task.verify(prompt, ()).valid and not task.solves(prompt, ())


# --- campaigns --------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", PROBLEMS)
def test_a_hundred_thousand_instances_are_verified(name: str) -> None:
    """Over all levels of the ladder and all settings."""
    places = [(level.task, size) for level in made(name).levels(3) for size in level.sizes]
    places += [(made(spec), size) for spec in SETTINGS if spec.startswith(name) for size in SETTINGS[spec]]
    each, seen = 100_000 // len(places) + 1, 0
    for task, size in places:
        for prompt, trace in items(task, size, each, seed=11, role="campaign"):
            assert task.verify(prompt, trace).valid and tuple(task.solve(prompt)) == trace, (task, prompt, trace)
            seen += 1
    print(f"{name}: {seen} instances of {len(places)} kinds verified and solved again")
    assert seen >= 100_000


@pytest.mark.slow
@pytest.mark.parametrize("name", PROBLEMS)
def test_ten_thousand_spoiled_traces_are_rejected(name: str) -> None:
    rng = np.random.default_rng(17)
    places = [(level.task, size) for level in made(name).levels(3) for size in level.sizes]
    counts = dict.fromkeys(ALL, 0)
    for task, size in places:
        known = list(items(task, size, 80, seed=12, role="campaign"))
        for number, item in enumerate(known):
            for how in ALL:
                trace = spoiled(task, item, known[number - 1][1], how, rng)
                if trace != item[1]:
                    assert rejected(task, item, trace), (how, item, trace)
                    counts[how] += 1
    print(f"{name}: {sum(counts.values())} spoiled traces rejected: {counts}")
    assert sum(counts.values()) >= 10_000
