"""The index of a study: what goes in comes out, and what happens to the file is told in a sentence."""

from __future__ import annotations

import fcntl
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from half_write import half_write
from lengthwise.errors import UsageError
from lengthwise.probes.curve.curve import Curve, Point
from lengthwise.studies import lock
from lengthwise.studies.lock import LOCK, holder, locked
from lengthwise.studies.record import RunRecord, Summary, packed
from lengthwise.studies.store import INDEX, RUNS, Store
from refusals import refused

TEXT = st.text(st.characters(exclude_categories=("Cs",)), max_size=12)
COUNT = st.integers(0, 2**40)
SHARE = st.floats(0, 1)
SCALAR = st.one_of(st.integers(-(2**53), 2**53), st.floats(allow_nan=False, allow_infinity=False), TEXT, st.booleans())
RECORDS = st.builds(
    RunRecord,
    key=st.uuids().map(str),
    task=TEXT,
    position=TEXT,
    variant=TEXT,
    seed=COUNT,
    train_size=COUNT,
    test_size=COUNT,
    items=COUNT,
    settings=st.dictionaries(TEXT, SCALAR, max_size=3),
    state=st.just("done"),
    seconds=st.floats(0, 1e9),
    ended=TEXT,
    summary=st.builds(Summary, COUNT, st.booleans(), SHARE, st.none() | SHARE, st.none() | SHARE, SHARE),
    detail=st.dictionaries(TEXT, st.lists(SCALAR, max_size=3), max_size=3),
    asked=st.dictionaries(TEXT, st.dictionaries(TEXT, SCALAR, max_size=2), max_size=2),
    stored=st.dictionaries(TEXT, TEXT, max_size=2),
)


def finished(key: str, **changes: object) -> RunRecord:
    points = tuple(Point(n, n, 10, 10 - n, 10, 10 - n, 0.1 * n, 0.5, 0.5) for n in range(1, 7))
    curve = Curve("sort", "none", 2, 0, points)
    summary, stored = Summary.of(curve), packed({"curve": curve.record()})
    given = {"task": "sort", "position": "none", "variant": "", "seed": 0, "train_size": 2, "test_size": 6, "items": 10}
    done = {"state": "done", "seconds": 1.5, "ended": "all steps done", "summary": summary}
    return RunRecord(key=key, **{**given, **done, "stored": stored, "asked": {"curve": {}}, **changes})


def waiting(record: RunRecord, **changes: object) -> RunRecord:
    plain = {"state": "waiting", "seconds": None, "ended": "", "summary": None, "detail": {}, "stored": {}}
    return replace(record, **{**plain, **changes})


def filled(folder: Path, keys: str = "abc") -> Path:
    with Store.open(folder, write=True) as store:
        records = [finished(key) for key in keys]
        store.plan(records)
        store.finish_all(records)
    return folder


@settings(max_examples=30, deadline=None)
@given(st.lists(RECORDS, max_size=4, unique_by=lambda record: record.key))
def test_records_come_back_as_they_were(records):
    with tempfile.TemporaryDirectory() as folder, Store.open(folder, write=True) as store:
        store.plan(records)
        assert store.runs() == [waiting(record) for record in records]
        store.finish_all(records)
        assert store.runs() == records
        assert store.runs(detail=False) == [replace(record, detail={}, stored={}) for record in records]
        assert store.untracked("mlflow") == records
        assert store.counts() == {"waiting": 0, "running": 0, "done": len(records), "failed": 0}


@given(st.recursive(SCALAR | st.none(), lambda inner: st.lists(inner) | st.dictionaries(TEXT, inner), max_leaves=5))
@settings(max_examples=30, deadline=None)
def test_facts_come_back_as_they_were(content):
    with tempfile.TemporaryDirectory() as folder, Store.open(folder, write=True) as store:
        assert store.fact("it") is None
        store.note("it", content)
        assert store.fact("it") == content and store.facts()["it"] == content


def test_planning_again_keeps_what_is_known(tmp_path):
    with Store.open(filled(tmp_path), write=True) as store:
        before = store.runs()
        store.mark("c", "failed", "broke", attempts=2)
        store.plan([replace(record, variant="depth 2") for record in before])
        after = store.runs()
        assert after[:2] == [replace(record, variant="depth 2") for record in before[:2]]
        assert (after[2].state, after[2].reason, after[2].attempts) == ("failed", "broke", 2)


def test_runs_no_longer_asked_for_are_kept_apart_and_come_back(tmp_path):
    with Store.open(filled(tmp_path), write=True) as store:
        one, two, three = store.runs()
        store.plan([three, waiting(one)])
        assert [run.key for run in store.runs()] == ["c", "a"], "the order is that of the new grid"
        assert store.counts()["done"] == 2 and len(store.untracked("mlflow")) == 2
        store.plan([one, two, three])
        assert store.runs() == [one, two, three]


@pytest.mark.parametrize("change", [{"items": 20}, {"test_size": 8}])
def test_a_run_to_be_measured_otherwise_waits_as_if_it_were_new(tmp_path, change):
    with Store.open(filled(tmp_path), write=True) as store:
        store.mark_tracked("a", "mlflow")
        store.mark_tracked("b", "mlflow")
        one, two, _ = store.runs()
        store.plan([replace(one, **change), two])
        assert store.runs() == [waiting(one, **change), two]
        store.finish(replace(one, **change))
        assert [run.key for run in store.untracked("mlflow")] == ["a"], "its new curve was never mirrored"


def test_tracked_runs_are_known_by_tracker(tmp_path):
    with Store.open(filled(tmp_path), write=True) as store:
        store.mark_tracked("a", "mlflow")
        store.mark_tracked("a", "trackio")
        assert [run.key for run in store.untracked("mlflow")] == ["b", "c"]
        assert [run.key for run in store.untracked("tensorboard")] == ["a", "b", "c"]
        assert store.tracked() == {"a": "[mlflow][trackio]"}


def test_a_missing_index_is_told_and_none_is_made(tmp_path):
    assert "no index.sqlite" in refused(lambda: Store.open(tmp_path))
    (tmp_path / RUNS).mkdir()
    assert f"study rebuild {tmp_path}" in refused(lambda: Store.open(tmp_path))
    assert "cannot use" in refused(lambda: Store.open(tmp_path / "nowhere", write=True))
    assert [path.name for path in tmp_path.iterdir()] == [RUNS]


@pytest.mark.parametrize("write", [False, True])
def test_an_index_of_another_version_is_refused_and_left_alone(tmp_path, write):
    with Store.open(filled(tmp_path), write=True) as store:
        store.note("schema", 99)
    before = (tmp_path / INDEX).read_bytes()
    assert "schema is 99" in refused(lambda: Store.open(tmp_path, write=write))
    assert (tmp_path / INDEX).read_bytes() == before


def everything(folder: Path) -> list[RunRecord]:
    with Store.open(folder) as store:
        store.facts(), store.counts(), store.untracked("mlflow"), store.tracked()
        store.runs(detail=False)
        return store.runs()


@pytest.mark.parametrize("content", [b"", b"x", b"SQLite format 3\0" + bytes(50), b"no index " * 2000])
def test_a_file_that_is_no_index(tmp_path, content):
    (tmp_path / INDEX).write_bytes(content)
    assert "study rebuild" in refused(lambda: everything(tmp_path))


def test_a_damaged_index_gives_a_sentence_or_what_was_stored(tmp_path):
    """Bytes changed at random: whatever SQLite or the content says to that, the user hears one sentence."""
    path = filled(tmp_path, "abcdefgh") / INDEX
    whole, rng, told = path.read_bytes(), random.Random(0), 0
    for _ in range(150):
        broken = bytearray(whole)
        first = rng.randrange(len(whole))
        for place in range(first, min(first + rng.choice([1, 30, 3000]), len(whole))):
            broken[place] = rng.randrange(256)
        path.write_bytes(broken if rng.random() < 0.8 else broken[:first])
        sentence = ""
        try:
            everything(tmp_path)
        except UsageError as error:
            sentence = str(error)
        told += bool(sentence)
        assert not sentence or str(path) in sentence
    assert told > 30


def test_reading_changes_nothing_and_cannot(tmp_path):
    path = filled(tmp_path) / INDEX
    before = path.read_bytes()
    with Store.open(tmp_path) as store:
        everything(tmp_path)
        refused(lambda: store.mark("a", "failed"))
    assert path.read_bytes() == before and [file.name for file in tmp_path.iterdir()] == [INDEX]


def test_a_reader_undoes_what_a_killed_writer_left(tmp_path):
    before = everything(filled(tmp_path, "".join(map(chr, range(97, 397)))))
    half_write(tmp_path / INDEX)
    assert (tmp_path / f"{INDEX}-journal").stat().st_size > 0, "nothing was half done"
    assert everything(tmp_path) == before


def in_a_child(work: Callable[[], None]) -> str:
    """What a piece of work says when it is done in a process of its own: the sentence it is refused with, or done."""
    end, start = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            work()
            said = "done"
        except UsageError as error:
            said = f"refused: {error}"
        except BaseException as error:
            said = f"{type(error).__name__}: {error}"
        os.write(start, said.encode())
        os._exit(0)
    os.close(start)
    os.waitpid(child, 0)
    with os.fdopen(end, encoding="utf-8") as file:
        return file.read()


@pytest.mark.skipif(os.geteuid() != 0, reason="becoming somebody who may not write takes root")
def test_in_a_folder_that_may_only_be_read():
    with tempfile.TemporaryDirectory() as name:
        folder = filled(Path(name))
        for path, mode in ((folder, 0o555), (folder / INDEX, 0o444)):
            path.chmod(mode)

        def read() -> None:
            os.setuid(65534)
            assert len(everything(folder)) == 3 and holder(folder) is None

        def write() -> None:
            os.setuid(65534)
            with Store.open(folder, write=True) as store:
                store.mark("a", "failed")

        def lock() -> None:
            os.setuid(65534)
            with locked(folder, "the study"):
                pass

        assert in_a_child(read) == "done"
        assert in_a_child(write).startswith(f"refused: cannot use {folder / INDEX}")
        assert in_a_child(lock).startswith(f"refused: cannot lock {folder}")


def test_a_full_disk_is_told_and_loses_nothing(tmp_path):
    before = everything(filled(tmp_path))

    def work() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        size = (tmp_path / INDEX).stat().st_size
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
        with Store.open(tmp_path, write=True) as store:
            store.finish(finished("a", detail={"losses": "x" * 1_000_000}))

    said = in_a_child(work)
    assert said.startswith(f"refused: cannot write {tmp_path / INDEX}") and "free some space" in said
    assert everything(tmp_path) == before


def test_thousands_of_runs_are_read_at_once(tmp_path):
    record = finished("a")
    records = [replace(record, key=f"run-{n}", seed=n) for n in range(2000)]
    with Store.open(tmp_path, write=True) as store:
        store.plan(records)
        store.finish_all(records)
    with Store.open(tmp_path) as store:
        assert len(store.runs(detail=False)) == store.counts()["done"] == 2000


HOLD = """
import sys, time
from pathlib import Path
from lengthwise.studies.lock import locked
with locked(Path(sys.argv[1]), "the study"):
    print("held", flush=True)
    time.sleep(60)
"""


def test_one_holder_at_a_time_until_it_dies(tmp_path):
    assert holder(tmp_path) is None and not (tmp_path / LOCK).exists()
    child = subprocess.Popen([sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    try:
        assert child.stdout and child.stdout.readline() == "held\n"
        assert f"process {child.pid} " in (holder(tmp_path) or "")
        assert holder(tmp_path), "looking does not take the lock away"

        def second() -> None:
            with locked(tmp_path, "the study"):
                pass

        assert f"process {child.pid} " in refused(second)
    finally:
        child.kill()
        child.wait()
    assert holder(tmp_path) is None
    with locked(tmp_path, "the study"):
        assert f"process {os.getpid()} " in (holder(tmp_path) or "")
    assert holder(tmp_path) is None


def test_who_only_looks_keeps_nobody_out(tmp_path, monkeypatch):
    """A status asked for at the moment a study starts must not make it refuse."""
    with locked(tmp_path, "the study"):
        pass
    with (tmp_path / LOCK).open() as file:
        fcntl.flock(file, fcntl.LOCK_SH)
        waited: list[float] = []

        def look_away(seconds: float) -> None:
            waited.append(seconds)
            fcntl.flock(file, fcntl.LOCK_UN)

        monkeypatch.setattr(lock.time, "sleep", look_away)
        with locked(tmp_path, "the study"):
            assert len(waited) == 1, "it was tried once, and again after the look"


def test_an_error_inside_the_lock_is_not_about_the_lock(tmp_path):
    with pytest.raises(FileNotFoundError), locked(tmp_path, "the study"):
        raise FileNotFoundError("something else")
