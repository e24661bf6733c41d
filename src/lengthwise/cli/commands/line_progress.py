"""What a person sees while something takes long: one line that is written again and again, on a terminal alone."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator

from lengthwise.terminal import redraw


@contextlib.contextmanager
def line_shown(quiet: bool) -> Iterator[Callable[[str], None] | None]:
    """A function that shows a text in place of the one before; the line is gone in the end. None where nobody looks."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    try:
        yield redraw
    finally:
        redraw("")
