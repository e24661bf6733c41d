"""A study survives: killed coordinators, killed workers, tasks that break, damaged folders, a second coordinator."""

from __future__ import annotations

import contextlib
import hashlib
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lengthwise.errors import Interrupted, UsageError
from lengthwise.runs.run import carry_out
from lengthwise.studies.coordinator import StudyProgress, carry_out_study
from lengthwise.studies.grid import plans, run_key
from lengthwise.studies.record import RUN, read_finished
from lengthwise.studies.spec import Study
from lengthwise.studies.store import INDEX, Store
from lengthwise.trust import trusting
from processes import children_of, kill_parent, wait_until

pytestmark = pytest.mark.system

TINY = {"depth": 1, "width": 16, "heads": 1}


def small_study(seeds: int = 2, steps: int = 20, **more: object) -> Study:
    return Study(
        name="small",
        tasks=["binary_majority", "sort:alphabet=20"],
        positions=["none", "learned+offset"],
        seeds=seeds,
        train_size=4,
        test_size=8,
        items=20,
        model=TINY,
        training={"steps": steps},
        **more,  # pyright: ignore[reportArgumentType]
    )


def started(study: Path, folder: Path, *more: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "lengthwise", "study", str(study), "--folder", str(folder), "--no-report", *more]
    return subprocess.Popen(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def finished_files(folder: Path) -> dict[str, tuple[int, str]]:
    """Every finished run, with when its record was written and what its weights are."""
    found = {}
    for record in (folder / "runs").glob(f"*/{RUN}"):
        weights = hashlib.sha256((record.parent / "model.safetensors").read_bytes()).hexdigest()
        found[record.parent.name] = (record.stat().st_mtime_ns, weights)
    return found


@pytest.mark.parametrize(("kills", "seeds"), [(6, 4), pytest.param(100, 60, marks=pytest.mark.slow)])
def test_kills_lose_nothing_and_repeat_nothing(tmp_path: Path, kills: int, seeds: int) -> None:
    study = small_study(seeds=seeds, steps=150)
    spec, folder = tmp_path / "small.toml", tmp_path / "kept"
    spec.write_text(study.toml(), encoding="utf-8")
    moments = random.Random(7)
    seen: dict[str, tuple[int, str]] = {}
    for kill in range(kills):
        began = time.time()
        process = started(spec, folder, "--quiet")
        if kill % 3 == 1:  # soon after a worker has begun, however long that takes on this machine
            wait_until(lambda: beat_at(folder) > began)  # noqa: B023
        elif kill % 3 == 2:  # soon after a run has ended
            wait_until(lambda: len(list((folder / "runs").glob(f"*/{RUN}"))) > len(seen))  # noqa: B023
        time.sleep(moments.uniform(0, 1.5))  # nothing is waited for: any moment must do
        if kill % 2 and (workers := children_of(process.pid, "lengthwise.executors")):
            with contextlib.suppress(ProcessLookupError):  # it has just ended
                os.kill(moments.choice(workers), signal.SIGKILL)
            time.sleep(moments.uniform(0, 0.5))  # the coordinator may have noticed by then, or not
        kill_parent(process)
        now = finished_files(folder)
        assert {key: now[key] for key in seen} == seen, "a finished run was lost or repeated"
        seen = now
        if (folder / INDEX).exists():
            with sqlite3.connect(folder / INDEX) as index:
                assert index.execute("pragma integrity_check").fetchone() == ("ok",)
    process = started(spec, folder, "--quiet")
    _, errors = process.communicate(timeout=600)
    assert process.returncode == 0, errors
    after = finished_files(folder)
    assert {key: after[key] for key in seen} == seen
    assert sorted(after) == sorted(run_key(plan) for plan in plans(study))
    with Store.open(folder) as store:
        assert store.counts()["done"] == len(after) == 4 * seeds
    for key in after:
        read_finished(folder / "runs" / key)
    # what was interrupted and resumed is what an undisturbed run gives
    for plan in plans(study)[::8]:
        alone = carry_out(plan, tmp_path / "alone" / run_key(plan))
        assert read_finished(folder / "runs" / run_key(plan)).curve == alone.curve
        weights = hashlib.sha256((alone.folder / "model.safetensors").read_bytes()).hexdigest()
        assert after[run_key(plan)][1] == weights
    assert len(seen) >= kills // 3, "the kills came too early to test anything"


def test_a_second_coordinator_is_refused_in_a_sentence(tmp_path: Path) -> None:
    spec, folder = tmp_path / "small.toml", tmp_path / "kept"
    spec.write_text(small_study(steps=3000).toml(), encoding="utf-8")
    first = started(spec, folder)
    try:
        wait_until(lambda: list((folder / "runs").glob("*/beat.json")))
        second = started(spec, folder)
        _, errors = second.communicate(timeout=180)
        assert second.returncode == 2
        *warnings, refusal = errors.splitlines()
        assert all(line.startswith("warning: ") for line in warnings), "20 items per size are few"
        assert str(first.pid) in refusal and "wait until it ends" in refusal
    finally:
        first.kill()
        first.communicate()


def test_ctrl_c_keeps_checkpoints_and_the_same_command_goes_on(tmp_path: Path) -> None:
    spec, folder = tmp_path / "small.toml", tmp_path / "kept"
    study = Study(
        name="one", tasks="binary_majority", positions="none", train_size=4, test_size=6, items=20, model=TINY,
        training={"steps": 1500},
    )  # fmt: skip
    spec.write_text(study.toml(), encoding="utf-8")
    process = started(spec, folder)
    wait_until(lambda: any("loss" in beat.read_text() for beat in (folder / "runs").glob("*/beat.json")))
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=180)
    assert process.returncode == 130, errors
    assert "0 of 1 runs are done" in errors
    assert list((folder / "runs").glob("*/checkpoint.safetensors"))
    assert carry_out_study(study, folder).done == 1
    plan = plans(study)[0]
    alone = carry_out(plan, tmp_path / "alone")
    assert (
        finished_files(folder)[run_key(plan)][1]
        == hashlib.sha256((alone.folder / "model.safetensors").read_bytes()).hexdigest()
    )


def test_a_task_that_breaks_is_retried_once_and_recorded_while_the_rest_go_on(tmp_path: Path) -> None:
    broken = tmp_path / "mine.py"
    broken.write_text(BROKEN, encoding="utf-8")
    study = Study(
        name="broken", tasks=["binary_majority", f"{broken}::Broken"], positions="none", train_size=4, items=20,
        model=TINY, training={"steps": 20},
    )  # fmt: skip
    heard: list[StudyProgress] = []
    with trusting():
        progress = carry_out_study(study, tmp_path / "kept", "local:workers=1", heard.append)
    assert (progress.done, progress.failed, progress.waiting) == (1, 1, 0)
    with Store.open(tmp_path / "kept") as store:
        (failed,) = store.runs("failed")
    assert failed.attempts == 2 and "this task breaks" in failed.reason
    assert "this task breaks" in (tmp_path / "kept" / "runs" / failed.key / "error.txt").read_text()
    assert [p.newest.attempts for p in heard if p.newest and p.newest.state == "failed"] == [1, 2]
    # mended, the same command tries it again
    broken.write_text(BROKEN.replace('raise ValueError("this task breaks")', "pass"), encoding="utf-8")
    with trusting():
        assert carry_out_study(study, tmp_path / "kept", "local:workers=1").done == 2


def test_a_killed_worker_is_replaced_and_its_run_goes_on(tmp_path: Path) -> None:
    study = small_study(seeds=1, steps=600)
    killed: list[int] = []

    def kill_one(progress: StudyProgress) -> None:
        if progress.done == 1 and not killed:
            workers = children_of(os.getpid(), "lengthwise.executors")
            assert workers
            os.kill(workers[0], signal.SIGKILL)
            killed.append(workers[0])

    progress = carry_out_study(study, tmp_path / "kept", "local:workers=2", kill_one)
    assert killed and (progress.done, progress.failed) == (4, 0)


def test_a_damaged_run_folder_is_reported_by_name_and_the_others_are_used(tmp_path: Path) -> None:
    study = small_study(seeds=1)
    folder = tmp_path / "kept"
    carry_out_study(study, folder)
    key = run_key(plans(study)[0])
    (folder / "runs" / key / RUN).write_text('{"plan": {', encoding="utf-8")
    (folder / INDEX).unlink()
    progress = carry_out_study(study, folder)
    assert (progress.done, progress.failed) == (3, 1)
    with Store.open(folder) as store:
        (failed,) = store.runs("failed")
    assert key in failed.reason


def test_a_finished_run_whose_folder_is_gone_is_trained_again(tmp_path: Path) -> None:
    study = small_study(seeds=1)
    folder = tmp_path / "kept"
    carry_out_study(study, folder)
    key = run_key(plans(study)[0])
    shutil.rmtree(folder / "runs" / key)
    assert carry_out_study(study, folder).done == 4
    assert (folder / "runs" / key / RUN).exists()


def test_other_test_sizes_and_more_seeds_reuse_what_is_there(tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    carry_out_study(small_study(seeds=1), folder)
    before = finished_files(folder)
    assert carry_out_study(small_study(seeds=2), folder).done == 8
    after = finished_files(folder)
    assert {key: after[key] for key in before} == before
    assert carry_out_study(small_study(seeds=1), folder).total == 4


def test_a_damaged_index_is_named(tmp_path: Path) -> None:
    (tmp_path / INDEX).write_bytes(b"this is no database, and long enough to be looked at as one" * 40)
    with pytest.raises(UsageError, match=r"index\.sqlite is damaged.*study rebuild"):
        carry_out_study(small_study(), tmp_path)


def test_a_spent_budget_leaves_runs_waiting(tmp_path: Path) -> None:
    study = small_study(seeds=2, steps=100, budget={"minutes": 0.0001})
    progress = carry_out_study(study, tmp_path / "kept", "local:workers=1")
    assert progress.done <= 1 and progress.waiting >= 7 and progress.failed == 0
    assert carry_out_study(small_study(seeds=2, steps=100), tmp_path / "kept", "local:workers=2").done == 8


def test_a_worker_that_stops_answering_is_noticed(tmp_path: Path) -> None:
    hanging = tmp_path / "mine.py"
    sleep = "import time; time.sleep(600 if len(draws) > 8 else 0)"  # it hangs in training, not when it is looked at
    hanging.write_text(BROKEN.replace('raise ValueError("this task breaks")', sleep))
    study = Study(
        name="hangs", tasks=[f"{hanging}::Broken"], positions="none", train_size=4, items=20, model=TINY,
        training={"steps": 20},
    )  # fmt: skip
    spec = tmp_path / "hangs.toml"
    spec.write_text(study.toml(), encoding="utf-8")
    process = started(spec, tmp_path / "kept", "--silence", "4", "--trust")
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 4, errors
    with Store.open(tmp_path / "kept") as store:
        (failed,) = store.runs("failed")
    assert "no sign of life" in failed.reason


def test_interrupted_in_process_raises_and_marks_waiting(tmp_path: Path) -> None:
    study = small_study(seeds=1, steps=3000)

    asked: list[int] = []

    def interrupt(progress: StudyProgress) -> None:
        if progress.running == 2 and not asked:
            asked.append(1)
            os.kill(os.getpid(), signal.SIGTERM)

    with pytest.raises(Interrupted):
        carry_out_study(study, tmp_path / "kept", "local:workers=2", interrupt)
    with Store.open(tmp_path / "kept") as store:
        assert store.counts() == {"waiting": 4, "running": 0, "done": 0, "failed": 0}


def beat_at(folder: Path) -> float:
    """When a run of the study last gave a sign of life."""
    found = [0.0]
    for beat in (folder / "runs").glob("*/beat.json"):
        try:
            found.append(beat.stat().st_mtime)
        except FileNotFoundError:  # the run has just ended
            continue
    return max(found)


BROKEN = '''
from dataclasses import dataclass
from lengthwise.tasks.algorithmic import BinaryMajority

@dataclass(frozen=True)
class Broken(BinaryMajority):
    """A task that breaks."""

    def sample(self, size, draws):
        raise ValueError("this task breaks")
        return BinaryMajority.sample(self, size, draws)
'''
