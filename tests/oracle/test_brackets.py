"""The Dyck view: bounds on the nesting are attacked with drawn items, and every search task has its thresholds."""

from __future__ import annotations

import json

import pytest

from lengthwise.oracle.brackets import KINDS, NEEDED_ANY, NESTING, Brackets, bracket_claims, brackets_of
from lengthwise.oracle.check import check
from lengthwise.oracle.depth import Nesting, read_trace
from lengthwise.seeds import Seeds
from lengthwise.tasks import tasks
from lengthwise.tasks.search.search_task import SearchTask
from lengthwise.tasks.search.tree_maze import TreeMaze

SEARCHES = (
    "subset_sum",
    "subset_sum:branching=2",
    "countdown",
    "countdown:branching=2",
    "countdown:operations=+-*/",
    "tree_maze",
    "tree_maze:branching=1",
    "tree_maze:branching=3",
)


@pytest.mark.parametrize("name", SEARCHES)
@pytest.mark.parametrize("size", [3, pytest.param(5, marks=pytest.mark.system)])
def test_no_item_nests_deeper_than_its_task_says_and_some_do_as_deep(name: str, size: int) -> None:
    task = tasks.make(name)
    assert isinstance(task, SearchTask)
    samples = task.sample(size, Seeds(7).draws("attack", size, items=range(200)))
    depths, kinds = set(), set()
    for row in samples.prompts:
        prompt = task.spelled(row)
        word = task.brackets(prompt, task.solve(prompt)).word
        depths.add(read_trace(word).depth)
        kinds |= {token for token in word if token.startswith("(")}
    found = brackets_of(task, size)
    assert found == Brackets(task.kinds, max(depths)) and len(kinds) <= task.kinds


class Silent(TreeMaze):
    """A search task that does not say how deep it nests."""

    def deepest(self, size: int) -> int | None:  # pyright: ignore[reportIncompatibleMethodOverride]
        return None


def test_a_task_that_does_not_know_is_looked_at() -> None:
    found = brackets_of(Silent(), 4)
    assert found is not None and found.items > 0 and found.depth in (4, 5)
    kinds = {claim.kind for claim in bracket_claims(Silent(), 3, 4) if claim.key == NESTING}
    assert kinds == {"measured"}


@pytest.mark.parametrize(
    ("name", "train", "test", "kinds", "depths"),
    [
        ("dyck_k:kinds=3,depth=5", 20, 60, 3, [5, 5]),
        ("dyck_k:depth=9", 6, 60, 2, [3, 9]),
        ("bounded_dyck_k", 20, 60, 2, [4, 4]),
        ("d_12", 20, 60, 1, [10, 12]),
        ("along:task=dyck_k,axis=depth,at=40", 4, 8, 2, [4, 8]),
        ("subset_sum", 3, 9, 2, [3, 9]),
        ("countdown", 3, 9, 2, [3, 9]),
        ("tree_maze", 3, 9, 2, [4, 10]),
    ],
)
def test_the_view_of_a_task(name: str, train: int, test: int, kinds: int, depths: list[int]) -> None:
    claims = bracket_claims(tasks.make(name), train, test)
    assert [claim.value for claim in claims if claim.key == NESTING] == depths
    found = {claim.key: claim for claim in claims}
    assert found[KINDS].value == kinds
    for threshold in Nesting(kinds, max(depths)).claims():
        assert found[threshold.key].value == threshold.value and found[threshold.key].kind == threshold.kind
    assert found[NEEDED_ANY].status == "unknown" and found[NEEDED_ANY].value is None


def test_bits_are_proved_for_all_words_and_a_search_has_fewer() -> None:
    """Of 7 stacks of two brackets, the traces of subset_sum have 6: an item that skips both groups has no solution."""
    task, stacks = tasks.make("subset_sum"), {""}
    assert isinstance(task, SearchTask)
    for row in task.sample(2, Seeds(0).draws("stacks", 2, items=range(300))).prompts:
        prompt, stack = task.spelled(row), ""
        for token in task.brackets(prompt, task.solve(prompt)).word:
            stack = stack + token[1] if token[0] == "(" else stack[:-1]
            stacks.add(stack)
    assert len(stacks) == 6 < Nesting(2, 2).configurations
    for name, said in (("subset_sum", True), ("tree_maze", True), ("dyck_k", False)):
        (bits,) = (claim for claim in bracket_claims(tasks.make(name), 4, 4) if claim.key == "depth.needed_bits")
        assert ("depth.every_word" in [one.key for one in bits.assumptions]) == said


@pytest.mark.parametrize("name", ["dyck_1", "sort", "parity"])
def test_a_task_without_bounded_brackets_has_no_view(name: str) -> None:
    assert bracket_claims(tasks.make(name), 4, 12) == [] and check(name, ("none",), quick=True).depth == ()


@pytest.mark.parametrize(
    ("name", "measured"), [pytest.param("subset_sum", True, marks=pytest.mark.system), ("tree_maze:branching=3", False)]
)
def test_check_says_where_the_measurement_stands(name: str, measured: bool, capsys) -> None:
    from lengthwise.cli import main

    assert main(["check", name, "--train-size", "3", "--test-size", "6", "--position", "rope", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    keys = {claim["key"] for claim in found["layers"]}
    assert ("layers.in_range" in keys) == ("layers.judged" in keys) == measured
    assert ("layers.unmeasured" in keys) != measured
    assert {claim["kind"] for claim in found["layers"]} == {"measured"}
    assert all(claim["reference"] for claim in found["layers"] if claim["status"] != "unknown")
