"""Slurm through submitit: the contract with jobs on this machine, the rest with a scheduler of a few lines."""

import importlib.util
import itertools
import os
import pickle
import signal
import sys
import textwrap
from pathlib import Path

import pytest

from lengthwise.errors import UsageError
from lengthwise.executors import Job, executors
from lengthwise.executors import slurm as module
from lengthwise.executors.slurm import Slurm
from lengthwise.testing.executors import check_executor
from processes import wait_until

pytestmark = pytest.mark.system

NUMBERS = itertools.count(1000, 1000)
ECHO = "lengthwise.testing.executors:echo"
needs_submitit = pytest.mark.skipif(not importlib.util.find_spec("submitit"), reason="submitit is not installed")

# A scheduler in which a job is in the state that the file of its number says; where there is a file `run`, it runs.
COMMANDS = {
    "sbatch": """
        number = int((folder / "first").read_text()) + len(os.listdir(folder / "jobs"))
        (folder / "jobs" / str(number)).write_text(open(sys.argv[-1]).read())
        if (folder / "run").exists():
            log = open(folder / f"log{number}", "w")
            process = subprocess.Popen(["bash", sys.argv[-1]], env={**os.environ, "SLURM_JOB_ID": str(number)},
                                       stdout=log, stderr=log, start_new_session=True)
            (folder / "pid").write_text(str(process.pid))
        if (folder / "full").exists():
            sys.exit("sbatch: error: Batch job submission failed: Invalid partition name specified")
        print(f"Submitted batch job {number}")
    """,
    "srun": """
        at = next(i for i, word in enumerate(sys.argv) if "python" in word)
        os.execvp(sys.argv[at], sys.argv[at:])
    """,
    "sacct": """
        print("JobID|State|NodeList")
        for path in sorted((folder / "states").iterdir()):
            print(f"{path.name}|{path.read_text()}|node1")
    """,
    "scancel": """
        with open(folder / "cancelled", "a") as file:
            file.write(" ".join(sys.argv[1:]) + "\\n")
        (folder / "states" / sys.argv[1]).write_text("CANCELLED by 1000")
        if (folder / "pid").exists():
            os.killpg(int((folder / "pid").read_text()), signal.SIGTERM)
    """,
}


@pytest.fixture
def scheduler(tmp_path, monkeypatch):
    """The folder of the scheduler; its commands come first on the path."""
    folder = tmp_path / "scheduler"
    for name in ("bin", "jobs", "states"):
        (folder / name).mkdir(parents=True)
    for name, body in COMMANDS.items():
        head = (
            f"#!{sys.executable}\nimport os, pathlib, signal, subprocess, sys\nfolder = pathlib.Path({str(folder)!r})\n"
        )
        (folder / "bin" / name).write_text(head + textwrap.dedent(body))
        (folder / "bin" / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(module, "_ASK", 0.2)
    monkeypatch.setattr(module, "_SETTLE", 0.2)
    monkeypatch.setattr(module, "_LOOK", 0.1)
    number = next(NUMBERS)  # submitit remembers what became of a number for the life of the process
    (folder / "first").write_text(str(number))
    return folder


@pytest.fixture
def slurm(tmp_path):
    def make(settings=""):
        executor = executors.make(f"slurm{settings}")
        executor.scratch = tmp_path
        return executor

    return make


@needs_submitit
def test_keeps_the_contract():
    check_executor(lambda: executors.make("slurm:cluster=local,jobs=2"))


@needs_submitit
def test_without_slurm_there_is_one_sentence(slurm, monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(UsageError, match="there is no sbatch here"), slurm():
        pass


def test_without_submitit_there_is_one_sentence(slurm, monkeypatch):
    monkeypatch.setitem(sys.modules, "submitit", None)
    with pytest.raises(UsageError, match=r"pip install 'lengthwise\[slurm\]'"), slurm():
        pass


def test_unknown_cluster_is_refused():
    with pytest.raises(UsageError, match="one of slurm, local"):
        executors.make("slurm:cluster=debug")


@needs_submitit
@pytest.mark.parametrize("state", ["TIMEOUT", "OUT_OF_MEMORY", "CANCELLED by 1000", "COMPLETED"])
def test_state_is_named_when_a_job_is_gone(scheduler, slurm, collect, state):
    with slurm() as executor:
        executor.submit(Job("job", ECHO))
        assert executor.wait(0.3) == []
        (record := scheduler / "states" / (scheduler / "first").read_text()).write_text("PENDING")
        assert executor.wait(0.3) == []
        record.write_text(state)
        outcome = collect(executor)["job"]
    assert outcome.kind == "died" and outcome.reason == f"ended in the state {state.split()[0]} without a result"


class _Planted:
    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


@needs_submitit
@pytest.mark.parametrize("plain", [False, True], ids=["code", "no result"])
def test_a_result_that_was_there_before_runs_no_code(scheduler, slurm, collect, tmp_path, plain):
    """The folder of a study may come from somebody else, with results for the numbers of jobs to come."""
    logs, canary = tmp_path / "slurm-logs", tmp_path / "it-ran"
    logs.mkdir()
    number = (scheduler / "first").read_text()
    (logs / f"{number}_0_result.pkl").write_bytes(pickle.dumps(7 if plain else ("success", _Planted(canary))))
    with slurm() as executor:
        executor.submit(Job("job", ECHO))
        outcome = collect(executor)["job"]
    assert outcome.kind == "died" and "cannot be read" in outcome.reason and not canary.exists()


@needs_submitit
def test_settings_reach_sbatch(scheduler, slurm):
    with slurm(":partition=short,account=group7,minutes=33,memory_gb=2.5,gres=gpu:a100:2") as executor:
        assert executor.gives_gpus
        executor.submit(Job("job", ECHO))
        assert executor.running() == ["job"]
        number = (scheduler / "first").read_text()
        script = (scheduler / "jobs" / number).read_text()
    for line in (
        "partition=short",
        "account=group7",
        "time=33",
        "mem=2560MB",
        "cpus-per-task=1",
        "no-requeue",
        "gres=gpu:a100:2",
    ):
        assert f"#SBATCH --{line}\n" in script
    assert "export OMP_NUM_THREADS=1" in script
    assert (scheduler / "cancelled").read_text().splitlines()[0] == number, (
        "what still stands in the queue is cancelled"
    )


@needs_submitit
def test_refused_submission_is_an_outcome(scheduler, slurm, collect):
    (scheduler / "full").touch()
    with slurm(":partition=shrot") as executor:
        executor.submit(Job("job", ECHO))
        outcome = collect(executor)["job"]
    assert outcome.kind == "died" and "Invalid partition name" in outcome.reason and "\n" not in outcome.reason


@needs_submitit
def test_job_runs_from_the_script_and_finds_the_user_module(scheduler, slurm, collect, write_module):
    (scheduler / "run").touch()
    name = write_module("on_a_node", "import os\ndef job(): return [os.environ['OMP_NUM_THREADS'], os.getcwd()]")
    with slurm() as executor:
        executor.submit(Job("job", f"{name}:job"))
        outcome = collect(executor)["job"]
    assert outcome.value == ["1", os.getcwd()], outcome


@needs_submitit
@pytest.mark.parametrize("number", ["SIGUSR2", "SIGTERM"])
def test_time_limit_lets_a_job_save_and_counts_as_death(scheduler, slurm, collect, tmp_path, number):
    (scheduler / "run").touch()
    beat, saved = tmp_path / "beat", tmp_path / "saved"
    with slurm() as executor:
        executor.submit(Job("job", "lengthwise.testing.executors:heed", {"beat": str(beat), "saved": str(saved)}, beat))
        wait_until(lambda: beat.exists() and beat.read_text())
        processes = [entry for entry in os.listdir("/proc") if entry.isdigit() and _runs(entry, str(tmp_path))]
        for pid in processes:
            os.kill(int(pid), getattr(signal, number))
        outcome = collect(executor)["job"]
    assert processes and outcome.kind == "died" and saved.exists()
    assert outcome.reason == "interrupted from outside: Interrupted: saved what there was"


@needs_submitit
def test_stopping_lets_a_job_save(scheduler, slurm, tmp_path):
    (scheduler / "run").touch()
    beat, saved = tmp_path / "beat", tmp_path / "saved"
    with slurm() as executor:
        executor.submit(Job("job", "lengthwise.testing.executors:heed", {"beat": str(beat), "saved": str(saved)}, beat))
        wait_until(lambda: beat.exists() and beat.read_text())
        executor.stop()
        assert [(outcome.key, outcome.kind) for outcome in executor.wait(0)] == [("job", "stopped")]
    wait_until(saved.exists, "saving")


@needs_submitit
def test_scheduler_that_does_not_answer_is_waited_for(scheduler, slurm):
    (scheduler / "bin" / "sacct").write_text("#!/bin/sh\nexit 1\n")
    with slurm(":grace=0.2") as executor:
        executor.submit(Job("job", ECHO))
        assert executor.wait(0.5) == [] and executor.keys() == ["job"]


def test_logs_go_where_the_coordinator_says(tmp_path):
    executor = Slurm(logs=str(tmp_path / "elsewhere"))
    assert executor.scratch / executor.logs == tmp_path / "elsewhere"


def _runs(pid, word):
    try:
        with open(f"/proc/{pid}/cmdline") as file:
            line = file.read()
            return "submitit.core._submit" in line and word in line
    except OSError:
        return False
