"""Theorem 3.5: its premise is counted, its conclusion tested, and a counterexample found where there is one."""

from __future__ import annotations

from typing import cast

import pytest

from lengthwise.oracle.locality.dag import graph_record, step_graph
from lengthwise.oracle.locality.premise import Clash, computed, find_clash, most_shared, premise_claims
from lengthwise.oracle.locality.settle import distance
from lengthwise.oracle.locality.steps import formulation_steps, remembered
from lengthwise.tasks import tasks
from lengthwise.tasks.formulations.formulation import Formulation


def made(name: str) -> Formulation:
    return cast(Formulation, tasks.make(name))


def claims_of(name: str, sizes: range) -> dict:
    steps = remembered(formulation_steps(made(name)))
    found = premise_claims(steps, list(sizes), distance(steps, sizes).value)
    return {claim.key: claim for claim in found}


@pytest.mark.parametrize(
    ("name", "sizes"),
    [
        ("parity_leftmost", range(1, 7)),
        ("parity_columns", range(1, 6)),
        ("addition_three_lines", range(1, 4)),
        ("division_columns", range(1, 5)),
        ("arithmetic_flat:prime=2", range(1, 4)),
    ],
)
def test_where_the_premise_holds_so_does_the_conclusion(name: str, sizes: range) -> None:
    found = claims_of(name, sizes)
    assert found["premise.one_step"].value == 1 and found["premise.one_step"].status == "holds"
    assert found["premise.four_r"].status == "holds" and found["premise.four_r"].kind == "measured"


def test_the_leftmost_redex_is_a_counterexample() -> None:
    found = claims_of("arithmetic_flat_leftmost:prime=2", range(1, 4))
    assert found["premise.one_step"].status == "holds"
    claim = found["premise.four_r"]
    assert (claim.status, claim.kind, claim.evidence["r"]) == ("refuted", "proved", 9)
    steps = formulation_steps(made("arithmetic_flat_leftmost:prime=2"))
    clash = find_clash(steps, 9, [1, 2, 3])
    assert clash is not None and clash.real
    task = made("arithmetic_flat_leftmost:prime=2")
    for state, place, label in (clash.one, clash.other):  # the labels are the task's own
        assert task.labels(state)[place] == label
    assert find_clash(steps, 11, [1, 2, 3]) is None
    assert not Clash(9, clash.one, clash.one).real


@pytest.mark.parametrize(("name", "most"), [("addition_marked", 4), ("copy_pointer", 3)])
def test_a_column_read_by_several_steps_breaks_the_premise(name: str, most: int) -> None:
    found = claims_of(name, range(1, 4))
    assert found["premise.one_step"].value == most and found["premise.one_step"].status == "refuted"
    assert found["premise.one_step"].evidence["note"]


def test_carried_columns_are_no_steps() -> None:
    task = made("parity_columns")
    (start,) = [next(iter(task.instances(3)))]
    for move in task.moves(start):
        assert len(computed(move)) == 1
    assert most_shared(formulation_steps(task), [3])[0] == 1


def test_the_graph_has_the_sources_of_every_column() -> None:
    for name in ("addition_columns", "arithmetic_flat_leftmost", "parity_appended"):
        task = made(name)
        graph, size = step_graph(task, 3, seed=1)
        assert size == 3
        wanted = {(s, i, j) for s, m in enumerate(graph.moves) for j, own in enumerate(m.sources) for i in own}
        assert {edge[:3] for edge in graph.edges} == wanted and len(graph.edges) == len(wanted)
        record = graph_record(task, 3, seed=1)
        (figure,) = record.figures
        assert len(figure.data["edges"]) == len(wanted)
        states = [graph.moves[0].state, *(move.after for move in graph.moves)]
        assert [row["text"] for row in figure.data["nodes"]] == ["|".join(c) for state in states for c in state]
        distances = [row["distance"] for row in record.table("dag.steps").records()]
        assert max(distances) == max(own[-1] - own[0] for move in graph.moves for own in move.sources)
