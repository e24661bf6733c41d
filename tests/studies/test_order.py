"""The order in which a study takes its runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from lengthwise.studies import coordinator
from lengthwise.studies.coordinator import _Sitting
from lengthwise.studies.grid import planned_records, plans
from lengthwise.studies.spec import Study
from lengthwise.studies.store import Store


def test_many_runs_are_mixed_and_the_first_seeds_come_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study = Study("order", ["sort", "parity", "tomita_4"], ["none", "rope", "alibi"], seeds=2)
    todo = plans(study)
    with Store.open(tmp_path, write=True) as store:
        store.plan(planned_records(todo))
        few = _Sitting(study, tmp_path, todo, store, lambda _: None)
        assert [few.costs[key] for key in few.queue] == sorted(few.costs.values(), reverse=True)
        monkeypatch.setattr(coordinator, "_MANY", 10)
        many = _Sitting(study, tmp_path, todo, store, lambda _: None)
    order = [many.plans[key] for key in many.queue]
    assert [plan.seed for plan in order] == [0] * 9 + [1] * 9 and set(many.queue) == set(few.queue)
    assert len({plan.task_name for plan in order[:4]}) > 1, "not one task after the other"
