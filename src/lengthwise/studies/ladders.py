"""The ladders of a study's runs, and how far each level of a ladder is from training: what lies in the study's folder.

`ladder.json` lies in the folder of each run that climbed one; `shifts.json` in that of the study is a list of plain
rows, one a task, training size, level and metric (`shifts.py` makes it). Only reads and writes files: no torch.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lengthwise.errors import UsageError
from lengthwise.files import read_json, write_text, writing
from lengthwise.measurement.ladder import Ladder
from lengthwise.runs.ladder_file import read_ladder
from lengthwise.studies.record import RunRecord
from lengthwise.studies.store import RUNS, Store

SHIFTS = "shifts.json"
_NEEDED = ("task", "train_size", "axis", "value", "metric", "w1", "null", "low", "high")


def climbed_runs(folder: str | Path) -> list[tuple[RunRecord, Ladder]]:
    """Every finished run of a study that has a ladder, with it, in the order of the grid. A damaged ladder is a usage
    error that names its file."""
    folder = Path(folder)
    with Store.open(folder) as store:
        runs = store.climbed()
    return [(run, read_ladder(folder / RUNS / run.key)) for run in runs]


def has_ladders(folder: str | Path) -> bool:
    """Whether any finished run of a study has a ladder."""
    with Store.open(folder) as store:
        return bool(store.climbed())


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
    """Write the distances, one row a line."""
    folder = Path(folder)
    lines = ",\n".join(json.dumps(dict(row), ensure_ascii=False, allow_nan=False) for row in rows)
    with writing(folder):
        write_text(folder / SHIFTS, f"[\n{lines}\n]\n" if lines else "[]\n")


def known_shifts(rows: Sequence[Mapping[str, Any]]) -> set[tuple[str, int]]:
    """The tasks and training sizes whose distances are there."""
    return {(row["task"], row["train_size"]) for row in rows}
