"""What a person sees while work goes on: a live bar on a terminal, nothing elsewhere."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import Any

from lengthwise.runs.plan import Plan
from lengthwise.runs.run import Listener
from lengthwise.training.loop import History


@contextlib.contextmanager
def progress(plan: Plan, quiet: bool, title: str = "") -> Iterator[Listener]:
    """A listener that draws: loss, in-range accuracy, tokens a second and time left; then the sizes measured."""
    if quiet or not sys.stderr.isatty():
        yield Listener()
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns: list[Any] = [TextColumn("{task.description}"), BarColumn(bar_width=18), TextColumn("{task.fields[note]}")]
    with Progress(*columns, TimeRemainingColumn(compact=True), console=Console(stderr=True), transient=True) as bars:
        training = bars.add_task(f"{title}training", total=plan.recipe.steps, note="")
        measuring = bars.add_task(f"{title}measuring", total=len(plan.test_sizes), note="", visible=False)

        def trained(history: History) -> None:
            speed = history.tokens / max(history.seconds, 1e-9)
            note = (
                f"loss {history.losses[-1][1]:.4f}  in range {history.checks[-1][1]:.0%}  {speed / 1000:.0f}k tokens/s"
            )
            bars.update(training, completed=history.step, note=note)

        def measured(point: Any) -> None:
            bars.update(training, visible=False)
            bars.update(measuring, advance=1, visible=True, note=f"size {point.size}: {point.exact:.0%}")

        yield Listener(trained=trained, measured=measured)
