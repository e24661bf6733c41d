"""The results of a study in tidy form, for other programs: one row a run and size, or one row a run.

Columns that every study has come first, then the settings of the runs under their own names. Texts are written as they
are; a program that takes a cell beginning with `=` for a formula must be told that it is text.
"""

from __future__ import annotations

import csv
import functools
import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

from lengthwise.errors import UsageError
from lengthwise.measurement.intervals import wilson
from lengthwise.measurement.spread import Keep
from lengthwise.outputs import check_output as check_replaceable
from lengthwise.outputs import replace_output
from lengthwise.studies.export_sparsity import sparsity_columns
from lengthwise.studies.record import RunRecord
from lengthwise.studies.store import Store

What = Literal["points", "runs"]
Columns = dict[str, list[Any]]
_ENDINGS = (".parquet", ".csv")

# What identifies a run, and the types of all columns that are not settings
RUN_COLUMNS: dict[str, type] = {
    "key": str,
    "task": str,
    "position": str,
    "variant": str,
    "seed": int,
    "train_size": int,
    "test_size": int,
}
_POINTS: dict[str, type] = {
    **RUN_COLUMNS,
    "learned": bool,
    "kept": bool,
    "size": int,
    "items": int,
    "right": int,
    "exact": float,
    "low": float,
    "high": float,
    "token": float,
    "loss": float,
    "chance": float,
    "chance_error": float,
    "token_chance": float,
}
_RUNS: dict[str, type] = {
    **RUN_COLUMNS,
    "items": int,
    "state": str,
    "attempts": int,
    "reason": str,
    "seconds": float,
    "ended": str,
    "kept": bool,
    "reach": int,
    "censored": bool,
    "learned": bool,
    "holds": bool,
    "in_range": float,
    "twice": float,
    "thrice": float,
    "chance": float,
}


def export(store: Store, path: Path, what: What = "points") -> int:
    """Write the results of a study to a .parquet or .csv file, all of it or nothing; returns the number of rows."""
    check_output(path)
    types = _POINTS if what == "points" else _RUNS
    rule = Keep((store.fact("study") or {}).get("keep") or 0.0)
    if what == "points":
        columns = point_columns(store.runs("done"), rule)
    else:
        columns = run_columns(store.runs(detail=False), rule)
    write_columns(path, columns, types)
    return len(columns["key"])


def write_columns(path: Path, columns: Columns, types: Mapping[str, type]) -> None:
    """Write columns of one length in the form that the ending of the file names, all of it or nothing."""
    write = _write_parquet if path.suffix.lower() == ".parquet" else _write_csv
    try:
        with replace_output(path) as part:
            write(part, columns, types)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror or error}; give another --output") from error


def check_output(path: Path) -> None:
    """Refuse a file that cannot be written, before anything is read for it."""
    if path.suffix.lower() not in _ENDINGS:
        raise UsageError(f"the output {path} ends neither in .parquet nor in .csv; give it one of these endings")
    if path.is_dir() or not path.parent.is_dir():
        raise UsageError(f"the output {path} cannot be written there; give a file in a folder that exists")
    check_replaceable(path, "--output")
    if path.suffix.lower() == ".parquet":
        _pyarrow()


def point_columns(runs: Iterable[RunRecord], rule: Keep) -> Columns:
    """One row for each finished run and size measured; `low` and `high` are Wilson's interval of the exact match. How
    sparse attention is stands beside, at the sizes where a study has it measured."""
    interval = functools.cache(wilson)  # the same few frequencies come again and again
    columns: Columns = {name: [] for name in _POINTS}
    runs = list(runs)
    sizes = []
    for run in runs:
        points = run.curve.points
        sizes.append([point.size for point in points])
        for name in RUN_COLUMNS:
            columns[name] += [getattr(run, name)] * len(points)
        columns["learned"] += [run.summary.learned if run.summary else None] * len(points)
        columns["kept"] += [_kept(run, rule)] * len(points)
        for name in ("size", "items", "right", "exact", "token", "loss", "chance", "chance_error", "token_chance"):
            columns[name] += [getattr(point, name) for point in points]
        for name in ("low", "high"):
            columns[name] += [getattr(interval(point.right, point.items), name) for point in points]
    columns.update(sparsity_columns(runs, sizes))
    return {**columns, **settings_columns(runs, list(map(len, sizes)), columns)}


def run_columns(runs: Iterable[RunRecord], rule: Keep) -> Columns:
    """One row for each planned run; what only a finished run has is empty for the others."""
    runs = list(runs)
    measured = ("reach", "censored", "learned", "holds", "in_range", "twice", "thrice", "chance")
    columns: Columns = {}
    for name in _RUNS:
        if name == "kept":
            columns[name] = [_kept(run, rule) for run in runs]
        elif name in measured:
            columns[name] = [getattr(run.summary, name, None) for run in runs]
        else:
            columns[name] = [getattr(run, name) for run in runs]
    return {**columns, **settings_columns(runs, [1] * len(runs), columns)}


def _kept(run: RunRecord, rule: Keep) -> bool | None:
    return None if run.summary is None else rule.keeps(run.summary.learned, run.summary.in_range)


def settings_columns(runs: list[RunRecord], lengths: list[int], taken: Mapping[str, Any]) -> Columns:
    """A column for each setting that any run has, repeated for the rows of the run."""
    names = dict.fromkeys(name for run in runs for name in run.settings)
    columns: Columns = {}
    for name in names:
        values = _of_one_type([run.settings.get(name) for run in runs])
        title = f"setting_{name}" if name in taken else name
        columns[title] = [value for value, many in zip(values, lengths, strict=True) for _ in range(many)]
    return columns


def _of_one_type(values: list[Any]) -> list[Any]:
    """The values as they are where they have one type, else as JSON, which says what each of them was."""
    kinds = {type(value) for value in values if value is not None}
    if kinds == {int, float} and all(float(value) == value for value in values if value is not None):
        return [None if value is None else float(value) for value in values]
    if len(kinds) <= 1 and kinds <= {str, int, float, bool}:
        return values
    return [None if value is None else json.dumps(value, ensure_ascii=False) for value in values]


def _write_csv(path: Path, columns: Columns, types: Mapping[str, type]) -> None:
    """Comma-separated, UTF-8, with lines that end as RFC 4180 has it; numbers read back as the same numbers."""
    del types  # a text file has none
    text: dict[Any, str] = {True: "true", False: "false"}
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        for row in zip(*columns.values(), strict=True):
            writer.writerow([text[value] if isinstance(value, bool) else value for value in row])


def _write_parquet(path: Path, columns: Columns, types: Mapping[str, type]) -> None:
    arrow, parquet = _pyarrow()
    kinds: dict[type, Callable[[], Any]] = {
        str: arrow.string,
        int: arrow.int64,
        float: arrow.float64,
        bool: arrow.bool_,
    }
    arrays = {
        name: arrow.array(values, type=kinds[types[name]]() if name in types else None)
        for name, values in columns.items()
    }
    parquet.write_table(arrow.table(arrays), path)


def _pyarrow() -> tuple[Any, Any]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise UsageError(
            "Parquet needs pyarrow, which is not installed: pip install 'lengthwise[export]', or give a .csv file"
        ) from None
    return pyarrow, pyarrow.parquet
