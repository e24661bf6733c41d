"""What a person sees while a long file is read: the number of lines, on a terminal alone."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator


@contextlib.contextmanager
def counted_lines(quiet: bool) -> Iterator[Callable[[int], None] | None]:
    """A function that is told how many lines were read; None where nobody looks."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    try:
        yield lambda lines: print(f"\r{lines:,} lines read", end="", file=sys.stderr, flush=True)
    finally:
        print("\r\033[K", end="", file=sys.stderr, flush=True)
