"""Is numba there? The exact solvers are the same with and without it; compiled, they are much faster."""

from __future__ import annotations

import functools
import importlib.util
from collections.abc import Callable
from typing import Any

INSTALL = "pip install 'lengthwise[ot]'"


@functools.cache
def compiled() -> bool:
    """Whether numba is installed."""
    return importlib.util.find_spec("numba") is not None


def compile_if_possible(reorder: bool = False) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator that compiles at the first call and keeps the result on disk, or that does nothing without numba.

    `reorder` lets sums be reordered, so that loops become vector instructions; infinities keep their meaning.
    """
    if not compiled():
        return lambda function: function
    import numba

    return numba.njit(cache=True, nogil=True, fastmath={"contract", "reassoc", "nsz"} if reorder else False)
