"""The process of a local worker: it reads jobs from its channel, runs them one by one, and writes back what came of
them. Nothing is pickled and the caller's main module is not imported again, so scripts and notebooks need no guard."""

from __future__ import annotations

import ctypes
import json
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Mapping
from typing import Any

from lengthwise.executors.call import run_elsewhere

_PR_SET_PDEATHSIG = 1  # prctl(2)
_LOOK = 0.2  # seconds between two looks at the parent


def main(settings: Mapping[str, Any]) -> None:
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
