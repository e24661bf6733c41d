"""Studies on a machine with faults: whatever happens, the same command ends with the weights and curves of a study that
nobody disturbed; nothing that was finished is lost or done again."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from lengthwise.studies.coordinator import carry_out_study
from lengthwise.studies.record import RUN, read_finished
from lengthwise.studies.spec import Study
from lengthwise.studies.store import INDEX, Store
from processes import children_of, kill_parent, wait_until

pytestmark = pytest.mark.system

FAULTS = Path(__file__).parents[1] / "faults"
LONG = 900.0  # seconds, on a machine that does other things as well
STUDY = Study(
    name="fire",
    tasks=["binary_majority", "sort:alphabet=20"],
    positions="none",
    seeds=2,
    train_size=4,
    test_size=8,
    items=20,
    model={"depth": 1, "width": 16, "heads": 1},
    training={"steps": 300},
)

Results = dict[str, tuple[str, Any]]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Results:
    folder = tmp_path_factory.mktemp("undisturbed")
    assert carry_out_study(STUDY, folder).done == 4
    return results(folder)


def results(folder: Path) -> Results:
    """The weights and the curve of every finished run."""
    found = {}
    for record in (folder / "runs").glob(f"*/{RUN}"):
        weights = hashlib.sha256((record.parent / "model.safetensors").read_bytes()).hexdigest()
        found[record.parent.name] = (weights, read_finished(record.parent).curve)
    return found


def stamps(folder: Path) -> dict[str, int]:
    """Which file the record of every finished run is: another one where a run was done again."""
    return {path.parent.name: path.stat().st_ino for path in (folder / "runs").glob(f"*/{RUN}")}


@dataclass
class Fired:
    """The study of a test, started as often as it takes."""

    spec: Path
    folder: Path
    faults: str = ""

    def start(self, *more: str) -> subprocess.Popen[str]:
        path = os.pathsep.join(filter(None, (str(FAULTS), os.environ.get("PYTHONPATH", ""))))
        command = [sys.executable, "-m", "lengthwise", "study", str(self.spec), "--folder", str(self.folder)]
        return subprocess.Popen(
            [*command, "--no-report", "--quiet", *more],
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": path, "LENGTHWISE_FAULTS": self.faults},
        )

    def ended(self, process: subprocess.Popen[str]) -> tuple[int, str]:
        said = process.communicate(timeout=LONG)[1]
        assert "Traceback" not in said, said
        return process.returncode, said

    def beats(self) -> list[Path]:
        return list((self.folder / "runs").glob("*/beat.json"))

    def attempts(self) -> list[int]:
        with Store.open(self.folder) as store:
            assert store.counts()["done"] == 4
            return sorted(run.attempts for run in store.runs(detail=False))


@pytest.fixture
def fired(tmp_path: Path) -> Fired:
    spec = tmp_path / "fire.toml"
    spec.write_text(STUDY.toml(), encoding="utf-8")
    return Fired(spec, tmp_path / "kept")


@pytest.mark.parametrize("faults", ["clock", "late", "clock late"])
def test_jumping_clocks_and_late_renames_are_not_noticed(fired: Fired, undisturbed: Results, faults: str) -> None:
    fired.faults = faults
    code, said = fired.ended(fired.start())
    assert code == 0, said
    assert results(fired.folder) == undisturbed and fired.attempts() == [0, 0, 0, 0]


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EIO])
def test_a_disk_that_refuses_for_a_while(fired: Fired, undisturbed: Results, tmp_path: Path, number: int) -> None:
    """Full, read-only or failing: the runs that could not be written have failed, and are done once it is mended."""
    flag = tmp_path / "refused"
    fired.faults = f"refused:{flag}"
    process = fired.start()
    wait_until(lambda: stamps(fired.folder), seconds=LONG)
    flag.write_text(str(number))
    code, said = fired.ended(process)
    assert code in (2, 4), said
    before = stamps(fired.folder)
    assert fired.ended(fired.start())[0] == 2, "it still cannot be written"
    flag.unlink()
    code, said = fired.ended(fired.start())
    assert code == 0, said
    assert results(fired.folder) == undisturbed
    assert before.items() <= stamps(fired.folder).items()


def test_a_run_folder_that_is_deleted_while_it_trains(fired: Fired, undisturbed: Results) -> None:
    process = fired.start()
    beat = wait_until(fired.beats, seconds=LONG)[0]
    shutil.rmtree(beat.parent, ignore_errors=True)
    code, said = fired.ended(process)
    assert code == 0, said
    assert results(fired.folder) == undisturbed


def test_an_index_that_is_damaged_in_between(fired: Fired, undisturbed: Results) -> None:
    process = fired.start()
    wait_until(lambda: stamps(fired.folder), seconds=LONG)
    kill_parent(process)
    before = stamps(fired.folder)
    index = fired.folder / INDEX
    content = bytearray(index.read_bytes())
    content[100 : len(content) // 2] = os.urandom(len(content) // 2 - 100)
    index.write_bytes(content)
    code, said = fired.ended(fired.start())
    assert code == 2 and "study rebuild" in said
    rebuilt = [sys.executable, "-m", "lengthwise", "study", "rebuild", str(fired.folder), "--quiet"]
    subprocess.run(rebuilt, check=True, capture_output=True, timeout=LONG)
    code, said = fired.ended(fired.start())
    assert code == 0, said
    assert results(fired.folder) == undisturbed and before.items() <= stamps(fired.folder).items()


def test_two_coordinators_at_once(fired: Fired, undisturbed: Results) -> None:
    ended = [fired.ended(process) for process in [fired.start(), fired.start()]]
    codes = sorted(code for code, _ in ended)
    assert codes in ([0, 2], [0, 0]), ended  # [0, 0]: one was so late that nothing was left to do
    assert results(fired.folder) == undisturbed and fired.attempts() == [0, 0, 0, 0]


@pytest.mark.parametrize("number", [signal.SIGSTOP, signal.SIGKILL])
def test_a_worker_that_hangs_or_is_killed(fired: Fired, undisturbed: Results, number: int) -> None:
    """It is given up after some silence, or at once; its run is done by another one."""
    process = fired.start("--silence", "20")
    wait_until(fired.beats, seconds=LONG)
    os.kill(children_of(process.pid, "lengthwise.executors")[0], number)
    code, said = fired.ended(process)
    assert code == 0, said
    assert results(fired.folder) == undisturbed and sum(fired.attempts()) == 1
