"""Studies with ladders: what lies where, what is measured again, what is read; and interruptions change nothing."""

from __future__ import annotations

import csv
import json
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lengthwise.analyses.content import read_content
from lengthwise.errors import UsageError
from lengthwise.probes.ladder.levels import Ladder
from lengthwise.probes.probe import ask
from lengthwise.progress import silent
from lengthwise.runs.run import load_run
from lengthwise.shift.level_shift import LevelShift
from lengthwise.studies import shifts
from lengthwise.studies.coordinator import carry_out_study
from lengthwise.studies.export import export
from lengthwise.studies.grid import plans, run_key
from lengthwise.studies.rebuild import rebuild
from lengthwise.studies.record import RunRecord
from lengthwise.studies.shifts import SHIFTS, complete_shifts, read_shifts
from lengthwise.studies.spec import Study
from lengthwise.studies.store import INDEX, RUNS, Store
from processes import kill_parent, wait_until
from small_runs import sealed_again

pytestmark = pytest.mark.system

FEW = "ladder:items=4,decoded=2,inside=2"
LADDER = "records/ladder-*.json"


def small(ladder: str = FEW, **more: Any) -> Study:
    given: dict[str, Any] = {
        "name": "small", "tasks": ["sort:alphabet=20", "binary_majority"], "positions": ["none", "rope"],
        "train_size": 3, "test_size": 6, "items": 10, "model": {"depth": 1, "width": 16, "heads": 2},
        "training": {"steps": 10, "batch": 8}, "override": [{"task": "sort:alphabet=20", "probes": ["curve", ladder]}],
    }  # fmt: skip
    return Study(**{**given, **more})


@pytest.fixture(autouse=True)
def few_items() -> Iterator[None]:
    """Distances from few items: what they are is the business of other tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shifts, "ITEMS", 20)
        yield


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ladders") / "small"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shifts, "ITEMS", 20)
        assert carry_out_study(small(), folder).done == 4
    return folder


def stamps(folder: Path, name: str) -> dict[str, int]:
    files = [(file.relative_to(folder / RUNS).parts[0], file) for file in (folder / RUNS).glob(f"*/{name}")]
    return {key: file.stat().st_mtime_ns for key, file in files}


def climbed_runs(folder: Path) -> list[tuple[RunRecord, Ladder]]:
    with Store.open(folder) as store:
        return [(run, Ladder.from_record(run.record("ladder"))) for run in store.runs(probe="ladder")]


def test_a_ladder_lies_in_the_folder_of_each_run_that_asks_for_one(kept: Path) -> None:
    asking = {run_key(plan) for plan in plans(small()) if len(plan.probes) > 1}
    assert set(stamps(kept, LADDER)) == asking and len(asking) == 2
    assert {run.key for run, _ in climbed_runs(kept)} == asking
    for run, ladder in climbed_runs(kept):
        found = load_run(kept / RUNS / run.key)
        probe = found.plan.probes[1]
        assert found.record("ladder") == run.record("ladder") and ladder.settings == probe
        assert ask(probe, found.subject(), found.plan.context(probe, silent)) == found.record("ladder")


def test_the_distances_lie_in_the_folder_of_the_study(kept: Path) -> None:
    rows = read_shifts(kept)
    ladder = climbed_runs(kept)[0][1]
    assert {(row["task"], row["train_size"]) for row in rows} == {("sort:alphabet=20", 3)}
    for metric in {row["metric"] for row in rows}:
        assert [LevelShift.from_plain(row).name for row in rows if row["metric"] == metric] == [
            point.name for point in ladder.points
        ]
    assert not list(kept.glob(".shift*")), "signs of life are gone"


def test_evidence_is_all_of_it(kept: Path) -> None:
    evidence = read_content(kept).evidence
    assert evidence is not None
    assert {climb.configuration for climb in evidence.climbs} == {
        ("sort:alphabet=20", position, 1, 16) for position in ("none", "rope")
    }
    assert len(evidence.shifts) == len(read_shifts(kept)) and evidence.metrics()


def test_the_same_command_does_nothing_and_another_ladder_trains_nothing(kept: Path, tmp_path: Path) -> None:
    folder = copied(kept, tmp_path)
    before = {name: stamps(folder, name) for name in ("run.json", LADDER, "model.safetensors", "records/curve.json")}
    assert carry_out_study(small(), folder).done == 4
    assert {name: stamps(folder, name) for name in before} == before
    assert carry_out_study(small("ladder:items=5,decoded=2,inside=2"), folder).done == 4
    assert all(stamps(folder, name) == before[name] for name in ("model.safetensors", "records/curve.json"))
    assert len(stamps(folder, "records/ladder-items=5*")) == 2
    unchanged = {key for key, stamp in stamps(folder, "run.json").items() if stamp == before["run.json"][key]}
    assert unchanged == set(before["run.json"]) - set(before[LADDER]), "only runs with a ladder are measured again"


def test_a_ladder_that_is_gone_is_measured_again_to_the_same_bytes(kept: Path, tmp_path: Path) -> None:
    folder = copied(kept, tmp_path)
    run = climbed_runs(folder)[0][0]
    (file,) = (folder / RUNS / run.key).glob(LADDER)
    before = file.read_bytes()
    file.unlink()
    assert carry_out_study(small(), folder).done == 4 and file.read_bytes() == before


def test_a_damaged_ladder_is_named_and_a_damaged_list_of_distances_too(kept: Path, tmp_path: Path) -> None:
    folder = copied(kept, tmp_path)
    run = climbed_runs(folder)[0][0]
    (file,) = (folder / RUNS / run.key).glob(LADDER)
    for content in ("{", "{}", "[]", "3", '{"points": 3}'):
        file.write_text(content)
        with pytest.raises(UsageError, match=rf"{run.key}/records/ladder-.*\.json"):
            load_run(folder / RUNS / run.key)
    assert file.name in rebuild(folder).damaged[run.key]
    for content in ("{", "{}", "[3]", '[{"task": "x"}]'):
        (folder / SHIFTS).write_text(content)
        with pytest.raises(UsageError, match=r"shifts\.json"):
            read_shifts(folder)


def test_missing_distances_are_measured_on_demand(kept: Path, tmp_path: Path) -> None:
    folder = copied(kept, tmp_path)
    before = (folder / SHIFTS).read_bytes()
    heard: list[str] = []

    def hear(done: str, *_: int) -> None:
        heard.append(done)

    assert complete_shifts(folder, hear) == {} and heard == []
    (folder / SHIFTS).write_text("{", encoding="utf-8")
    assert complete_shifts(folder, hear) == {} and len(heard) == 1 and "sort:alphabet=20" in heard[0]
    assert (folder / SHIFTS).read_bytes() == before


def test_the_index_can_be_made_anew(kept: Path, tmp_path: Path) -> None:
    folder = copied(kept, tmp_path)
    (folder / INDEX).unlink()
    assert rebuild(folder).counts["done"] == 4 and len(climbed_runs(folder)) == 2
    key = climbed_runs(folder)[0][0].key
    next((folder / RUNS / key).glob(LADDER)).unlink()
    rebuilt = rebuild(folder)
    assert (rebuilt.counts["done"], rebuilt.counts["failed"]) == (3, 1) and key in rebuilt.damaged
    assert carry_out_study(small(), folder).done == 4, "it is measured again"


def test_a_study_without_ladders_has_none_of_it(trained_once: Path, tmp_path: Path) -> None:
    assert climbed_runs(trained_once) == [] == read_shifts(trained_once)
    assert complete_shifts(trained_once) == {} and not (trained_once / SHIFTS).exists()
    assert read_content(trained_once).evidence is None
    with Store.open(trained_once) as store, pytest.raises(UsageError, match=r"no finished run .* 'ladder'; .* curve"):
        export(store, tmp_path / "x.csv", "ladder")


def exported(folder: Path, path: Path) -> int:
    with Store.open(folder) as store:
        return export(store, path, "ladder", "ladder.levels")


def test_export_has_a_row_for_each_run_and_level(kept: Path, tmp_path: Path) -> None:
    many = exported(kept, tmp_path / "ladder.csv")
    with (tmp_path / "ladder.csv").open(newline="") as file:
        rows = iter(list(csv.DictReader(file)))
    climbed, far = climbed_runs(kept), {(r["axis"], r["value"], r["metric"]): r for r in read_shifts(kept)}
    assert many == sum(len(ladder.points) for _, ladder in climbed) == 12
    for run, ladder in climbed:
        for point in ladder.points:
            row = next(rows)
            assert (row["key"], row["level"], row["depth"]) == (run.key, point.name, "1")
            assert float(row["risk"]) == point.risk and float(row["token"]) == point.token
            assert float(row["ece"]) == point.calibration.error and int(row["solved"]) == point.solved
            assert float(row["w1_edit"]) == far[point.axis, point.value, "edit"]["w1"]
    (kept_elsewhere := copied(kept, tmp_path)).joinpath(SHIFTS).unlink()
    assert exported(kept_elsewhere, tmp_path / "ladder.parquet") == many


def test_of_two_training_sizes_of_one_task_the_larger_is_looked_at(kept: Path, tmp_path: Path) -> None:
    folder = copied(kept, tmp_path)
    file = next((folder / RUNS).glob(f"*/{LADDER}"))
    data = json.loads(file.read_text())
    file.write_text(json.dumps({**data, "data": {**data["data"], "train_size": 4}}))
    sealed_again(file.parents[1])
    rebuild(folder)
    evidence = read_content(folder).evidence
    assert evidence is not None and evidence.shifts == (), "distances are those of the other size"
    assert [climb.ladder.train_size for climb in evidence.climbs] == [4]


def test_reading_needs_no_torch(kept: Path) -> None:
    code = (
        "import sys; from lengthwise.analyses.content import read_content; from lengthwise.studies.shifts import "
        f"complete_shifts; from pathlib import Path; assert read_content(Path({str(kept)!r})).evidence; "
        f"complete_shifts(Path({str(kept)!r})); sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_kills_at_random_moments_change_no_ladder(tmp_path: Path, kept: Path) -> None:
    spec, folder = tmp_path / "small.toml", tmp_path / "kept"
    spec.write_text(small().toml(), encoding="utf-8")
    code = f"""
from pathlib import Path
from lengthwise.studies import shifts
from lengthwise.studies.coordinator import carry_out_study
from lengthwise.studies.spec import Study
shifts.ITEMS = 20
carry_out_study(Study.read({str(spec)!r}), Path({str(folder)!r}))
"""
    moments = random.Random(3)
    for kill in range(2):
        process = subprocess.Popen([sys.executable, "-c", code], text=True)
        wait_until(lambda: beaten(folder, kill) or process.poll() is not None)  # noqa: B023
        time.sleep(moments.uniform(0, 0.4))  # nothing is waited for: any moment must do
        kill_parent(process)
    assert carry_out_study(small(), folder).done == 4
    files = [*(file.relative_to(kept) for file in (kept / RUNS).glob(f"*/{LADDER}")), Path(SHIFTS)]
    assert len(files) == 3
    for file in files:
        assert (folder / file).read_bytes() == (kept / file).read_bytes()
    with Store.open(folder) as store:
        assert store.counts()["done"] == 4


def beaten(folder: Path, kill: int) -> bool:
    """Whether the work has come so far: first a run that climbs its ladder, then a distance that is measured."""
    if kill:
        return bool(list(folder.glob(".shift*")))
    try:
        return any("solved" in beat.read_text() for beat in (folder / RUNS).glob("*/beat.json"))
    except OSError:  # it was there a moment ago
        return False


def copied(kept: Path, tmp_path: Path) -> Path:
    import shutil

    return Path(shutil.copytree(kept, tmp_path / "copy"))
