"""A job where it runs: import the function, call it, and say what came of it. JSON in, JSON out, for every executor.

A local worker is a process that reads jobs from its channel, runs them one by one, and writes back what came of them.
Nothing is pickled and the caller's main module is not imported again, so scripts and notebooks need no guard."""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import json
import os
import platform
import signal
import socket
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Iterator, Mapping
from functools import reduce
from pathlib import Path
from typing import Any

from lengthwise.errors import Interrupted
from lengthwise.executors.executor import Outcome
from lengthwise.executors.luggage import files_in, write_files

# Small models run best on one thread a process, and only equal thread counts give equal bits on every executor.
ONE_THREAD: dict[str, str] = dict.fromkeys(
    ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "BLIS_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"), "1"
)

_OWN_PATH = tuple(sys.path)  # of this process, before any job
_PR_SET_PDEATHSIG = 1  # prctl(2)
_LOOK = 0.2  # seconds between two looks at the parent
_SENTENCE, _DETAIL = 400, 8000  # characters kept of a message and of a traceback


def run_job(text: str) -> str:
    """Run the job that `Job.text` gave; the outcome, without its key, as one line of JSON for `read_outcome`."""
    job = json.loads(text)
    try:
        _touch(job["beat"])
        return _plain("done", value=_function(job["call"])(**job["arguments"]), call=job["call"])
    except (Interrupted, KeyboardInterrupt) as error:
        return _plain("stopped", reason=sentence(error))
    except BaseException as error:  # SystemExit too: a job does not end its worker by an exception
        return _plain("failed", reason=sentence(error), detail=_shortened(traceback.format_exc()))


def run_elsewhere(text: str, place: str) -> str:
    """Run a job in another process as if it were where it was submitted: `here` gave that place."""
    path, folder = json.loads(place)
    os.environ.update(ONE_THREAD)
    if not os.path.isdir(folder):
        lost = f"the folder {folder} is not there on the node {platform.node()}; nodes must share the file system"
        return _plain("failed", reason=lost)
    os.chdir(folder)
    sys.path[:] = [*path, *(entry for entry in _OWN_PATH if entry not in path)]
    return run_job(text)


def run_apart(text: str, path: list[str], files: Mapping[str, bytes] | None) -> tuple[str, dict[str, bytes]]:
    """Run a job on a node that shares no file system: in a folder of its own, which holds these files at first. Gives
    the outcome and the files that are there at the end; the folder is removed. None: the job has no files."""
    os.environ.update(ONE_THREAD)
    sys.path[:] = [*(entry for entry in path if os.path.exists(entry) and entry not in _OWN_PATH), *_OWN_PATH]
    with tempfile.TemporaryDirectory(prefix="lengthwise-") as made:
        folder = Path(made) / "job"
        folder.mkdir()
        write_files(folder, files or {})
        os.chdir(made)
        job = json.loads(text)
        if files is not None:
            job["arguments"]["folder"] = str(folder)
        try:
            return run_job(json.dumps(job)), files_in(folder)
        finally:
            os.chdir(tempfile.gettempdir())  # the folder goes


def here() -> str:
    """The places modules are found in and the current folder, as JSON."""
    folder = os.getcwd()
    return json.dumps([[entry or folder for entry in sys.path], folder])


@contextlib.contextmanager
def variables(settings: Mapping[str, str]) -> Iterator[None]:
    """Environment variables that are not set otherwise, set inside the block."""
    new = {name: value for name, value in settings.items() if not os.environ.get(name)}
    os.environ.update(new)
    try:
        yield
    finally:
        for name in new:
            os.environ.pop(name, None)


def read_outcome(key: str, text: str | bytes) -> Outcome:
    """The outcome that `run_job` described; a ValueError or TypeError where the text is something else."""
    return Outcome(key, **json.loads(text))


def sentence(error: BaseException) -> str:
    """An exception in one line: its kind and what it says, shortened."""
    try:
        message = " ".join(str(error).split())
    except Exception:
        message = "(an exception that cannot be printed)"
    text = f"{type(error).__name__}: {message}" if message else type(error).__name__
    return text if len(text) <= _SENTENCE else text[: _SENTENCE - 1] + "…"


def _plain(kind: str, value: Any = None, reason: str = "", detail: str = "", call: str = "") -> str:
    try:
        return json.dumps({"kind": kind, "value": value, "reason": reason, "detail": detail})
    except (TypeError, ValueError, RecursionError) as error:
        told = f"{call} returned a {type(value).__name__} that is not JSON-ready: {error}"
        return _plain("failed", reason=told[:_SENTENCE], detail=_shortened(repr(error)))


def _function(call: str) -> Any:
    module, _, name = call.partition(":")
    importlib.invalidate_caches()  # the worker may be older than the file
    return reduce(getattr, name.split("."), importlib.import_module(module))


def _touch(beat: str | None) -> None:
    if beat:
        Path(beat).parent.mkdir(parents=True, exist_ok=True)
        Path(beat).touch()


def _shortened(text: str) -> str:
    """The beginning and the end: what raised is at the end, what was called at the beginning."""
    half = _DETAIL // 2
    return text if len(text) <= _DETAIL else f"{text[:half]}\n…\n{text[-half:]}"


def serve(settings: Mapping[str, Any]) -> None:
    """Serve the channel (a socket, by its file descriptor) until it is closed or the parent is gone."""
    channel = socket.socket(fileno=settings["channel"])
    channel.set_inheritable(False)  # a child of a job must not keep the channel open after the worker's death
    die_with(settings["parent"], settings["by_signal"])
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which decides what becomes of the jobs
    with channel.makefile("r", encoding="ascii") as lines:
        for line in lines:
            reply = run_elsewhere(*json.loads(line))
            signal.signal(signal.SIGTERM, signal.SIG_DFL)  # what one job changed must not reach the next
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            channel.sendall(reply.encode() + b"\n")
    os._exit(0)  # threads and exit hooks that jobs left behind have nothing more to say


def die_with(parent: int, by_signal: bool) -> None:
    """End this process within a second of its parent's death, whatever the job is doing.

    On Linux the kernel kills it, which also works while a job holds the interpreter; but the kernel means the thread
    that started the process, so this is only asked for (`by_signal`) if that was the parent's main thread. A thread
    that looks at the parent's number does it everywhere."""
    if by_signal and sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)

    def look() -> None:
        while os.getppid() == parent:
            time.sleep(_LOOK)
        os._exit(1)

    threading.Thread(target=look, name="parent", daemon=True).start()
