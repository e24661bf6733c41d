"""Progress: one protocol for everything that takes long, `progress(done, step, steps)`.

`done` says in a few words what was just done, `step` of `steps` how far it is. `shown` draws it: a bar on a terminal
and in a notebook, nothing elsewhere.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator

from lengthwise.terminal import live_bars, visible

Progress = Callable[[str, int, int], None]


def silent(done: str, step: int, steps: int) -> None:
    """Progress that nobody sees."""


@contextlib.contextmanager
def shown(progress: Progress | None = None, quiet: bool = False, title: str = "") -> Iterator[Progress]:
    """`progress` itself where one is given; else a bar with the time that is left, where somebody looks."""
    if progress is not None or quiet or not (sys.stderr.isatty() or _in_notebook()):
        yield progress or silent
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


def _in_notebook() -> bool:
    """Whether a notebook runs this code; it shows what rich draws."""
    shell = sys.modules.get("IPython")
    found = shell.get_ipython() if shell is not None else None
    return type(found).__name__ == "ZMQInteractiveShell"
