"""The results of a study in tidy form, for other programs: one row per run and row of a table, or one row per run.

Columns that identify the run come first, then those of the table, then the settings of the runs under their own names.
Texts are written as they are; a program that takes a cell beginning with `=` for a formula must be told that it is
text.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from lengthwise.errors import UsageError
from lengthwise.outputs import check_output as check_replaceable
from lengthwise.outputs import replace_output
from lengthwise.probes.curve.spread import Keep
from lengthwise.probes.probe import called
from lengthwise.records import Table
from lengthwise.studies.record import RunRecord
from lengthwise.studies.shifts import read_shifts
from lengthwise.studies.store import Store

Columns = dict[str, list[Any]]
_ENDINGS = (".parquet", ".csv")
_TYPES: dict[str, type] = {"text": str, "whole": int, "number": float, "share": float, "truth": bool}

# What identifies a run, what became of it, and what it is judged by; the types of columns that are not settings
_RUN: dict[str, type] = {
    "key": str,
    "task": str,
    "position": str,
    "variant": str,
    "seed": int,
    "train_size": int,
    "test_size": int,
}
_JUDGED: dict[str, type] = {"learned": bool, "kept": bool}
_ENDED: dict[str, type] = {
    "items": int,
    "state": str,
    "attempts": int,
    "reason": str,
    "seconds": float,
    "ended": str,
    "kept": bool,
}
_SUMMARY: dict[str, type] = {
    "reach": int,
    "censored": bool,
    "learned": bool,
    "holds": bool,
    "in_range": float,
    "twice": float,
    "thrice": float,
    "chance": float,
}


def export(store: Store, path: Path, probe: str = "curve", table: str | None = None) -> int:
    """Write a table of a probe's records to a .parquet or .csv file, one row per run and row of the table, all of it or
    nothing; returns the number of rows. Without `table` it is the longest table of the probe."""
    check_output(path)
    runs = store.runs(probe=probe)
    if not runs:
        raise UsageError(f"no finished run of {store.folder} has a record of {probe!r}; {_known(store)}")
    columns, types = table_columns(runs, probe, table, _rule(store))
    if {"axis", "value"} <= columns.keys():
        columns |= _distances(columns, read_shifts(store.folder))
    write_columns(path, columns, types)
    return len(columns["key"])


def export_claims(store: Store, path: Path, probe: str | None = None) -> int:
    """Write one row per planned run: how it ended, the numbers it is judged by, and the values of its claims, of one
    probe or of all."""
    check_output(path)
    columns, types = claim_columns(store.runs(), _rule(store), probe)
    write_columns(path, columns, types)
    return len(columns["key"])


def table_columns(
    runs: Sequence[RunRecord], probe: str, table: str | None, rule: Keep
) -> tuple[Columns, dict[str, type]]:
    """The columns of one table of a probe, after those of the run, and their types. A column that the tables of some
    runs lack is empty there."""
    found = [_table(run, probe, table) for run in runs]
    own = {column.name: _TYPES[column.type] for one in found for column in one.columns}
    own = {f"{called(probe)}_{name}" if name in _RUN else name: kind for name, kind in own.items()}
    types = {**_RUN, **_JUDGED, **own}
    columns: Columns = {name: [] for name in types}
    for run, one in zip(runs, found, strict=True):
        many = len(one.rows)
        for name in _RUN:
            columns[name] += [getattr(run, name)] * many
        columns["learned"] += [run.summary.learned if run.summary else None] * many
        columns["kept"] += [_kept(run, rule)] * many
        there = {column.name for column in one.columns}
        for name in own:
            plain = name.removeprefix(f"{called(probe)}_") if name not in there else name
            columns[name] += one.column(plain) if plain in there else [None] * many
    return {**columns, **settings_columns(list(runs), [len(one.rows) for one in found], columns)}, types


def _distances(columns: Columns, shifts: Sequence[Mapping[str, Any]]) -> Columns:
    """How far each level is from training: W1 and its null in each metric, empty where they were not measured."""
    far = {(row["task"], row["train_size"], row["axis"], row["value"], row["metric"]): row for row in shifts}
    levels = list(zip(*(columns[name] for name in ("task", "train_size", "axis", "value")), strict=True))
    return {
        f"{what}_{metric}": [far.get((*level, metric), {}).get(what) for level in levels]
        for metric in dict.fromkeys(key[-1] for key in far)
        for what in ("w1", "null")
    }


def _table(run: RunRecord, probe: str, key: str | None) -> Table:
    record = run.record(probe)
    assert record is not None
    tables = {table.key: table for table in record.tables}
    if key is None and tables:
        return max(tables.values(), key=lambda table: len(table.rows))
    if key not in tables:
        known = ", ".join(tables) or "no table"
        raise UsageError(f"the records of {called(probe)} have no table {key!r}; they have {known}")
    return tables[key]


def claim_columns(runs: Sequence[RunRecord], rule: Keep, probe: str | None = None) -> tuple[Columns, dict[str, type]]:
    """One row for each planned run; what only a finished run has is empty for the others. Claims of one key are
    numbered in the order of the record."""
    columns: Columns = {name: [getattr(run, name) for run in runs] for name in (*_RUN, *_ENDED) if name != "kept"}
    columns["kept"] = [_kept(run, rule) for run in runs]
    columns |= {name: [getattr(run.summary, name, None) for run in runs] for name in _SUMMARY}
    claims = [_claims(run, probe) for run in runs]
    for name in dict.fromkeys(name for own in claims for name in own):
        columns[name] = _of_one_type([own.get(name) for own in claims])
    return {**columns, **settings_columns(list(runs), [1] * len(runs), columns)}, {**_RUN, **_ENDED, **_SUMMARY}


def _claims(run: RunRecord, probe: str | None) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for record in run.records.values():
        if probe is None or record.source == called(probe):
            for claim in record.claims:
                name, number = claim.key, 1
                while name in found:
                    number += 1
                    name = f"{claim.key}_{number}"
                found[name] = claim.value
    return found


def _rule(store: Store) -> Keep:
    return Keep((store.fact("study") or {}).get("keep") or 0.0)


def _known(store: Store) -> str:
    sources = dict.fromkeys(record.source for run in store.runs("done") for record in run.records.values())
    return f"there are records of {', '.join(sources)}" if sources else "no run is finished"


def write_columns(path: Path, columns: Columns, types: Mapping[str, type]) -> None:
    """Write columns of one length in the form that the ending of the file names, all of it or nothing."""
    write = _write_parquet if path.suffix.lower() == ".parquet" else _write_csv
    try:
        with replace_output(path) as part:
            write(part, columns, types)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror or error}; give another file") from error


def check_output(path: Path) -> None:
    """Refuse a file that cannot be written, before anything is read for it."""
    if path.suffix.lower() not in _ENDINGS:
        raise UsageError(f"the output {path} ends neither in .parquet nor in .csv; give it one of these endings")
    if path.is_dir() or not path.parent.is_dir():
        raise UsageError(f"the output {path} cannot be written there; give a file in a folder that exists")
    check_replaceable(path)
    if path.suffix.lower() == ".parquet":
        _pyarrow()


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
