"""A study that asks for a probe: in its file, its grid, its index, and when it is asked for later."""

from pathlib import Path

import pytest

from lengthwise.errors import UsageError
from lengthwise.probes.curve import CurveProbe
from lengthwise.probes.sparsity import SparsityProbe
from lengthwise.runs.run import carry_out
from lengthwise.studies.coordinator import _Sitting
from lengthwise.studies.grid import planned_records, plans, run_key
from lengthwise.studies.rebuild import rebuild
from lengthwise.studies.record import read_finished
from lengthwise.studies.spec import Study
from lengthwise.studies.store import Store
from lengthwise.studies.worker import work

BOTH = ["curve", "sparsity:items=8"]


def asking(tiny_spec: Study, *probes: str) -> Study:
    return Study.from_plain({**tiny_spec.plain(), "probes": list(probes), "positions": ["none"], "seeds": 1})


def test_every_plan_asks(tiny_spec: Study) -> None:
    study = asking(tiny_spec, *BOTH)
    assert all(plan.probes == (CurveProbe(), SparsityProbe(8)) for plan in plans(study))
    assert all(set(record.asked) == {"curve", "sparsity-items=8"} for record in planned_records(plans(study)))
    assert all(plan.probes == (CurveProbe(),) for plan in plans(tiny_spec))
    with pytest.raises(UsageError, match=r"^probes takes a text, not 3$"):
        Study("a", ["sort"], probes=3)  # pyright: ignore
    with pytest.raises(UsageError, match="unknown probe 'sparsty'; did you mean 'sparsity'"):
        plans(asking(tiny_spec, "sparsty"))


def test_a_finished_folder_is_read_with_it(tiny_spec: Study, tmp_path: Path) -> None:
    plan = plans(asking(tiny_spec, *BOTH))[0]
    run = carry_out(plan, tmp_path / run_key(plan))
    found = read_finished(run.folder)
    assert found.record("sparsity") == run.record("sparsity") and found.answers(plan.asked())
    assert found.curve == run.curve and not found.answers({"other": {}})
    (run.folder / "records" / "sparsity-items=8.json").write_text("{}")
    with pytest.raises(UsageError, match=r"sparsity-items=8\.json is not the file that was saved"):
        read_finished(run.folder)


def left(study: Study, folder: Path) -> list[str]:
    """The runs that a coordinator would give away."""
    todo = plans(study)
    with Store.open(folder, write=True) as store:
        store.plan(planned_records(todo))
        return list(_Sitting(study, folder, todo, store, lambda _: None).queue)


def test_asked_for_later_it_is_measured_and_nothing_is_trained_again(trained_study: Path, tiny_spec: Study) -> None:
    study = asking(tiny_spec, *BOTH)
    weights = {path: path.stat().st_mtime_ns for path in trained_study.glob("runs/*/model.safetensors")}
    assert left(asking(tiny_spec, "curve"), trained_study) == [], "they are done"
    keys = left(study, trained_study)
    assert len(keys) == 2
    for plan in plans(study):
        work(plan.plain(), str(trained_study / "runs" / run_key(plan)))
    assert left(study, trained_study) == []
    assert {path: path.stat().st_mtime_ns for path in weights} == weights
    with Store.open(trained_study) as store:
        assert all(run.record("sparsity") and run.state == "done" for run in store.runs())
        assert [list(run.stored) for run in store.runs(probe="sparsity")] == [["sparsity-items=8"]] * 2
    assert left(asking(tiny_spec, "curve"), trained_study) == [], "a record more does no harm"
    (trained_study / "runs" / keys[0] / "records" / "sparsity-items=8.json").unlink()
    assert left(study, trained_study) == keys[:1], "the damaged record is to be measured again"
    with Store.open(trained_study) as store:
        (waiting,) = store.runs("waiting")
    assert "sparsity-items=8.json cannot be read" in waiting.reason
    (trained_study / "study.toml").write_text(study.toml())
    (trained_study / "index.sqlite").unlink()
    assert "sparsity-items=8.json cannot be read" in rebuild(trained_study).damaged[keys[0]]
