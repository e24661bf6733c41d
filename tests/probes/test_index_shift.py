"""Index shifts: nothing for encodings that see distances alone, and what a table has where it was moved to."""

import json
from dataclasses import replace

import pytest
import torch

from climbing import MAZE, SMALL, climbed_by, noisy
from lengthwise.errors import UsageError
from lengthwise.models.transformer import Transformer
from lengthwise.probes.index_shift import IndexShift, IndexShiftProbe, MovedItems, reaches
from lengthwise.probes.ladder.moving import moved
from lengthwise.probes.probe import Context
from lengthwise.records import Record
from lengthwise.runs.plan import Plan
from lengthwise.subjects.run import OwnSubject
from lengthwise.tasks import tasks
from lengthwise.tasks.ladder import ladder_of

PROBE = IndexShiftProbe(items=SMALL.items)


def shifted(model: Transformer, plan: Plan) -> IndexShift:
    return moved(PROBE, OwnSubject("the model", model), Context(plan.task, plan.train_size))


@pytest.mark.parametrize("position", ["rope", "alibi", "none"])
def test_encodings_that_see_distances_alone_do_not_change(position: str) -> None:
    found = shifted(*noisy(MAZE, position))
    assert found.increase == pytest.approx(0, abs=0.03)  # rounding may turn a tie
    assert all((row.changed or 0) <= 0.03 for row in found.rows)


def test_a_table_changes_only_by_what_it_holds_further_on() -> None:
    model, plan = noisy(MAZE, "learned")
    table = model.encoder.table.data
    table[:] = table[0].clone()
    still = shifted(model, plan)
    assert still.increase == 0 and still.changed == 0
    near = reaches(plan.task, plan.train_size)["training"]
    table[near:] = 3 * torch.randn(len(table) - near, table.shape[1], generator=torch.Generator().manual_seed(0))
    other = shifted(model, plan)
    assert other.still == still.still
    assert all((row.changed or 0) > 0.05 for row in other.rows)


@pytest.mark.parametrize("position", ["learned", "sinusoidal", "learned+offset"])
def test_shifts_reach_as_far_as_longer_levels_and_none_is_refused(position: str) -> None:
    model, plan = noisy(MAZE, position)
    found = shifted(model, plan)
    longer = [level for level in ladder_of(plan.task, plan.train_size) if level.axis == "depth"]
    assert [row.level for row in found.rows] == [level.name for level in longer]
    assert all(row.errors is not None for row in found.rows)
    assert [row.shift for row in found.rows] == sorted(row.shift for row in found.rows)
    assert replace(plan, probes=(*plan.probes, PROBE)).interface() == plan.interface()  # no more rows than the ladder
    if position == "learned":
        assert found.still == climbed_by(model, plan.task, plan.train_size, SMALL).points[0].errors


def test_inputs_that_fill_all_positions_in_training_say_why_nothing_moves() -> None:
    task = tasks.make("along:task=dyck_k:exact=true,axis=depth,at=12")
    assert list(reaches(task, 3)) == ["training"]
    claim = IndexShift((0.0, 0.5), ()).claim()
    assert claim.status == "unknown"
    assert [one.key for one in claim.assumptions if one.check == "violated"] == ["index_shift.longer"]


def test_positions_that_do_not_exist_have_no_risk() -> None:
    model, plan = noisy(MAZE, "learned")
    encoder = model.encoder
    encoder.table = torch.nn.Parameter(encoder.table.data[: reaches(plan.task, plan.train_size)["depth 3"]])
    first, *others = shifted(model, plan).rows
    assert first.errors is not None
    assert all((row.errors, row.changed) == (None, None) for row in others)


def test_the_record_survives_json() -> None:
    found = IndexShift((0.0, 0.5), (MovedItems("depth 3", 4, (0.5, 1.0), 0.25), MovedItems("depth 4", 9, None, None)))
    record = Record.from_plain(json.loads(json.dumps(found.record().plain(), allow_nan=False)))
    assert IndexShift.from_record(record) == found
    claim = record.claims[0]
    assert (claim.key, claim.value) == ("index_shift.increase", 0.5)
    assert "index_shift.no_position" in [a.key for a in claim.assumptions]


def test_refusals() -> None:
    model, plan = noisy(MAZE)
    with pytest.raises(UsageError):
        moved(PROBE, OwnSubject("the model", model), Context(plan.task, None))
    with pytest.raises(UsageError):
        IndexShiftProbe(items=1)
