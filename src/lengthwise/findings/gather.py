"""Evidence from a study's folder, or from the summary of one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from lengthwise.errors import UsageError
from lengthwise.findings.evidence import Climb, Evidence
from lengthwise.probes.ladder.levels import Ladder
from lengthwise.probes.probe import named
from lengthwise.shift.level_shift import LevelShift
from lengthwise.studies.record import RunRecord
from lengthwise.studies.shifts import read_shifts
from lengthwise.studies.store import Store
from lengthwise.studies.summary import read_summary


def gather(folder: str | Path, train_size: int | None = None) -> Evidence:
    """The ladders of all finished runs of a study, with the distances of their levels as far as they are known.

    Distances belong to a training size. Where runs of one task were trained on several, `train_size` says which."""
    with Store.open(folder) as store:
        runs = store.runs(probe="ladder")
    climbs = [
        Climb(run.task, run.position, int(run.settings["depth"]), int(run.settings["width"]), run.seed, _ladder(run))
        for run in runs
    ]
    return _evidence(climbs, read_shifts(folder), train_size, str(folder))


def gather_summary(path: str | Path, train_size: int | None = None) -> Evidence:
    """The same from a file that `lengthwise study export --summary` wrote; its ladders have no examples."""
    summary = read_summary(Path(path))
    climbs = [
        Climb(row["task"], row["position"], row["depth"], row["width"], row["seed"], Ladder.from_record(record))
        for row, records in summary.runs
        if (record := named(records.values(), "ladder"))
    ]
    return _evidence(climbs, summary.shifts, train_size, str(path))


def _ladder(run: RunRecord) -> Ladder:
    record = run.record("ladder")
    assert record is not None
    return Ladder.from_record(record)


def _evidence(
    climbs: Iterable[Climb], shifts: Iterable[Mapping[str, Any]], train_size: int | None, where: str
) -> Evidence:
    climbs = [climb for climb in climbs if train_size in (None, climb.ladder.train_size)]
    trained: dict[str, set[int]] = {}
    for climb in climbs:
        trained.setdefault(climb.task, set()).add(climb.ladder.train_size)
    for task, sizes in trained.items():
        if len(sizes) > 1:
            several = " and ".join(map(str, sorted(sizes)))
            raise UsageError(f"{where} has ladders of {task} trained to {several}; say which with train_size")
    near = [LevelShift.from_plain(row) for row in shifts if row["train_size"] in trained.get(row["task"], ())]
    return Evidence(tuple(climbs), tuple(near))
