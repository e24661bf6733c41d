"""What a person sees while a model predicts: how many tokens are done, and how long the others will take."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator

from lengthwise.cli.output import narrate
from lengthwise.terminal import redraw

EVERY = 30.0  # seconds between two lines where there is no terminal


class TokenProgress:
    """Progress on stderr: one line per kind of work, and on a terminal a line that changes with the steps done."""

    def __init__(self) -> None:
        self.terminal = sys.stderr.isatty()
        self.doing, self.before, self.began, self.told = "", 0, 0.0, 0.0

    def __call__(self, done: str, step: int, steps: int) -> None:
        now = time.monotonic()
        if done != self.doing:
            self.doing, self.before, self.began, self.told = done, step, now, now
            self.clear()
            narrate(f"{done} …", False)
            return
        if now - self.began < 0.5:  # what was on disk already takes no time
            self.before = step
        if now - self.told < (0.5 if self.terminal else EVERY):
            return
        self.told = now
        speed = (step - self.before) / max(1e-9, now - self.began)
        left = f", {(steps - step) / speed / 60:.1f} minutes left" if speed and steps > step else ""
        line = f"{step:,} of about {steps:,} tokens, {speed:,.0f} per second{left}"
        if self.terminal:
            redraw(line)
        else:
            print(line, file=sys.stderr, flush=True)

    def clear(self) -> None:
        if self.terminal:
            redraw("")


@contextlib.contextmanager
def telling(quiet: bool) -> Iterator[Callable[[str, int, int], None]]:
    """Progress that narrates on stderr, or that nobody hears of."""
    if quiet:
        yield lambda *_: None
        return
    progress = TokenProgress()
    try:
        yield progress
    finally:
        progress.clear()
