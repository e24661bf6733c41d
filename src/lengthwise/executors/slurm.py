"""Jobs under Slurm, handed over by submitit: each is an allocation of one core."""

from __future__ import annotations

import contextlib
import os
import pickle
import shutil
import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from lengthwise.errors import Interrupted, UsageError
from lengthwise.executors import executors
from lengthwise.executors.call import ONE_THREAD, here, read_outcome, run_elsewhere, sentence
from lengthwise.executors.executor import Executor, Job, Outcome

_LOOK = 1.0  # seconds between two looks for result files, which lie on a file system that others use too
_ASK = 20.0  # seconds between two questions to the scheduler, one for all jobs
_SETTLE = 5.0  # seconds in which the result of a job that has ended comes over the file system
_GONE = 10.0  # seconds in which a cancelled job goes
_LAST_WORDS = 2000  # bytes of a dead job's log that are kept
_UNREADABLE = (pickle.UnpicklingError, ValueError, TypeError, AttributeError, LookupError, EOFError, OSError)
_ALIVE = {"READY", "PENDING", "RUNNING", "UNKNOWN", "REQUEUED", "COMPLETING", "CONFIGURING", "SUSPENDED", "RESIZING"}


@executors.register("slurm")
@dataclass(eq=False)
class Slurm(Executor):
    """Slurm allocations of one core each, at most `jobs` of them at a time, for `minutes` each.

    Logs go to `logs`, a folder that the nodes share like everything else a job reads. A job that stands in Slurm's
    queue is not watched before its first beat. A job whose time is nearly over is asked to stop, and counts as died:
    submitted again, it resumes from what it saved. `gres` are Slurm's generic resources for each job, such as gpu:1.
    With `cluster=local` submitit runs the jobs on this machine, for trial.
    """

    partition: str = ""
    account: str = ""
    minutes: int = 120
    memory_gb: float = 4.0
    jobs: int = 64
    gres: str = ""
    logs: str = "slurm-logs"
    cluster: Literal["slurm", "local"] = "slurm"

    begins_at_once = False

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("minutes", "memory_gb", "jobs"):
            if not getattr(self, name) > 0:
                raise UsageError(f"slurm: {name} must be above 0, not {getattr(self, name)}")
        self._given: dict[str, Any] = {}
        self._without: dict[str, float] = {}  # when a job was first seen to have ended without a result
        self._asked = 0.0

    @property
    def slots(self) -> int:
        return self.jobs

    def _open(self) -> None:
        try:
            import submitit
        except ImportError as error:
            raise UsageError("the executor slurm needs submitit: pip install 'lengthwise[slurm]'") from error
        if self.cluster == "slurm" and not (shutil.which("sbatch") and shutil.which("srun")):
            raise UsageError("there is no sbatch here; start this on a login node of the Slurm cluster, or use local")
        self._submitit: Any = submitit.AutoExecutor(self.scratch / self.logs, cluster=self.cluster)
        self._submitit.update_parameters(**self._request())
        self._place = here()

    def _request(self) -> dict[str, Any]:
        """What is asked of Slurm for every job."""
        return {
            "name": "lengthwise",
            "timeout_min": self.minutes,
            "mem_gb": self.memory_gb,
            "cpus_per_task": 1,
            "slurm_partition": self.partition or None,
            "slurm_account": self.account or None,
            "slurm_gres": self.gres or None,
            "slurm_additional_parameters": {"no-requeue": True},  # who submitted a job also decides about trying again
            "slurm_setup": [f"export {name}={value}" for name, value in ONE_THREAD.items()],
        }

    @property
    def gives_gpus(self) -> bool:
        return "gpu" in self.gres

    def _start(self, job: Job) -> None:
        self._given[job.key] = self._submitit.submit(run_under_slurm, job.text(), self._place)

    def _collect(self, seconds: float) -> list[Outcome]:
        deadline = time.monotonic() + seconds
        while True:
            self._ask_scheduler()
            outcomes = [outcome for key in list(self._given) if (outcome := self._outcome(key))]
            if outcomes or (left := deadline - time.monotonic()) <= 0:
                return outcomes
            time.sleep(min(self._look, left))

    def _outcome(self, key: str) -> Outcome | None:
        """How a job ended, if it did: by its result, else by its state if no result follows soon."""
        given = self._given[key]
        state = _state(given, "cache")
        if not given.paths.result_pickle.exists():
            if state in _ALIVE:
                return None
            if time.monotonic() - self._without.setdefault(key, time.monotonic()) < self._settle:
                return None
        self._without.pop(key, None)
        del self._given[key]
        words = _last_words(given.paths.stderr)
        if not given.paths.result_pickle.exists():
            return Outcome(key, "died", reason=f"ended in the state {state} without a result", detail=words)
        try:
            with given.paths.result_pickle.open("rb") as file:
                ended, text = _Texts(file).load()  # what submitit wrote: a word, and our text or a traceback
            if ended == "success":
                return read_outcome(key, text)
            return Outcome(key, "died", reason=f"submitit: {text.strip().splitlines()[-1]}", detail=text)
        except _UNREADABLE as error:
            return Outcome(key, "died", reason=f"its result cannot be read: {sentence(error)}", detail=words)

    @property
    def _settle(self) -> float:
        return _SETTLE if self.cluster == "slurm" else 0.0

    @property
    def _look(self) -> float:
        return _LOOK if self.cluster == "slurm" else 0.1

    def _ask_scheduler(self) -> None:
        """Bring the known states up to date; jobs of one executor are asked about in one call."""
        if self.cluster == "slurm" and self._given and time.monotonic() - self._asked > _ASK:
            self._asked = time.monotonic()
            _state(next(iter(self._given.values())), "force")

    def _ask(self, key: str) -> None:
        given = self._given[key]
        if self.cluster == "slurm":
            given.cancel(check=False)
        elif _state(given, "force") == "RUNNING":  # here the job's number is that of a process that passes signals on
            os.kill(int(given.job_id), signal.SIGTERM)

    def _kill(self, keys: Sequence[str]) -> None:
        killed = [self._given.pop(key) for key in keys]
        # On this machine a job's number is that of a process which kills its tasks and does not wait for their end.
        tasks = [] if self.cluster == "slurm" else _children({int(given.job_id) for given in killed})
        for given in killed:
            given.cancel(check=False)
        for task in tasks:  # and in the background of a shell it is deaf to being cancelled
            with contextlib.suppress(ProcessLookupError):
                os.kill(task, signal.SIGKILL)
        deadline = time.monotonic() + _GONE
        while time.monotonic() < deadline:
            _state(killed[0], "force")
            if not any(_state(given, "cache") in _ALIVE - {"UNKNOWN"} for given in killed) and not any(
                map(_parent, tasks)
            ):
                return
            time.sleep(self._look)


class _Texts(pickle.Unpickler):
    """Reads a pickle that holds only texts: the folder of logs may have come with somebody else's study."""

    def find_class(self, module: str, name: str) -> Any:
        raise pickle.UnpicklingError(f"a result of submitit holds texts alone, and this one {module}.{name}")


def run_under_slurm(text: str, place: str) -> str:
    """Run a job in its allocation. SIGTERM (cancelled) and SIGUSR2 (the time is nearly over, or the allocation is
    wanted by others) both ask the job to stop; submitit would ignore the first and start over at the second."""

    def interrupt(number: int, frame: object) -> None:  # noqa: ARG001
        raise Interrupted(f"asked to stop by {signal.Signals(number).name}")

    def pass_on(number: int, frame: object) -> None:  # noqa: ARG001
        os.kill(os.getpid(), signal.SIGTERM)  # to whatever handler the job has by now

    signal.signal(signal.SIGTERM, interrupt)
    signal.signal(signal.SIGUSR2, pass_on)
    return run_elsewhere(text, place)


def _state(given: Any, mode: str) -> str:
    """The state of a submitit job, one word in capitals; "CANCELLED by 1000" is CANCELLED."""
    info = given.get_info(mode=mode)
    return (info.get("State") or info.get("jobState") or "UNKNOWN").split()[0].rstrip("+").upper()


def _children(parents: set[int]) -> list[int]:
    """The processes that these started, where the system shows them."""
    numbers = [int(place.name) for place in Path("/proc").glob("[0-9]*")]
    return [number for number in numbers if _parent(number) in parents]


def _parent(number: int) -> int | None:
    """The parent of a process; None when it has ended."""
    with contextlib.suppress(OSError):
        state, parent = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[:2]
        return None if state in "ZX" else int(parent)
    return None


def _last_words(path: Path) -> str:
    with contextlib.suppress(OSError), path.open("rb") as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - _LAST_WORDS))
        return file.read().decode(errors="replace").strip()
    return ""
