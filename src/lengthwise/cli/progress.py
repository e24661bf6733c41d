"""What a person sees while work goes on: a live bar on a terminal, nothing elsewhere."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator, Sequence

from lengthwise.cli.terminal import live_bars, visible
from lengthwise.measurement.curve import Point
from lengthwise.measurement.ladder import LevelPoint
from lengthwise.runs.run import Listener
from lengthwise.training.loop import History


@contextlib.contextmanager
def progress(steps: int, sizes: Sequence[int], quiet: bool, title: str = "") -> Iterator[Listener]:
    """A listener that draws: loss, in-range accuracy, tokens a second and time left; then the sizes measured."""
    if quiet or not sys.stderr.isatty():
        yield Listener()
        return
    from rich.progress import BarColumn, TextColumn

    what, note = (TextColumn(field, markup=False) for field in ("{task.description}", "{task.fields[note]}"))
    title = visible(title)
    with live_bars(what, BarColumn(bar_width=12), note) as bars:
        bar = bars.add_task(title or ("training" if steps else "measuring"), total=steps or len(sizes), note="")
        began, done, total = time.monotonic(), 0, sum(sizes)

        def trained(history: History) -> None:
            nonlocal began
            began = time.monotonic()
            bars.update(bar, completed=history.step, note=_training_note(history, steps), refresh=True)

        def measured(point: Point) -> None:
            nonlocal done
            if not done:
                bars.reset(bar, total=len(sizes), description=title or "measuring", note="")
            done += point.size  # the work grows at least with the size
            left = (time.monotonic() - began) * (total - done) / done
            note = f"size {point.size}  exact {point.exact:.0%}  {_clock(left)} left"
            bars.update(bar, advance=1, note=note, refresh=True)

        def climbed(point: LevelPoint) -> None:
            note = f"{visible(point.name)}  token {point.token:.0%}  solved {point.solved} of {point.decoded}"
            bars.update(bar, description=title or "ladder", note=note, refresh=True)

        yield Listener(trained=trained, measured=measured, climbed=climbed)


def _training_note(history: History, steps: int) -> str:
    seconds = max(history.seconds, 1e-9)
    left = seconds / history.step * (steps - history.step)
    return (
        f"loss {history.losses[-1][1]:.4f}  in range {history.checks[-1][1]:.0%}  "
        f"{history.tokens / seconds / 1000:.0f}k tokens/s  {_clock(left)} left"
    )


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
