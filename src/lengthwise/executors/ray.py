"""Workers of a Ray cluster: one that is there already, by its address, or one started on this machine."""

from __future__ import annotations

import contextlib
import json
import logging
import math
import signal
import socket
import sys
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lengthwise.errors import UsageError
from lengthwise.executors import executors
from lengthwise.executors.call import ONE_THREAD, here, read_outcome, run_apart, run_elsewhere, sentence, variables
from lengthwise.executors.executor import Executor, Job, Outcome
from lengthwise.executors.local import cores
from lengthwise.executors.luggage import files_in, write_files

_REACH = 3.0  # seconds in which an address answers
_GONE = 8.0  # seconds in which a killed worker goes; Ray itself waits five for one that does not answer


@executors.register("ray")
@dataclass(eq=False)
class Ray(Executor):
    """A Ray cluster: `address` is HOST:PORT or auto; without one, a cluster is started here and ended with the study.

    A slot is a CPU of the cluster and, where `gpus` is above 0, as many GPUs or such a share of one; nodes may come and
    go. A job that was started may still stand in Ray's own queue behind other people's: it is watched from its first
    beat. The coordinator runs on one of the nodes.

    The nodes share the file system unless `shared` is false: a job finds its files where the coordinator has them. Not
    shared, the files of its folder travel with a job and what it leaves there comes back with its outcome, through Ray.
    It is then not watched for silence, and a node that is lost takes its unfinished work along.
    """

    address: str = ""
    gpus: float = 0.0
    shared: bool = True

    begins_at_once = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (self.gpus >= 0 and (self.gpus <= 1 or self.gpus.is_integer())):
            raise UsageError(
                f"ray: gpus must be a share of one GPU up to 1, or a whole number of them, not {self.gpus}"
            )
        self._ray: Any = None
        self._references: dict[str, Any] = {}
        self._folders: dict[str, Path] = {}
        self._exit = contextlib.ExitStack()

    @property
    def slots(self) -> int:
        if not self._ray:
            return 0
        there = self._ray.cluster_resources()
        cpus = int(there.get("CPU", 0))
        return cpus if not self.gpus else min(cpus, math.floor(there.get("GPU", 0) / self.gpus + 1e-6))

    @property
    def gives_gpus(self) -> bool:
        return self.gpus > 0

    def _open(self) -> None:
        ray = _import_ray()
        if not ray.is_initialized():  # otherwise the caller has a connection, and keeps it
            check_address(self.address)
            with contextlib.ExitStack() as opened:
                opened.enter_context(_quiet())
                self._connect(ray)
                opened.callback(ray.shutdown)
                self._exit = opened.pop_all()
        self._ray, self._place = ray, here()
        self._function = ray.remote(**self._request())(run_elsewhere if self.shared else run_apart)

    def _request(self) -> dict[str, Any]:
        """What is asked of Ray for every job."""
        gpus = {"num_gpus": self.gpus} if self.gpus else {}
        return {"num_cpus": 1, **gpus, "max_retries": 0, "runtime_env": {"env_vars": ONE_THREAD}}

    def _connect(self, ray: Any) -> None:
        quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
        # Ray tries a dead address for minutes unless told how often, and by default tells its makers of every start.
        settings = {"RAY_gcs_server_port_wait_time_s": "1"} if self.address else {"RAY_USAGE_STATS_ENABLED": "0"}
        try:
            with variables(settings), _own_signals():
                if self.address:
                    ray.init(address=self.address, **quiet)
                else:
                    ray.init(address="local", num_cpus=cores(), include_dashboard=False, **quiet)
        except (ConnectionError, RuntimeError, ValueError) as error:
            where = (
                f"no Ray cluster answers at {self.address}" if self.address else "no Ray cluster could be started here"
            )
            raise UsageError(f"{where} ({sentence(error)})") from error

    def _close(self) -> None:
        self._ray = None
        self._exit.close()

    def _start(self, job: Job) -> None:
        if self.shared:
            self._references[job.key] = self._function.remote(job.text(), self._place)
            return
        files = None if job.folder is None else files_in(job.folder)
        self._references[job.key] = self._function.remote(job.text(apart=True), json.loads(self._place)[0], files)
        if job.folder is not None:
            self._folders[job.key] = job.folder

    def _collect(self, seconds: float) -> list[Outcome]:
        waiting = list(self._references.values())
        if not self._ray.wait(waiting, num_returns=1, timeout=seconds)[0]:
            return []
        ready = set(self._ray.wait(waiting, num_returns=len(waiting), timeout=0)[0])
        ended = [key for key, reference in self._references.items() if reference in ready]
        return [self._outcome(key, self._references.pop(key)) for key in ended]

    def _outcome(self, key: str, reference: Any) -> Outcome:
        folder = self._folders.pop(key, None)
        try:
            if self.shared:
                return read_outcome(key, self._ray.get(reference))
            text, files = self._ray.get(reference)
            if folder is not None:
                write_files(folder, files)
            return read_outcome(key, text)
        except (OSError, UsageError) as error:
            return Outcome(key, "failed", reason=f"what it left could not be written: {sentence(error)}")
        except self._ray.exceptions.TaskCancelledError:
            return Outcome(key, "stopped", reason="cancelled by Ray")
        except self._ray.exceptions.RayTaskError as error:  # not of the job, which reports its own: of the node
            return Outcome(key, "failed", reason=sentence(error.cause or error), detail=str(error))
        except self._ray.exceptions.RayError as error:
            first = str(error).strip().partition(". ")[0].rstrip(".")
            return Outcome(key, "died", reason=f"{first} ({type(error).__name__})", detail=str(error))

    def _ask(self, key: str) -> None:
        self._ray.cancel(self._references[key])  # a SIGINT, as the main thread of the worker sees it

    def _kill(self, keys: Sequence[str]) -> None:
        references = [self._references.pop(key) for key in keys]
        for key in keys:
            self._folders.pop(key, None)
        for reference in references:
            self._ray.cancel(reference, force=True)
        self._ray.wait(references, num_returns=len(references), timeout=_GONE)


def check_address(address: str) -> None:
    """Refuse an address at which nothing listens. Ray would find that out too, after minutes."""
    if address in ("", "auto"):
        return
    host, colon, port = address.rpartition(":")
    if not colon or not port.isdigit() or "/" in host:
        raise UsageError(f"a Ray address is HOST:PORT or auto, not {address!r}")
    try:
        socket.create_connection((host, int(port)), timeout=_REACH).close()
    except (OSError, OverflowError) as error:
        raise UsageError(f"no Ray cluster answers at {address} ({sentence(error)})") from error


def _import_ray() -> Any:
    try:
        import ray
    except ImportError as error:
        raise UsageError("the executor ray needs Ray: pip install 'lengthwise[ray]'") from error
    return ray


@contextlib.contextmanager
def _own_signals() -> Iterator[None]:
    """Keep the caller's SIGTERM, which `ray.init` would replace by one that ends the process at once."""
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        if before is not None and threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, before)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keep Ray from printing on our standard output, where results go: a dead worker is a paragraph to it, whatever
    its logging level, and an outcome to us."""
    worker = sys.modules.get("ray._private.worker")
    printer = getattr(worker, "print_to_stdstream", None)
    if printer is None:
        yield
        return
    setattr(worker, "print_to_stdstream", lambda *_, **__: None)  # noqa: B010
    try:
        yield
    finally:
        setattr(worker, "print_to_stdstream", printer)  # noqa: B010
