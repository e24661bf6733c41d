"""What the page is told of a folder: runs, studies, what changes, and folders that are damaged or half written."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from lengthwise.errors import UsageError
from lengthwise.integrity import JOURNAL, PLAN, RUN
from lengthwise.studies.lock import BEAT, locked
from lengthwise.studies.record import RunRecord
from lengthwise.studies.store import INDEX, RUNS, SPECIFICATION, Store
from lengthwise.training.journal import add_to_journal, begin_journal
from lengthwise.view import places, study_place
from lengthwise.view.watch import FolderWatch
from synthetic_runs import write_plan, write_run


class Follower:
    """A page that is open: the rows it has, by their paths."""

    def __init__(self, folder: Path) -> None:
        self.watch, self.cursor = FolderWatch(folder, pause=0.0), ""
        self.rows: dict[str, dict] = {}
        self.told: list[str] = []

    def look(self) -> dict[str, dict]:
        self.watch.look_at_all()
        found = self.watch.changes(self.cursor)
        gone = {path for path, row in self.rows.items() if row["id"] in found["gone"]}
        self.rows = {path: row for path, row in self.rows.items() if path not in gone}
        self.rows.update({row["path"]: row for row in found["rows"]})
        self.told, self.cursor = sorted(row["path"] for row in found["rows"]), found["cursor"]
        return self.rows


def settle(folder: Path) -> None:
    """Make everything below a folder look old, so that nothing is read twice to be safe."""
    for path in [folder, *folder.rglob("*")]:
        os.utime(path, (1e9, 1e9 + hash(path.name) % 1000))


def planned(key: str, **more: object) -> RunRecord:
    return RunRecord(key, "sort", "rope", "", 0, 4, 12, 10, **more)  # pyright: ignore[reportArgumentType]


@pytest.fixture
def small_study(tmp_path: Path, synthetic_study: Callable[..., Path]) -> Path:
    return synthetic_study(tmp_path / "home" / "small", ["sort"], ["none", "rope"], seeds=2)


def test_a_finished_run_is_a_row(tmp_path: Path) -> None:
    write_run(tmp_path / "one", edge=8)
    (row,) = Follower(tmp_path).look().values()
    assert (row["path"], row["task"], row["design"], row["state"], row["records"]) == (
        "one", "sort", "rope", "done", ["curve"]
    )  # fmt: skip
    assert (row["reach"], row["in_range"], row["twice"], row["thrice"]) == (8, 1.0, 1.0, 0.0)


def test_runs_are_found_in_folders_of_folders_and_by_themselves(tmp_path: Path) -> None:
    write_run(tmp_path / "group" / "deep" / "seed-0")
    write_run(tmp_path / "one")
    (tmp_path / "bench").mkdir()
    (tmp_path / "bench" / "results.json").write_text("{}")
    assert sorted(Follower(tmp_path).look()) == ["group/deep/seed-0", "one"]
    assert list(Follower(tmp_path / "one").look()) == ["one"]
    with pytest.raises(UsageError):
        FolderWatch(tmp_path / "nowhere")


def test_what_is_known_is_not_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a", "b"):
        write_run(tmp_path / name)
    settle(tmp_path)
    page = Follower(tmp_path)
    page.look()
    read: list[str] = []
    glance = places.glance_at_run
    monkeypatch.setattr(places, "glance_at_run", lambda folder: read.append(folder.name) or glance(folder))
    page.look()
    assert read == [] and page.told == []
    write_run(tmp_path / "b", edge=5)
    page.look()
    assert read == ["b"] and page.told == ["b"] and page.rows["b"]["reach"] == 5
    write_run(tmp_path / "c")
    assert "c" in page.look() and set(read) == {"b", "c"}, "b may be read twice, as it changed within a tick"


def test_a_run_that_is_removed_is_gone(tmp_path: Path) -> None:
    write_run(tmp_path / "one")
    page = Follower(tmp_path)
    page.look()
    shutil.rmtree(tmp_path / "one")
    assert page.look() == {}
    write_plan(tmp_path / "one")
    assert page.look()["one"]["state"] == "running"


def test_a_run_in_training_grows(tmp_path: Path) -> None:
    folder = write_plan(tmp_path / "one")
    begin_journal(folder / JOURNAL, [(100, 2.0)], [(100, 0.25)])
    page = Follower(tmp_path)
    row = page.look()["one"]
    assert (row["state"], row["step"], row["steps"], row["loss"], row["share"]) == ("running", 100, 200, 2.0, 0.25)
    asked = page.watch.changes(page.cursor, [(row["id"], 0, 0)])["journals"]
    assert asked == {str(row["id"]): {"turn": 1, "first": 0, "entries": [(100, 2.0, 0.25)]}}
    add_to_journal(folder / JOURNAL, 200, 1.0, 0.5)
    assert page.look()["one"]["loss"] == 1.0
    known = page.watch.changes(page.cursor, [(row["id"], 1, 1)])["journals"][str(row["id"])]
    assert known["entries"] == [(200, 1.0, 0.5)] and known["first"] == 1
    (folder / PLAN).unlink()
    write_run(folder)
    assert page.look()["one"]["state"] == "done"
    assert page.watch.changes(page.cursor, [(row["id"], 1, 2), (77, 0, 0)])["journals"] == {}


def test_a_run_without_a_sign_of_life_is_not_called_running(tmp_path: Path) -> None:
    folder = write_plan(tmp_path / "one")
    settle(folder)
    assert Follower(tmp_path).look()["one"]["state"] == "stopped"


BROKEN: dict[str, Callable[[Path], object]] = {
    "empty record": lambda folder: (folder / RUN).write_text(""),
    "half a record": lambda folder: (folder / RUN).write_text((folder / RUN).read_text()[:300]),
    "changed record": lambda folder: (folder / RUN).write_text((folder / RUN).read_text().replace("200", "300")),
    "no object": lambda folder: (folder / RUN).write_text("[1, 2]"),
    "bytes": lambda folder: (folder / RUN).write_bytes(b"\xff\xfe\x00"),
    "deep": lambda folder: (folder / RUN).write_text("[" * 100_000),
    "no curve": lambda folder: (folder / "records" / "curve.json").unlink(),
    "half a curve": lambda folder: (folder / "records" / "curve.json").write_text("{"),
    "no run": lambda folder: (folder / RUN).unlink(),
    "plan": lambda folder: [(folder / RUN).unlink(), (folder / PLAN).write_text('{"plan": {"task": 3}}')],
    "a folder": lambda folder: [(folder / RUN).unlink(), (folder / RUN).mkdir()],
}


@pytest.mark.parametrize("how", BROKEN)
def test_a_damaged_folder_is_listed_with_a_sentence(tmp_path: Path, how: str) -> None:
    write_run(tmp_path / "whole")
    BROKEN[how](write_run(tmp_path / "broken"))
    rows = Follower(tmp_path).look()
    assert rows["whole"]["state"] == "done" and rows["broken"]["state"] == "damaged"
    assert rows["broken"]["reason"] and "\n" not in rows["broken"]["reason"]


def test_a_folder_that_may_not_be_read_has_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_run(tmp_path / "whole")
    (tmp_path / "locked").mkdir()
    listed = os.listdir

    def refuse(folder: Path) -> list[str]:
        if Path(folder).name == "locked":
            raise PermissionError(13, "Permission denied")
        return listed(folder)

    monkeypatch.setattr(places.os, "listdir", refuse)
    rows = Follower(tmp_path).look()
    assert rows["whole"]["state"] == "done" and rows["locked"]["state"] == "damaged" and rows["locked"]["reason"]


def test_a_study_is_read_from_its_index(small_study: Path) -> None:
    rows = Follower(small_study.parent).look()
    study = rows.pop("small")
    assert study["counts"] == {"done": 3, "failed": 1} and study["total"] == 4 and not study["at_work"]
    assert sorted(rows) == [f"small/runs/run-0000{n}" for n in range(4)]
    assert {row["study"] for row in rows.values()} == {"small"}
    assert rows["small/runs/run-00003"]["state"] == "failed"


def test_only_runs_that_changed_are_read(small_study: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = Follower(small_study.parent)
    page.look()
    read: list[str] = []
    some = Store.some
    monkeypatch.setattr(Store, "some", lambda store, keys: read.extend(keys) or some(store, keys))
    page.look()
    assert page.told == [] and read == []
    with Store.open(small_study, write=True) as store:
        store.mark("run-00001", "failed", "why")
    page.look()
    assert read == ["run-00001"] and page.told == ["small", "small/runs/run-00001"]


def test_a_large_study_is_read_in_parts(small_study: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(study_place, "PART", 3)
    watch = FolderWatch(small_study.parent, pause=0.0)
    watch.look()
    found = watch.changes()
    assert [row["kind"] for row in found["rows"]].count("run") == 3 and found["unread"] == 1
    assert next(row for row in found["rows"] if row["kind"] == "study")["total"] == 4
    watch.look()
    assert len(watch.changes(found["cursor"])["rows"]) == 1 and watch.changes()["unread"] == 0


def test_a_study_is_followed_through_running_killing_and_resuming(tmp_path: Path) -> None:
    folder = tmp_path / "live"
    (folder / RUNS / "k").mkdir(parents=True)
    (folder / SPECIFICATION).write_text("")
    page = Follower(tmp_path)
    with locked(folder, "the study"):
        with Store.open(folder, write=True) as store:
            store.plan([planned("k"), planned("l")])
            store.mark("k", "running")
        (folder / RUNS / "k" / BEAT).write_text(json.dumps({"done": "training", "step": 3, "steps": 9}))
        begin_journal(folder / RUNS / "k" / JOURNAL, [(3, 2.5)], [])
        rows = page.look()
        assert rows["live"]["at_work"] and rows["live"]["counts"] == {"running": 1, "waiting": 1}
        run = rows["live/runs/k"]
        assert (run["state"], run["step"], run["steps"], run["loss"], run["doing"]) == (
            "running", 3, 9, 2.5, "training"
        )  # fmt: skip
    rows = page.look()  # its coordinator is gone, and the index still calls the run running
    assert not rows["live"]["at_work"] and rows["live"]["counts"] == {"stopped": 1, "waiting": 1}
    assert rows["live/runs/k"]["state"] == "stopped" and rows["live/runs/k"]["loss"] == 2.5
    with locked(folder, "the study"):
        assert page.look()["live/runs/k"]["state"] == "running"
        with Store.open(folder, write=True) as store:
            store.plan([planned("k")])  # l is no longer asked for
        assert "live/runs/l" not in page.look()


@pytest.mark.parametrize("content", [b"", b"not a database" * 100, b"SQLite format 3\0" + b"\xff" * 4096])
def test_a_study_without_its_index_has_a_sentence_and_is_followed_again(small_study: Path, content: bytes) -> None:
    whole = (small_study / INDEX).read_bytes()
    (small_study / SPECIFICATION).write_text("")
    (small_study / RUNS).mkdir()
    (small_study / INDEX).write_bytes(content)
    page = Follower(small_study.parent)
    assert page.look()["small"]["reason"]
    (small_study / INDEX).unlink()
    assert page.look()["small"]["reason"]
    (small_study / INDEX).write_bytes(whole)
    assert page.look()["small"]["total"] == 4 and "reason" not in page.rows["small"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no pipes with names")
def test_nobody_waits_for_a_pipe_in_place_of_an_index(small_study: Path) -> None:
    (small_study / RUNS).mkdir()
    (small_study / INDEX).unlink()
    os.mkfifo(small_study / INDEX)
    assert Follower(small_study.parent).look()["small"]["reason"]


def test_looks_are_cut_short_and_end_with_everything(tmp_path: Path) -> None:
    for number in range(5):
        write_run(tmp_path / f"r{number}", seed=number)
    watch = FolderWatch(tmp_path, pause=0.0)
    watch.look(seconds=0.0)
    assert watch.changes()["rows"] == [] and watch.changes()["unread"] > 0
    watch.look_at_all()
    assert len(watch.changes()["rows"]) == 5 and watch.changes()["unread"] == 0


def test_the_lock_is_looked_at_and_not_held(tmp_path: Path) -> None:
    """Whoever watches must not keep a coordinator from beginning."""
    folder = tmp_path / "live"
    folder.mkdir()
    with Store.open(folder, write=True) as store:
        store.plan([planned("k")])
    (folder / ".lock").touch()
    study_place.StudyPlace(folder, "live").look(FolderWatch(tmp_path).ledger)
    with locked(folder, "the study"):
        pass
