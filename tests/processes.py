"""Waiting for what other processes do, and looking at them: nothing here relies on how fast a machine is."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")
PATIENCE = 120.0  # seconds after which something that should happen is taken never to happen, on a busy machine too


def wait_until(happened: Callable[[], T], what: str = "what was waited for", seconds: float = PATIENCE) -> T:
    """What `happened` gives once it is true."""
    end = time.monotonic() + seconds
    while not (seen := happened()):
        assert time.monotonic() < end, f"{what} has not happened within {seconds:g} s"
        time.sleep(0.02)
    return seen


def free_port() -> int:
    """A port of this machine that nothing listens on."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def listens(port: int) -> bool:
    with socket.socket() as tried:
        return tried.connect_ex(("127.0.0.1", port)) == 0


def alive(pid: int) -> bool:
    """Whether a process runs; one that is dead and not yet buried does not."""
    try:
        return _stat(pid)[0] not in "ZX"
    except OSError:
        return False


def children_of(parent: int, command: str = "") -> list[int]:
    """Processes whose parent is this one and whose command line holds `command`."""
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        pid = int(status.parent.name)
        with contextlib.suppress(OSError):  # it has just ended
            if int(_stat(pid)[1]) == parent and command in (status.parent / "cmdline").read_text():
                found.append(pid)
    return found


def kill_parent(process: subprocess.Popen[str]) -> None:
    """Kill a process, and wait until the children it had are gone too, as they should be by themselves."""
    orphans = children_of(process.pid)
    process.kill()
    process.communicate()
    wait_until(lambda: not any(map(alive, orphans)), "the end of the orphans")


def _stat(pid: int) -> list[str]:
    """State, parent and so on of a process."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
