"""A run keeps the record of every probe of its plan; a probe that is asked later trains nothing again."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from lengthwise.errors import UsageError
from lengthwise.probes.curve import CurveProbe
from lengthwise.probes.sparsity import SparsityProbe
from lengthwise.runs.plan import Plan, plan_for
from lengthwise.runs.run import Run, carry_out, load_run

SMALL = {"depth": 2, "width": 16, "heads": 1, "steps": 3, "batch": 4}
PLAN = plan_for("binary_majority", "rope", SMALL, train_size=3, test_size=7, items=5)
LOOKED = replace(PLAN, probes=(CurveProbe(), SparsityProbe()))


def done(plan: Plan, folder: Path) -> tuple[Run, list[str]]:
    """The run, and what was done for it."""
    told: list[str] = []
    return carry_out(plan, folder, lambda text, *_: told.append(text.partition(" ")[0])), list(dict.fromkeys(told))


def test_the_plan_says_so_and_the_weights_do_not_depend_on_it() -> None:
    assert LOOKED.digest() == PLAN.digest() and Plan.from_plain(json.loads(json.dumps(LOOKED.plain()))) == LOOKED
    assert replace(PLAN, probes=(SparsityProbe(),)) == LOOKED, "the curve is always measured"


def test_a_probe_that_is_asked_later_is_measured_alone(tmp_path: Path) -> None:
    run, told = done(PLAN, tmp_path)
    assert told == ["training:", "size"] and list(run.records) == ["curve"]
    run, told = done(LOOKED, tmp_path)
    assert told == ["attention"] and list(run.records) == ["curve", "sparsity"]
    rows = run.record("sparsity").table("sparsity.rows").rows
    assert [row[:2] for row in rows] == [(3, 1), (3, 2), (6, 1), (6, 2), (7, 1), (7, 2)]
    again, told = done(LOOKED, tmp_path)
    assert not told and again == run == load_run(tmp_path)
    assert done(PLAN, tmp_path)[1] == [], "what is there stays"
    assert done(replace(LOOKED, probes=(SparsityProbe(8),)), tmp_path)[1] == ["attention"], "another record"
    assert len(load_run(tmp_path).records) == 3


def test_a_damaged_record_is_named_and_measured_again_alone(tmp_path: Path) -> None:
    run, _ = done(LOOKED, tmp_path)
    path = tmp_path / "records" / "sparsity.json"
    path.write_text(path.read_text().replace("entropy", "entropie", 1))
    with pytest.raises(UsageError, match=r"records/sparsity\.json is not the file that was saved"):
        load_run(tmp_path)
    again, told = done(LOOKED, tmp_path)
    assert told == ["attention"] and again == run == load_run(tmp_path)
    path.unlink()
    with pytest.raises(UsageError, match=r"records/sparsity\.json cannot be read"):
        load_run(tmp_path)
    assert done(LOOKED, tmp_path)[1] == ["attention"]
    with pytest.raises(UsageError, match="has no record of 'ladder'; it has curve, sparsity"):
        run.record("ladder")
