"""Where a run was made: versions, threads, machine; what a reader needs to make it again."""

from __future__ import annotations

import contextlib
import importlib.metadata
import os
import platform
from collections.abc import Iterator
from typing import Any

import torch

from lengthwise.errors import UsageError
from lengthwise.version import __version__

_PACKAGES = ("torch", "numpy", "safetensors")


def environment() -> dict[str, Any]:
    """Versions, threads and host facts, as JSON-ready data."""
    return {
        "lengthwise": __version__,
        "python": platform.python_version(),
        "packages": {name: importlib.metadata.version(name) for name in _PACKAGES},
        "threads": torch.get_num_threads(),
        "cores": os.cpu_count(),
        "machine": platform.machine(),
        "system": platform.system(),
    }


@contextlib.contextmanager
def threads(count: int) -> Iterator[None]:
    """Use `count` torch threads inside the block. With small models two processes of one thread beat one of two."""
    if count < 1:
        raise UsageError(f"torch works with at least 1 thread, not {count}")
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)
