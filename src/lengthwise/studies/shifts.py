"""How far the levels of a task are from training: measured once per task and training size, kept in the study's folder.

A study whose probes ask for it (`Probe.measures_shifts`) has `shifts.json`, a list of plain rows, one for each task,
training size, level and metric. The coordinator gives the work to its workers when the runs are done, as it takes some
twenty seconds per task. What is missing when a report is written (an interrupted study, a deleted file) is measured
there.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from lengthwise.errors import LengthwiseError, UsageError
from lengthwise.executors.executor import Executor, Job
from lengthwise.files import read_json, write_text, writing
from lengthwise.progress import Progress, silent
from lengthwise.studies.lock import Beat
from lengthwise.studies.store import Store
from lengthwise.trust import trusting

SHIFTS = "shifts.json"
ITEMS, SEED = 200, 0
_NEEDED = ("task", "train_size", "axis", "value", "metric", "w1", "null", "low", "high")
_LOOK = 0.5  # seconds between two looks at the workers

Kind = tuple[str, int]  # the spec of a task, and a training size


def missing_shifts(folder: Path, wanted: Iterable[Sequence[Any]]) -> list[Kind]:
    """What of this is not in the study's folder, each once; a damaged file counts as none."""
    try:
        known = known_shifts(read_shifts(folder))
    except LengthwiseError:
        known = set()
    return [kind for kind in dict.fromkeys((task, size) for task, size in wanted) if kind not in known]


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


def complete_shifts(folder: Path, progress: Progress = silent) -> dict[str, str]:
    """Measure here what the probes of a study need and its folder does not have. Returns why some could not be
    measured, by their task."""
    with Store.open(folder) as store:
        missing = missing_shifts(folder, store.fact("shifts") or [])
    failed: dict[str, str] = {}
    for number, (task, train_size) in enumerate(missing):
        progress(f"measuring how far the levels of {task} are from training", number, len(missing))
        try:
            keep_shifts(folder, measure_shifts(task, train_size, ITEMS, SEED))
        except LengthwiseError as error:
            failed[task] = str(error)
    return failed


def read_shifts(folder: str | Path) -> list[dict[str, Any]]:
    """The distances of the levels that are known; none where they were never measured."""
    path = Path(folder) / SHIFTS
    if not path.is_file():
        return []
    rows = read_json(path)
    whole = isinstance(rows, list) and all(isinstance(row, dict) and {*_NEEDED} <= {*row} for row in rows)
    if not whole:
        raise UsageError(f"{path} is damaged; delete it, and `lengthwise report` measures the distances again")
    return rows


def write_shifts(folder: str | Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write the distances, one row per line."""
    folder = Path(folder)
    lines = ",\n".join(json.dumps(dict(row), ensure_ascii=False, allow_nan=False) for row in rows)
    with writing(folder):
        write_text(folder / SHIFTS, f"[\n{lines}\n]\n" if lines else "[]\n")


def known_shifts(rows: Sequence[Mapping[str, Any]]) -> set[tuple[str, int]]:
    """The tasks and training sizes whose distances are there."""
    return {(row["task"], row["train_size"]) for row in rows}
