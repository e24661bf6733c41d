"""What a person sees while a model predicts: how many tokens are done, and how long the others will take."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator

from lengthwise.cli.output import narrate
from lengthwise.guarantees.listener import Listener
from lengthwise.terminal import redraw

EVERY = 30.0  # seconds between two lines where there is no terminal


@contextlib.contextmanager
def telling(quiet: bool) -> Iterator[Listener]:
    """A listener that narrates on stderr; on a terminal the count of tokens is one line that changes."""
    if quiet:
        yield Listener()
        return
    terminal = sys.stderr.isatty()
    began = told = time.monotonic()
    before = 0

    def clear() -> None:
        if terminal:
            redraw("")

    def said(doing: str) -> None:
        nonlocal began, told, before
        began = told = time.monotonic()
        before = 0
        clear()
        narrate(f"{doing} …", False)

    def reached(done: int, total: int | None) -> None:
        nonlocal told, before, began
        now = time.monotonic()
        if now - began < 0.5:  # what was on disk already takes no time
            before = done
        if now - told < (0.5 if terminal else EVERY):
            return
        told = now
        speed = (done - before) / max(1e-9, now - began)
        left = f", {(total - done) / speed / 60:.1f} minutes left" if total and speed and total > done else ""
        of = f" of about {total:,}" if total else ""
        line = f"{done:,}{of} tokens, {speed:,.0f} a second{left}"
        if terminal:
            redraw(line)
        else:
            print(line, file=sys.stderr, flush=True)

    try:
        yield Listener(said, reached)
    finally:
        clear()
