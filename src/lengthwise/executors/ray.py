"""Workers of a Ray cluster: one that is there already, by its address, or one started on this machine."""

from __future__ import annotations

import contextlib
import logging
import signal
import socket
import sys
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from lengthwise.errors import UsageError
from lengthwise.executors import executors
from lengthwise.executors.call import ONE_THREAD, here, read_outcome, run_elsewhere, sentence, variables
from lengthwise.executors.executor import Executor, Job, Outcome
from lengthwise.executors.local import cores

_REACH = 3.0  # seconds in which an address answers
_GONE = 8.0  # seconds in which a killed worker goes; Ray itself waits five for one that does not answer


@executors.register("ray")
@dataclass(eq=False)
class Ray(Executor):
    """A Ray cluster: `address` is HOST:PORT or auto; without one, a cluster is started here and ended with the study.

    The nodes must share the file system, as a job finds its files (and modules of the user's) where the coordinator
    has them, and the coordinator runs on one of the nodes. A slot is a CPU of the cluster; nodes may come and go. A
    job that was started may still stand in Ray's own queue behind other people's: it is watched from its first beat.
    """

    address: str = ""

    begins_at_once = False

    def __post_init__(self) -> None:
        super().__post_init__()
        self._ray: Any = None
        self._references: dict[str, Any] = {}
        self._exit = contextlib.ExitStack()

    @property
    def slots(self) -> int:
        return int(self._ray.cluster_resources().get("CPU", 0)) if self._ray else 0

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
        options: dict[str, Any] = {"num_cpus": 1, "max_retries": 0, "runtime_env": {"env_vars": ONE_THREAD}}
        self._function = ray.remote(**options)(run_elsewhere)

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
        self._references[job.key] = self._function.remote(job.text(), self._place)

    def _collect(self, seconds: float) -> list[Outcome]:
        waiting = list(self._references.values())
        if not self._ray.wait(waiting, num_returns=1, timeout=seconds)[0]:
            return []
        ready = set(self._ray.wait(waiting, num_returns=len(waiting), timeout=0)[0])
        ended = [key for key, reference in self._references.items() if reference in ready]
        return [self._outcome(key, self._references.pop(key)) for key in ended]

    def _outcome(self, key: str, reference: Any) -> Outcome:
        try:
            return read_outcome(key, self._ray.get(reference))
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
