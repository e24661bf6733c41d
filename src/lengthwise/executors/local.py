"""Workers on this machine: processes of their own that stay, one job at a time each, one thread each."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.connection import wait as wait_for

from lengthwise.errors import UsageError
from lengthwise.executors import executors
from lengthwise.executors.call import ONE_THREAD, here, read_outcome
from lengthwise.executors.executor import Executor, Job, Outcome
from lengthwise.limits import check_count

# Started with -P and its path given, a worker finds the modules its parent finds, and no others.
_BEGIN = (
    "import json, sys; settings = json.loads(sys.argv.pop()); sys.path[:] = settings['path']; "
    "from lengthwise.executors.call import serve; serve(settings)"
)
_MOST_WORKERS = 1024
_LAST_WORDS = 2000  # bytes of a dead worker's output that are kept
_SEND = 10.0  # seconds in which a worker takes a job
_LOOK = 0.1  # seconds between two looks at whether workers are alive


@executors.register("local")
@dataclass(eq=False)
class Local(Executor):
    """Processes on this machine, as many as it has cores unless `workers` says otherwise.

    What jobs print goes to a file that is read only when a worker dies."""

    workers: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.workers < 0:
            raise UsageError(f"local needs at least 1 worker (or 0, for one per core), not {self.workers}")
        check_count(self.workers, "the number of workers", _MOST_WORKERS)
        self._team: list[_Worker] = []

    @property
    def slots(self) -> int:
        return self.workers or cores()

    def _start(self, job: Job) -> None:
        for worker in [worker for worker in self._team if worker.key is None]:
            with contextlib.suppress(OSError):  # it died while it had nothing to do
                return worker.give(job)
            self._dismiss(worker)
        worker = _Worker()
        self._team.append(worker)
        try:
            worker.give(job)
        except OSError:
            self._dismiss(worker)
            raise

    def _collect(self, seconds: float) -> list[Outcome]:
        busy = [worker for worker in self._team if worker.key is not None]
        wait_for([worker.channel for worker in busy], timeout=min(seconds, _LOOK))
        outcomes = []
        for worker in busy:
            if outcome := worker.outcome():
                outcomes.append(outcome)
                worker.key = None
                if worker.dead:
                    self._dismiss(worker)
        return outcomes

    def _ask(self, key: str) -> None:
        self._worker(key).process.send_signal(signal.SIGTERM)

    def _kill(self, keys: Sequence[str]) -> None:
        for key in keys:
            self._dismiss(self._worker(key))

    def _close(self) -> None:
        for worker in list(self._team):
            self._dismiss(worker)

    def _worker(self, key: str) -> _Worker:
        return next(worker for worker in self._team if worker.key == key)

    def _dismiss(self, worker: _Worker) -> None:
        self._team.remove(worker)
        worker.kill()


class _Worker:
    """A worker process as its parent sees it: the job it has, a channel of JSON lines, and a file of what it wrote."""

    def __init__(self) -> None:
        self.key: str | None = None
        self.dead = False
        self.channel, theirs = socket.socketpair()
        self._received = bytearray()
        self._output = tempfile.TemporaryFile("a+b")  # noqa: SIM115  # appended to, so that it can be emptied meanwhile
        main_thread = threading.current_thread() is threading.main_thread()
        settings = {"channel": theirs.fileno(), "parent": os.getpid(), "by_signal": main_thread}
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, "-P", "-c", _BEGIN, json.dumps({**settings, "path": json.loads(here())[0]})],
                stdin=subprocess.DEVNULL,
                stdout=self._output,
                stderr=subprocess.STDOUT,
                env={**os.environ, **ONE_THREAD},
                pass_fds=[theirs.fileno()],
                process_group=0,  # so that what a job starts can be killed with it, and Ctrl-C reaches the parent only
            )

    def give(self, job: Job) -> None:
        if self.process.poll() is not None:
            raise BrokenPipeError("the worker has ended")
        self._output.truncate(0)
        self.channel.settimeout(_SEND)
        self.channel.sendall(json.dumps([job.text(), here()]).encode() + b"\n")
        self.channel.setblocking(False)
        self.key = job.key

    def outcome(self) -> Outcome | None:
        """How its job ended, if it did. What the worker wrote counts before the fact that it is dead."""
        assert self.key is not None
        ended = self.process.poll() is not None  # looked at first: what a dead worker wrote is all there
        open_still = self._receive()
        line, newline, _ = bytes(self._received).partition(b"\n")
        if newline:
            self._received.clear()
            with contextlib.suppress(ValueError, TypeError):
                return read_outcome(self.key, line)
            return self._death("its worker answered something unreadable")
        if ended or not open_still:
            return self._death()
        return None

    def _receive(self) -> bool:
        """Read what has arrived without waiting; returns whether the channel is still open."""
        while True:
            try:
                chunk = self.channel.recv(1 << 16)
            except BlockingIOError:
                return True
            except OSError:
                return False
            if not chunk:
                return False
            self._received += chunk

    def _death(self, reason: str = "") -> Outcome:
        assert self.key is not None
        self.dead = True
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(timeout=1)  # the channel closes a moment before the process ends
        self._output.seek(max(0, self._output.seek(0, os.SEEK_END) - _LAST_WORDS))
        words = self._output.read().decode(errors="replace").strip()
        return Outcome(self.key, "died", reason=reason or _how(self.process.returncode), detail=words)

    def kill(self) -> None:
        """End the process and whatever it started."""
        if self.process.poll() is None:
            with contextlib.suppress(OSError):
                os.killpg(self.process.pid, signal.SIGKILL)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(timeout=5)  # in vain only if the kernel itself cannot end it
        self.channel.close()
        self._output.close()


def _how(code: int | None) -> str:
    if code is None:
        return "its worker closed the channel"
    if code >= 0:
        return f"its worker ended with exit code {code}"
    known = {number.value: number.name for number in signal.Signals}
    name = known.get(-code, f"signal {-code}")
    return f"killed by {name}" + (" (out of memory?)" if name == "SIGKILL" else "")


def cores() -> int:
    """The cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
