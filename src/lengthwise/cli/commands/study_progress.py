"""What a person sees while a study goes on: a live line on a terminal, a line for each run that ended elsewhere."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator

from rich.progress import BarColumn, TextColumn

from lengthwise.analyses.words import duration
from lengthwise.studies.coordinator import StudyProgress
from lengthwise.studies.record import RunRecord
from lengthwise.terminal import live_bars, visible


@contextlib.contextmanager
def study_progress(quiet: bool) -> Iterator[Callable[[StudyProgress], None]]:
    """A listener of a coordinator that draws or prints."""
    if quiet:
        yield lambda _: None
    elif not sys.stderr.isatty():
        yield _print
    else:
        with _bar() as listener:
            yield listener


def _print(progress: StudyProgress) -> None:
    if progress.newest is not None:
        print(f"{_counts(progress)}; {_ended(progress.newest)}", file=sys.stderr, flush=True)


@contextlib.contextmanager
def _bar() -> Iterator[Callable[[StudyProgress], None]]:
    with live_bars(BarColumn(bar_width=16), TextColumn("{task.fields[note]}", markup=False)) as bars:
        bar = bars.add_task("study", total=None, note="")

        def listen(progress: StudyProgress) -> None:
            bars.update(bar, total=progress.total, completed=progress.done + progress.failed, note=_counts(progress))
            if progress.newest is not None and progress.newest.state == "failed":
                bars.print(visible(_ended(progress.newest)), markup=False, highlight=False)

        yield listen


def _counts(progress: StudyProgress) -> str:
    parts = [f"{progress.done} of {progress.total} runs done", f"{progress.running} running"]
    if progress.failed:
        parts.append(f"{progress.failed} failed")
    if progress.seconds_left is not None and progress.done + progress.failed < progress.total:
        parts.append(f"{duration(progress.seconds_left)} left")
    return ", ".join(parts)


def _ended(run: RunRecord) -> str:
    name = ", ".join(part for part in (run.task, run.position, run.variant, f"seed {run.seed}") if part)
    if run.summary is None:
        again = "; it is tried once more" if run.attempts < 2 else ""
        return f"{name} failed: {run.reason}{again}"
    at_least = "at least " if run.summary.censored else ""
    learned = "not learned in range, " if run.summary.learned is False else ""
    return f"{name}: {learned}reach {at_least}{run.summary.reach} in {duration(run.seconds or 0.0)}"
