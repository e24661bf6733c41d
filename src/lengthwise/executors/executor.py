"""The contract of an executor: jobs go in, every job comes out again as exactly one outcome, and nothing hangs."""

from __future__ import annotations

import abc
import dataclasses
import inspect
import json
import re
import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Self

from lengthwise.errors import UsageError

Kind = Literal["done", "failed", "died", "silent", "stopped"]


@dataclass(frozen=True)
class Job:
    """A call of an importable function, wherever there is room for it.

    `call` is "package.module:function". The arguments and what the function returns are JSON-ready data. `beat` is a
    file that the job touches while it is alive and getting on (it is touched once when the job begins); a job without
    one is not watched (the function may take it as an argument of that name). `folder` is where the job reads and
    writes, and the function takes it as an argument: the same folder, or a copy of it on a node that does not share the
    file system.
    """

    key: str
    call: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    beat: Path | None = None
    folder: Path | None = None

    def text(self, apart: bool = False) -> str:
        """The job as one line of JSON, for the process that runs it; without its folder and its beat for one that has
        no part in the file system here."""
        if not re.fullmatch(r"[\w.]+:[\w.]+", self.call) or self.call.startswith("__main__:"):
            raise UsageError(
                f'a job calls "package.module:function", importable where it runs, which {self.call!r} is not'
            )
        try:
            place = {} if apart or self.folder is None else {"folder": str(self.folder.absolute())}
            own = {name: value for name, value in self.arguments.items() if not (apart and name == "beat")}
            arguments = json.dumps({**own, **place})
        except (TypeError, ValueError) as error:
            raise UsageError(f"the arguments of the job {self.key!r} are not JSON-ready: {error}") from error
        beat = str(self.beat.absolute()) if self.beat and not apart else None
        return f'{{"call": {json.dumps(self.call)}, "arguments": {arguments}, "beat": {json.dumps(beat)}}}'


@dataclass(frozen=True)
class Outcome:
    """How a job ended.

    - done: `value` is what the function returned;
    - failed: it raised an exception; `reason` is that in one sentence, `detail` the traceback;
    - died: its process, node or allocation is gone; `detail` holds the last it wrote, where that is known;
    - silent: it gave no sign of life and was killed;
    - stopped: it was asked to stop, or had not begun, when the executor was stopped.
    """

    key: str
    kind: Kind
    value: Any = None
    reason: str = ""
    detail: str = ""


@dataclass(eq=False)
class _Held:
    """A job that was handed to the workers, and what is known of its signs of life."""

    job: Job
    stamp: int | None
    began: bool
    quiet: float = 0.0


@dataclass(eq=False, kw_only=True)
class Executor(abc.ABC):
    """Runs jobs elsewhere. A context manager: workers start when jobs need them and are gone after the exit.

        with executor:
            executor.submit(job)                # at any time, also after outcomes came
            for outcome in executor.wait(1): ...

    The promises, which `lengthwise.testing.executors.check_executor` holds every executor to:

    - every job submitted is the subject of one outcome, and of no more than one, also when the executor is stopped;
    - whatever a job does is an outcome and never an exception of `wait`; a worker that dies is replaced, the other
      jobs continue;
    - a job whose beat file has not changed for `silence` seconds is killed. Changes are seen against the clock of this
      process, as the clocks of nodes differ; time in which this process did not look counts a quarter of `silence` at
      most, so that a laptop that was closed does not kill what it was running;
    - `stop` asks every job to stop, by SIGTERM or SIGINT in its main thread, so that it can save what it has and raise
      `Interrupted`; what is still there after `grace` seconds is killed.

    A job reported as ended has no process left as far as can be seen, so its key may be submitted again. The methods
    are called from one thread. A subclass is a dataclass of settings, not frozen as it has a life; it says how one job
    is started, asked to stop, killed and collected. Queue, order, watching and stopping are written once, here.
    """

    silence: float = 600.0
    grace: float = 10.0
    scratch: Path = field(default=Path("."), init=False)  # a folder for files of its own, set before entering

    begins_at_once = True  # False where a job that was started may still stand in somebody else's queue

    def __post_init__(self) -> None:
        for name in ("silence", "grace"):
            if not getattr(self, name) > 0:
                raise UsageError(f"{name} must be a number of seconds above 0, not {getattr(self, name)}")
        self._queue: deque[Job] = deque()
        self._held: dict[str, _Held] = {}
        self._ended: list[Outcome] = []
        self._state: Literal["closed", "open", "stopping"] = "closed"
        self._looked = 0.0

    @property
    @abc.abstractmethod
    def slots(self) -> int:
        """How many jobs run at a time; on a cluster this changes. Known after entering."""

    @property
    def gives_gpus(self) -> bool:
        """Whether every job gets a GPU, or a share of one."""
        return False

    def __enter__(self) -> Self:
        self._open()
        self._state, self._looked = "open", time.monotonic()
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.stop()
        finally:
            self._state = "closed"
            self._close()

    def submit(self, job: Job) -> None:
        """Take a job; it starts as soon as there is a slot for it."""
        if self._state != "open":
            raise UsageError("an executor takes jobs inside its `with` block, until it is stopped")
        if job.key in self.keys():
            raise UsageError(f"a job with the key {job.key!r} has not ended yet; every job needs a key of its own")
        job.text()  # a job that cannot be sent is refused here, where the mistake was made
        self._queue.append(job)
        self._fill()

    def wait(self, seconds: float) -> list[Outcome]:
        """What ended since the last call: as soon as something did, at the latest after `seconds` (after which there
        may be slots where there were none), and at once when the executor was stopped."""
        deadline = time.monotonic() + seconds
        while True:
            self._fill()
            if not self._ended and self._state == "open":
                self._gather(min(max(0.0, deadline - time.monotonic()), self._pace))
                self._fill()
            if self._ended or self._state != "open" or time.monotonic() >= deadline:
                ended, self._ended = self._ended, []
                return ended

    def keys(self) -> list[str]:
        """The jobs that have not ended: running, started, or waiting for a slot."""
        return [*self._held, *(job.key for job in self._queue)]

    def running(self) -> list[str]:
        """The jobs that run now as far as is known: where a cluster has its own queue, those that gave a sign of life
        and those that are not watched."""
        return [key for key, held in self._held.items() if held.began or held.job.beat is None]

    def stop(self) -> None:
        """Stop all jobs and take no more. Their outcomes come with the next `wait`; calling it twice does nothing."""
        if self._state == "open":
            self._state = "stopping"
        while self._queue:
            self._ended.append(Outcome(self._queue.popleft().key, "stopped", reason="stopped before it began"))
        deadline = time.monotonic() + self.grace
        try:
            for key in list(self._held):
                self._ask(key)
            while self._held and (left := deadline - time.monotonic()) > 0:
                self._gather(min(left, self._pace))
        finally:  # a second Ctrl-C ends the waiting, not the killing
            late = f"killed, as it was still there {self.grace:g} s after it was asked to stop"
            self._end(list(self._held), "stopped", late)

    # What a subclass says. A key is in its hands from `_start` until `_collect` reports it or `_kill` returns.

    @abc.abstractmethod
    def _start(self, job: Job) -> None:
        """Hand a job to a worker. Called while fewer than `slots` jobs are held. An exception: it cannot be started."""

    @abc.abstractmethod
    def _collect(self, seconds: float) -> list[Outcome]:
        """What ended, waiting up to `seconds` for the first; it may come back sooner with nothing."""

    @abc.abstractmethod
    def _ask(self, key: str) -> None:
        """Ask a job to stop by itself; returns at once."""

    @abc.abstractmethod
    def _kill(self, keys: Sequence[str]) -> None:
        """End jobs that may not answer, see them gone as far as possible within seconds, and forget their keys."""

    def _open(self) -> None:  # noqa: B027  # there may be nothing to prepare
        """Prepare what workers need, or raise a UsageError that says what is missing."""

    def _close(self) -> None:  # noqa: B027
        """Let the workers go; no job is held any more."""

    # What is written once.

    @property
    def _pace(self) -> float:
        return min(1.0, self.silence / 10)

    def _fill(self) -> None:
        """Start queued jobs while there are slots."""
        if not self._queue or self._state != "open":
            return
        free = self.slots - len(self._held)
        while self._queue and free > 0:
            job, free = self._queue.popleft(), free - 1
            stamp = _stamp(job.beat)
            try:
                self._start(job)
            except Exception as error:  # whatever it is, it belongs to this job: the others go on
                reason = " ".join(f"could not be started: {type(error).__name__}: {error}".split())
                self._ended.append(Outcome(job.key, "died", reason=reason))
            else:
                self._held[job.key] = _Held(job, stamp, began=self.begins_at_once)

    def _gather(self, seconds: float) -> None:
        """Collect what ended and kill what is silent."""
        if self._held:
            for outcome in self._collect(seconds):
                if self._held.pop(outcome.key, None):
                    self._ended.append(self._judge(outcome))
        else:
            time.sleep(seconds)
        self._watch()

    def _judge(self, outcome: Outcome) -> Outcome:
        """A job that goes down after it was asked to stop is stopped; one that was interrupted by others is not."""
        if self._state == "stopping" and outcome.kind == "died":
            return dataclasses.replace(outcome, kind="stopped")
        if self._state == "open" and outcome.kind == "stopped":
            return dataclasses.replace(outcome, kind="died", reason=f"interrupted from outside: {outcome.reason}")
        return outcome

    def _watch(self) -> None:
        now = time.monotonic()
        passed = now - self._looked
        if passed < self._pace / 2:
            return
        self._looked = now
        silent = []
        for key, held in self._held.items():
            stamp = _stamp(held.job.beat)
            if stamp != held.stamp:
                held.stamp, held.began, held.quiet = stamp, True, 0.0
            elif held.began and held.job.beat:
                held.quiet += min(passed, self.silence / 4)
                if held.quiet >= self.silence:
                    silent.append(key)
        self._end(silent, "silent", f"no sign of life for {self.silence:g} s")

    def _end(self, keys: Sequence[str], kind: Kind, reason: str) -> None:
        """Kill jobs and say why."""
        if keys:
            for key in keys:
                del self._held[key]
                self._ended.append(Outcome(key, kind, reason=reason))
            self._kill(keys)


def _stamp(beat: Path | None) -> int | None:
    """When a file was last touched, by the clock of whoever touched it: good for seeing change, for nothing else."""
    try:
        return beat.stat().st_mtime_ns if beat else None
    except OSError:
        return None


def check_made(executor: Executor) -> None:
    """Raise AssertionError unless an executor has what is called on it. This is the part of the contract that takes no
    time, for classes of users; `lengthwise.testing.executors.check_executor` tries the rest."""
    assert hasattr(executor, "_queue"), "its __post_init__ calls super().__post_init__(), which makes the queue"
    assert isinstance(type(executor).slots, property), "slots is a property: how many jobs run at a time"
    called = {"_start": "job", "_collect": "seconds", "_ask": "key", "_kill": "keys", "_open": "", "_close": ""}
    for name, argument in called.items():
        try:
            inspect.signature(getattr(executor, name)).bind(*([None] if argument else []))
        except (TypeError, ValueError):
            raise AssertionError(f"{name} is called as {name}({argument})") from None
