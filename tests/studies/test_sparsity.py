"""A study that asks for the sparsity of attention: in its file, its grid, its index, and when it is asked for later."""

import json
from pathlib import Path

import pytest

from lengthwise.errors import UsageError
from lengthwise.runs.run import carry_out
from lengthwise.studies.coordinator import _Work
from lengthwise.studies.grid import plans
from lengthwise.studies.planned import planned_records, run_key
from lengthwise.studies.rebuild import rebuild
from lengthwise.studies.record import read_finished
from lengthwise.studies.spec import Study
from lengthwise.studies.store import Store
from lengthwise.studies.worker import work
from small_runs import sealed_again


def asking(tiny_spec: Study, sparsity: bool = True) -> Study:
    return Study.from_plain({**tiny_spec.plain(), "sparsity": sparsity, "positions": ["none"], "seeds": 1})


def test_every_plan_asks(tiny_spec: Study) -> None:
    assert all(plan.sparsity for plan in plans(asking(tiny_spec)))
    assert not any(plan.sparsity for plan in plans(tiny_spec))
    assert all(record.sparsity == () for record in planned_records(plans(asking(tiny_spec))))
    assert all(record.sparsity is None for record in planned_records(plans(tiny_spec)))
    with pytest.raises(UsageError, match=r"^sparsity takes true or false, not 3$"):
        Study("a", ["sort"], sparsity=3)  # pyright: ignore


def test_a_finished_folder_is_read_with_it(tiny_spec: Study, tmp_path: Path) -> None:
    plan = plans(asking(tiny_spec))[0]
    run = carry_out(plan, tmp_path / run_key(plan))
    assert read_finished(run.folder).sparsity == run.sparsity and run.sparsity
    sealed_again(run.folder, sparsity=[{"size": 3}])
    with pytest.raises(UsageError, match="is damaged"):
        read_finished(run.folder)


def left(study: Study, folder: Path) -> list[str]:
    """The runs that a coordinator would give away."""
    todo = plans(study)
    with Store.open(folder, write=True) as store:
        store.plan(planned_records(todo))
        return list(_Work(study, folder, todo, store, lambda _: None).queue)


def test_asked_for_later_it_is_measured_and_nothing_is_trained_again(trained_study: Path, tiny_spec: Study) -> None:
    study = asking(tiny_spec)
    weights = {path: path.stat().st_mtime_ns for path in trained_study.glob("runs/*/model.safetensors")}
    assert left(asking(tiny_spec, sparsity=False), trained_study) == [], "they are done"
    keys = left(study, trained_study)
    assert len(keys) == 2
    for plan in plans(study):
        work(plan.plain(), str(trained_study / "runs" / run_key(plan)))
    assert left(study, trained_study) == []
    assert {path: path.stat().st_mtime_ns for path in weights} == weights
    with Store.open(trained_study) as store:
        assert all(run.sparsity and run.state == "done" for run in store.runs())
    place = trained_study / "runs" / keys[0] / "run.json"
    record = json.loads(place.read_text())
    del record["sparsity"]
    place.write_text(json.dumps(record))
    sealed_again(place.parent)
    (trained_study / "study.toml").write_text(study.toml())
    (trained_study / "index.sqlite").unlink()
    rebuild(trained_study)
    with Store.open(trained_study) as store:
        assert store.counts()["waiting"] == 1, "what lacks it is to be measured again"
