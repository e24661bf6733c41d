"""An index made anew from the run folders: equal to the lost one, honest about damage, whole at every moment."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from half_write import half_write
from lengthwise.errors import UsageError
from lengthwise.studies import rebuild as module
from lengthwise.studies.coordinator import _Sitting
from lengthwise.studies.grid import planned_records, plans, run_key
from lengthwise.studies.lock import locked
from lengthwise.studies.rebuild import OLD, check_run, rebuild
from lengthwise.studies.store import INDEX, RUNS, Store

DAMAGES = {
    "weights cut": lambda run: os.truncate(run / "model.safetensors", 100),
    "weights gone": lambda run: (run / "model.safetensors").unlink(),
    "one bit of the weights": lambda run: _flip(run / "model.safetensors"),
    "config gone": lambda run: (run / "config.json").unlink(),
    "config of another kind": lambda run: (run / "config.json").write_text("[1]"),
    "curve gone": lambda run: (run / "records/curve.json").unlink(),
    "curve cut": lambda run: os.truncate(run / "records/curve.json", 200),
    "curve empty": lambda run: (run / "records/curve.json").write_text("{}"),
    "record cut": lambda run: os.truncate(run / "run.json", 100),
    "record empty": lambda run: os.truncate(run / "run.json", 0),
    "not a number": lambda run: _edit(run / "run.json", '"losses": [', '"losses": [[1, NaN],'),
    "text for a number": lambda run: _edit(run / "run.json", '"seconds": ', '"seconds": "x", "was": '),
    "no items": lambda run: _edit(run / "records/curve.json", '"rows": [[1, 10', '"rows": [[1, 0'),
    "seed of another": lambda run: _edit(run / "run.json", '"seed": 0', '"seed": 7'),
}


def _flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)


def _edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def places(folder: Path) -> list[Path]:
    return sorted((folder / RUNS).iterdir())


def test_a_lost_index_comes_back_as_it_was(trained_study, contents):
    before = contents(trained_study)
    (trained_study / INDEX).unlink()
    rebuilt = rebuild(trained_study)
    after = contents(trained_study)
    assert after["runs"] == before["runs"] and rebuilt.counts == {"waiting": 1, "running": 0, "done": 7, "failed": 0}
    made, noted = after["facts"], before["facts"]
    assert made["command"].startswith("lengthwise study") and made["environment"]["threads"] == 1
    assert {**made, "environment": 0, "command": 0} == {**noted, "environment": 0, "command": 0}
    assert not rebuilt.damaged and not rebuilt.remarks and not (trained_study / OLD).exists()


def test_a_whole_index_loses_nothing(trained_study, contents):
    with Store.open(trained_study, write=True) as store:
        runs = store.runs(detail=False)
        store.mark(runs[-1].key, "failed", "ValueError: broke", attempts=2)
        store.mark(runs[0].key, "done", "", attempts=1)
        store.mark_tracked(runs[0].key, "mlflow")
        store.mark_tracked(runs[0].key, "trackio")
        store.note("command", "lengthwise study tiny.toml")
    before = contents(trained_study)
    rebuild(trained_study)
    assert contents(trained_study) == before and not (trained_study / OLD).exists()


@pytest.mark.parametrize("garbage", [b"", b"garbage " * 999, None])
def test_a_damaged_index_is_kept_beside(trained_study, contents, garbage):
    before = contents(trained_study)
    path = trained_study / INDEX
    if garbage is None:  # the header is whole, a page in the midst is not
        content = bytearray(path.read_bytes())
        content[3 * 4096 : -4096] = b"\xff" * (len(content) - 4 * 4096)
        garbage = bytes(content)
    path.write_bytes(garbage)
    rebuild(trained_study)
    assert (trained_study / OLD).read_bytes() == garbage
    assert contents(trained_study)["runs"] == before["runs"]


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_run_is_named_and_the_others_are_taken_in(trained_study, damage):
    broken = places(trained_study)[0]
    DAMAGES[damage](broken)
    (trained_study / INDEX).unlink()
    rebuilt = rebuild(trained_study)
    assert list(rebuilt.damaged) == [broken.name] and rebuilt.counts["done"] == 6
    sentence = rebuilt.damaged[broken.name]
    assert str(broken) in sentence and "\n" not in sentence
    with Store.open(trained_study) as store:
        (failed,) = store.runs("failed")
    assert failed.key == broken.name and failed.reason == sentence


def test_a_folder_under_the_name_of_another_is_noticed(trained_study):
    one, two = places(trained_study)[:2]
    shutil.rmtree(two)
    shutil.copytree(one, two)
    assert list(rebuild(trained_study).damaged) == [two.name]
    with pytest.raises(UsageError, match="another run"):
        check_run(two, next(run for run in Store.open(trained_study).runs() if run.key == two.name))


def test_without_the_specification_the_finished_runs_are_found(trained_study, contents):
    before = contents(trained_study)["runs"]
    (trained_study / INDEX).unlink()
    (trained_study / "study.toml").write_text("tasks = [")
    rebuilt = rebuild(trained_study)
    after = {run.key: run for run in contents(trained_study)["runs"]}
    assert after == {run.key: run for run in before if run.state == "done"}
    assert len(rebuilt.remarks) == 1 and "study.toml" in rebuilt.remarks[0]


def test_without_the_specification_a_whole_index_says_what_is_planned(trained_study, contents):
    before = contents(trained_study)
    (trained_study / "study.toml").unlink()
    assert rebuild(trained_study).counts["waiting"] == 1
    assert contents(trained_study)["runs"] == before["runs"]


def test_unfinished_folders_and_stray_files_are_no_damage(trained_study):
    unfinished = places(trained_study)[0]
    (unfinished / "run.json").unlink()
    (trained_study / RUNS / "notes.txt").write_text("mine")
    (trained_study / RUNS / "empty").mkdir()
    rebuilt = rebuild(trained_study)
    assert not rebuilt.damaged and rebuilt.counts["done"] == 6 and rebuilt.counts["waiting"] == 2


def test_a_run_measured_otherwise_waits(trained_study, tiny_spec):
    text = (trained_study / "study.toml").read_text()
    (trained_study / "study.toml").write_text(text.replace("items = 10", "items = 11"))
    (trained_study / INDEX).unlink()
    assert rebuild(trained_study).counts == {"waiting": 8, "running": 0, "done": 0, "failed": 0}


def test_runs_no_longer_asked_for_are_kept_apart(trained_study, tiny_spec):
    from lengthwise.studies.grid import plans

    text = (trained_study / "study.toml").read_text()
    (trained_study / "study.toml").write_text(text.replace('positions = ["none", "rope"]', 'positions = ["none"]'))
    (trained_study / INDEX).unlink()
    assert rebuild(trained_study).counts == {"waiting": 0, "running": 0, "done": 4, "failed": 0}
    with Store.open(trained_study, write=True) as store:
        store.plan(planned_records(plans(tiny_spec)))
        assert store.counts()["done"] == 7


def test_it_waits_for_no_coordinator(trained_study):
    before = (trained_study / INDEX).read_bytes()
    with locked(trained_study, "the study"), pytest.raises(UsageError, match=f"process {os.getpid()}"):
        rebuild(trained_study)
    assert (trained_study / INDEX).read_bytes() == before


def test_nothing_to_make_an_index_from(tmp_path):
    with pytest.raises(UsageError, match="no run folders"):
        rebuild(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_writer_left_does_not_reach_the_new_index(trained_study, contents):
    """A journal of the old index would be played back into the new one by the next reader."""
    before = contents(trained_study)["runs"]
    half_write(trained_study / INDEX)
    journal = trained_study / f"{INDEX}-journal"
    assert journal.stat().st_size > 0
    content = bytearray((trained_study / INDEX).read_bytes())
    content[:16] = bytes(16)  # damaged beyond what the journal could mend
    (trained_study / INDEX).write_bytes(content)
    rebuild(trained_study)
    assert not journal.exists()
    assert contents(trained_study)["runs"] == before


@pytest.mark.parametrize("moment", ["_enter", "_take_over", "_put"])
def test_an_accident_leaves_the_old_index(trained_study, contents, moment, monkeypatch):
    before = contents(trained_study)

    def broken(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(module, moment, broken)
        with pytest.raises((UsageError, OSError)):
            rebuild(trained_study)
    assert contents(trained_study) == before
    assert not [path for path in trained_study.iterdir() if path.name.startswith(".rebuild")]


def test_keys_are_the_names_of_the_folders(trained_study, tiny_spec):
    from lengthwise.studies.grid import plans

    assert {run_key(plan) for plan in plans(tiny_spec)[:-1]} == {place.name for place in places(trained_study)}


@pytest.mark.parametrize("damage", ["one bit of the weights", "weights gone", "config gone"])
def test_a_damaged_run_is_never_counted_as_done(trained_study, tiny_spec, damage):
    """Rebuilt, resumed, rebuilt again: nobody forgets what was found, and mending the folder mends the study."""
    broken = places(trained_study)[0]
    kept = shutil.copytree(broken, trained_study.parent / "kept")
    DAMAGES[damage](broken)
    for _ in range(2):
        with Store.open(trained_study, write=True) as store:  # what a coordinator does first
            work = _Sitting(tiny_spec, trained_study, plans(tiny_spec), store, lambda _: None)
            assert broken.name not in work.queue
            assert store.counts() == {"waiting": 1, "running": 0, "done": 6, "failed": 1}
            (failed,) = store.runs("failed")
            assert failed.key == broken.name and "delete" in failed.reason
        assert rebuild(trained_study).damaged.keys() == {broken.name}
    shutil.rmtree(broken)
    shutil.copytree(kept, broken)
    with Store.open(trained_study, write=True) as store:
        _Sitting(tiny_spec, trained_study, plans(tiny_spec), store, lambda _: None)
        assert store.counts()["done"] == 7


def test_a_damaged_curve_is_measured_again_and_nothing_else(trained_study, tiny_spec):
    broken = places(trained_study)[0]
    DAMAGES["curve cut"](broken)
    assert "records/curve.json" in rebuild(trained_study).damaged[broken.name]
    with Store.open(trained_study, write=True) as store:
        work = _Sitting(tiny_spec, trained_study, plans(tiny_spec), store, lambda _: None)
        assert broken.name in work.queue and store.counts() == {"waiting": 2, "running": 0, "done": 6, "failed": 0}
        assert any("records/curve.json" in run.reason for run in store.runs("waiting"))
