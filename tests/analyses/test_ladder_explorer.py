"""The data of the trace explorer: every attempt can be put together again, and what cannot be drawn is not."""

from __future__ import annotations

import dataclasses

import pytest

from lengthwise.analyses.evidence import Climb, Evidence
from lengthwise.analyses.ladder.traces import END, explorer
from lengthwise.probes.ladder.levels import Example
from synthetic_ladders import synthetic_evidence


@pytest.fixture(scope="module")
def evidence() -> Evidence:
    return synthetic_evidence(["countdown", "tree_maze"], depths=(1, 2), widths=(16,), seeds=(3, 5))


def with_examples(evidence: Evidence, *examples: Example, task: str = "subset_sum") -> Evidence:
    climb = evidence.climbs[0]
    ladder = dataclasses.replace(climb.ladder, examples=examples, task=task)
    return Evidence((Climb(task, climb.position, 1, 16, 0, ladder),), ())


def test_every_attempt_of_the_first_seed_is_there_and_whole(evidence):
    found = explorer(evidence)
    first = [climb for climb in evidence.climbs if climb.seed == 3]
    examples = [example for climb in first for example in climb.ladder.examples]
    assert found.several_seeds and len(found.data["attempts"]) == len(examples)
    for attempt, example in zip(found.data["attempts"], examples, strict=True):
        problem = found.data["problems"][attempt["problem"]]
        before = problem["truth"] if attempt["at"] is None else problem["truth"][: attempt["at"]]
        assert " ".join([*before, *attempt["rest"]]) == example.written
        assert problem["prompt"] == example.prompt and " ".join(problem["truth"]) == example.truth
        assert problem["tree"] is not None and len(problem["tree"]["steps"]) > 0


def test_a_problem_is_kept_once(evidence):
    found = explorer(evidence)
    keys = {(c.task, e.level, e.prompt) for c in evidence.climbs for e in c.ladder.examples}
    assert len(found.data["problems"]) == len(keys) < len(found.data["attempts"])


def test_levels_are_read_by_their_own_rules(evidence):
    """A trace of a wider search is none of the training task."""
    wide = next(e for e in evidence.climbs[0].ladder.examples if e.level.startswith("branching"))
    for level, drawn in ((wide.level, True), ("training", False), ("gone 5", False)):
        found = explorer(with_examples(evidence, dataclasses.replace(wide, level=level), task="countdown"))
        assert (found.data["problems"][0]["tree"] is not None) == drawn


@pytest.mark.wording
def test_the_end_of_a_trace_can_be_the_mistake(evidence):
    truth = "+ 5 1 < + 5 6 - 5 6 + 2 4 + 4 0"
    too_long = Example("training", "6 | 5 | 2 | 4", truth, truth + " + 4", 16, False, False, "it goes on")
    too_short = Example("training", "6 | 5 | 2 | 4", truth, "+ 5 1", 3, False, False, "it ends before the goal")
    found = explorer(with_examples(evidence, too_long, too_short))
    assert [attempt["rest"] for attempt in found.data["attempts"]] == [["+", "4"], []]
    assert f"`+` instead of `{END}`" in found.sentences[1]


@pytest.mark.parametrize("task", ["sort", "gone.py::Task", "subset_sum"])
def test_what_is_no_search_by_now_has_no_tree(evidence, task):
    example = Example("training", "3 1 2", "1 2 3", "1 3 2", 1, False, False, "the answer is another one")
    found = explorer(with_examples(evidence, example, task=task))
    assert found.data["problems"][0]["tree"] is None and found.data["attempts"][0]["rest"] == ["3", "2"]


def test_no_examples_no_explorer(evidence):
    assert explorer(with_examples(evidence)) is None
