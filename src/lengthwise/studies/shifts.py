"""Measure how far the levels of a study's ladders are from training: once a task and training size, kept in the study's
folder.

The coordinator gives this to its workers when the runs are done, as it takes some twenty seconds a task. What is
missing when a report is written (a study that was interrupted, a file that was deleted) is measured there.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from lengthwise.errors import LengthwiseError
from lengthwise.executors.executor import Executor, Job
from lengthwise.studies.beat import Beat
from lengthwise.studies.ladders import known_shifts, read_shifts, write_shifts
from lengthwise.studies.store import Store
from lengthwise.trust import trusting

ITEMS, SEED = 200, 0
_LOOK = 0.5  # seconds between two looks at the workers

Kind = tuple[str, int]  # the spec of a task, and a training size


def missing_shifts(folder: Path, wanted: Iterable[Kind]) -> list[Kind]:
    """What of this is not in the study's folder, each once; a damaged file counts as none."""
    try:
        known = known_shifts(read_shifts(folder))
    except LengthwiseError:
        known = set()
    return [kind for kind in dict.fromkeys(wanted) if kind not in known]


def measure_shifts(
    task: str, train_size: int, items: int = ITEMS, seed: int = SEED, beat: str | None = None, trust: bool = False
) -> list[dict[str, Any]]:
    """The rows of one task: every level in every metric. The work of a worker; `trust` lets a task run that is a Python
    file."""
    from lengthwise.shift.ladder import measure_ladder
    from lengthwise.tasks import tasks

    alive = Beat(Path(beat)) if beat else lambda _: None
    with trusting(trust):
        made = tasks.restore(task)
    found = measure_ladder(made, train_size, None, items, seed, lambda level, _step, _steps: alive({"level": level}))
    return [{"train_size": train_size, **row, "task": task} for row in found.plain()]


def measure_on(workers: Executor, folder: Path, kinds: list[Kind], stopped: Callable[[], int]) -> dict[str, str]:
    """Have workers measure what is missing and keep each as it comes, until `stopped` says so. Returns why some could
    not be measured, by their task. The caller has made these tasks itself, so the workers may."""
    waiting: dict[str, Kind] = {}
    for number, kind in enumerate(kinds):
        key, beat = f"shift-{number}", folder.absolute() / f".shift-{number}.beat"
        drawn = {"task": kind[0], "train_size": kind[1], "items": ITEMS, "seed": SEED}
        arguments = {**drawn, "beat": str(beat), "trust": True}
        workers.submit(Job(key, "lengthwise.studies.shifts:measure_shifts", arguments, beat))
        waiting[key] = kind
    failed: dict[str, str] = {}
    while waiting and not stopped():
        for outcome in workers.wait(_LOOK):
            kind = waiting.pop(outcome.key)
            if outcome.kind == "done":
                keep_shifts(folder, outcome.value)
            else:
                failed[kind[0]] = outcome.reason
    for number in range(len(kinds)):
        with contextlib.suppress(OSError):
            (folder / f".shift-{number}.beat").unlink(missing_ok=True)
    return failed


def keep_shifts(folder: Path, rows: list[dict[str, Any]]) -> None:
    """Add rows to those in the study's folder, in the place of others of their task and training size."""
    try:
        before = read_shifts(folder)
    except LengthwiseError:
        before = []
    replaced = known_shifts(rows)
    write_shifts(folder, [*(row for row in before if (row["task"], row["train_size"]) not in replaced), *rows])


def complete_shifts(folder: Path, report: Callable[[str], None] = lambda _: None) -> dict[str, str]:
    """Measure here what a study's ladders need and its folder does not have. `report` hears of a task before it is
    measured. Returns why some could not be measured, by their task."""
    with Store.open(folder) as store:
        climbed = [(run.task, run.train_size) for run in store.climbed()]
    failed: dict[str, str] = {}
    for task, train_size in missing_shifts(folder, climbed):
        report(task)
        try:
            keep_shifts(folder, measure_shifts(task, train_size, ITEMS, SEED))
        except LengthwiseError as error:
            failed[task] = str(error)
    return failed
