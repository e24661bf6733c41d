"""Progress: one protocol for everything that takes long, `progress(done, step, steps)`.

`done` says in a few words what was just done, `step` of `steps` how far it is. `shown` draws it: a bar on a terminal
and in a notebook, nothing elsewhere.
"""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Callable, Iterator

from lengthwise.terminal import live_bars, silence, visible

Progress = Callable[[str, int, int], None]
EVERY = 10.0  # seconds between two lines, where no bar is drawn
SOON = 2.0  # seconds after which somebody at a terminal wants to know whether anything happens


def silent(done: str, step: int, steps: int) -> None:
    """Progress that nobody sees."""


@contextlib.contextmanager
def shown(progress: Progress | None = None, quiet: bool = False, title: str = "") -> Iterator[Progress]:
    """`progress` itself where one is given; else a bar with the time that is left, where somebody looks, and a line
    every ten seconds where the output goes elsewhere."""
    if progress is not None or quiet:
        yield progress or silent
        return
    if not (sys.stderr.isatty() or _in_notebook()):
        yield _lines(title)
        return
    from rich.progress import BarColumn, TextColumn, TimeRemainingColumn

    what, note = (TextColumn(field, markup=False) for field in ("{task.description}", "{task.fields[note]}"))
    with live_bars(what, BarColumn(bar_width=12), note, TimeRemainingColumn(compact=True)) as bars:
        bar = bars.add_task(visible(title), total=None, note="")
        before = 0

        def draw(done: str, step: int, steps: int) -> None:
            nonlocal before
            if step < before:  # another thing has begun
                bars.reset(bar, note="")
            before = step
            bars.update(bar, total=steps, completed=step, note=visible(done), refresh=True)

        yield draw


def _lines(title: str) -> Progress:
    """Progress as lines, none in the first ten seconds and one in each ten after that."""
    told = time.monotonic()

    def tell(done: str, step: int, steps: int) -> None:
        nonlocal told
        if time.monotonic() - told >= EVERY:
            told = time.monotonic()
            far = f" ({step:,} of {steps:,})" if steps > 1 else ""
            print(visible(f"{title}: {done}{far}" if title else f"{done}{far}"), file=sys.stderr, flush=True)

    return tell


@contextlib.contextmanager
def waited(what: str, quiet: bool = False) -> Iterator[None]:
    """Report how long something has taken whenever nothing was printed for ten seconds; at a terminal, the first time
    after two. It runs in a thread of its own, so that the long computation need not know about it."""
    if quiet:
        yield
        return
    over, began, pause = threading.Event(), time.monotonic(), SOON if sys.stderr.isatty() else EVERY

    def tell() -> None:
        wait = pause
        while not over.wait(wait):
            if silence() < pause:  # others tell of it
                wait = max(0.1, pause - silence())
                continue
            print(f"{what}: {time.monotonic() - began:.0f} s so far; Ctrl-C stops it", file=sys.stderr, flush=True)
            wait = EVERY

    teller = threading.Thread(target=tell, daemon=True)
    teller.start()
    try:
        yield
    finally:
        over.set()
        teller.join()


def _in_notebook() -> bool:
    """Whether a notebook runs this code; it shows what rich draws."""
    shell = sys.modules.get("IPython")
    found = shell.get_ipython() if shell is not None else None
    return type(found).__name__ == "ZMQInteractiveShell"
