"""The ladders of a study in tidy form: one row a run and level, with how far the level is from training."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from lengthwise.errors import UsageError
from lengthwise.measurement.ladder import Ladder, LevelPoint
from lengthwise.studies.export import RUN_COLUMNS, Columns, check_output, settings_columns, write_columns
from lengthwise.studies.ladders import climbed_runs, read_shifts
from lengthwise.studies.record import RunRecord

_LEVEL: dict[str, type] = {
    "axis": str,
    "value": int,
    "level": str,
    "items": int,
    "right": int,
    "risk": float,
    "token": float,
    "loss": float,
    "confidence": float,
    "ece": float,
    "decoded": int,
    "valid": int,
    "solved": int,
    "slope": float,
    "certified": float,
}


def export_ladder(folder: str | Path, path: Path) -> int:
    """Write the ladders of a study to a .parquet or .csv file, all of it or nothing; returns the number of rows."""
    check_output(path)
    climbed = climbed_runs(folder)
    if not climbed:
        raise UsageError(f"no finished run of {folder} has a ladder; a study asks for one with ladder = true")
    columns, types = ladder_columns(climbed, read_shifts(folder))
    write_columns(path, columns, types)
    return len(columns["key"])


def ladder_columns(
    climbed: Sequence[tuple[RunRecord, Ladder]], shifts: Iterable[Mapping[str, Any]]
) -> tuple[Columns, dict[str, type]]:
    """The columns, and the types of those that are no settings. W1 and its null have a column for each metric, empty
    where the distance was not measured."""
    far = {(row["task"], row["train_size"], row["axis"], row["value"], row["metric"]): row for row in shifts}
    metrics = list(dict.fromkeys(key[-1] for key in far))
    distances = {f"{what}_{metric}": (what, metric) for metric in metrics for what in ("w1", "null")}
    types = {**RUN_COLUMNS, **_LEVEL, **dict.fromkeys(distances, float)}
    columns: Columns = {name: [] for name in types}
    for run, ladder in climbed:
        for point in ladder.points:
            place = (run.task, run.train_size, point.axis, point.value)
            row = {name: getattr(run, name) for name in RUN_COLUMNS} | _of_level(point, ladder)
            row |= {name: far.get((*place, metric), {}).get(what) for name, (what, metric) in distances.items()}
            for name in types:
                columns[name].append(row[name])
    lengths = [len(ladder.points) for _, ladder in climbed]
    return {**columns, **settings_columns([run for run, _ in climbed], lengths, columns)}, types


def _of_level(point: LevelPoint, ladder: Ladder) -> dict[str, Any]:
    plain = ("axis", "value", "items", "right", "risk", "token", "loss", "decoded", "valid", "solved", "slope")
    return {
        **{name: getattr(point, name) for name in plain},
        "level": point.name,
        "confidence": point.calibration.confidence,
        "ece": point.calibration.error,
        "certified": ladder.certified,
    }
