"""The records of a whole study in one small file, to be kept with a text that reports on it.

It leaves out weights, the history of training, curves by size, figures, and tables of detail such as examples of
written answers. Numbers are rounded to four digits; counts are exact. A name that ends in .gz is compressed. The same
study gives the same bytes.
"""

from __future__ import annotations

import contextlib
import dataclasses
import gzip
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lengthwise.errors import UsageError
from lengthwise.integrity import is_sealed, sealed
from lengthwise.outputs import replace_output
from lengthwise.reading import read_json_file, read_packed_json
from lengthwise.records import Record
from lengthwise.studies.record import RunRecord
from lengthwise.studies.shifts import read_shifts
from lengthwise.studies.store import Store

SCHEMA = 2
DIGITS = 4
ENDINGS = (".json", ".json.gz")
_PACKED = (".gz",)
_KNOWN = ("key", "task", "position", "seed", "train_size")


@dataclass(frozen=True)
class StudySummary:
    """What a summary holds: how the study was made, what each run is with its records, and the distances of levels."""

    study: Mapping[str, Any]
    command: str
    runs: tuple[tuple[dict[str, Any], dict[str, Record]], ...]
    shifts: tuple[dict[str, Any], ...]


def write_summary(folder: str | Path, path: str | Path) -> int:
    """Write the summary of a study; returns the number of runs in it."""
    path = Path(path)
    with Store.open(folder) as store:
        runs = store.runs("done")
        study, command = store.fact("study") or {}, store.fact("command") or ""
    if not runs:
        raise UsageError(f"no run of {folder} is finished, so there is nothing to summarise")
    content = {
        "schema": SCHEMA,
        "study": study,
        "command": command,
        "runs": [_row(run) for run in runs],
        "shifts": [_rounded(row, 6) for row in read_shifts(folder)],
    }
    try:
        with replace_output(path) as part:
            part.write_bytes(_packed(path, sealed(content)))
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror or error}; give another file") from error
    return len(runs)


def read_summary(path: str | Path) -> StudySummary:
    """The content of a summary; a file that is none is a usage error that names it."""
    path = Path(path)
    content = read_packed_json(path) if path.suffix in _PACKED else read_json_file(path)
    with refused(path):
        if content["schema"] != SCHEMA:
            raise UsageError(f"{path} was written by another version (its schema is {content['schema']}, not {SCHEMA})")
        if not is_sealed(content):
            raise UsageError(f"{path} was changed after it was written (its checksum differs); export the study again")
        runs = tuple(
            (row["run"], {slug: Record.from_plain(one) for slug, one in row["records"].items()})
            for row in content["runs"]
        )
        return StudySummary(dict(content["study"]), str(content["command"]), runs, tuple(content["shifts"]))


@contextlib.contextmanager
def refused(path: Path) -> Iterator[None]:
    """What the content of a summary stumbles over is said of the file."""
    try:
        yield
    except UsageError:
        raise
    except (LookupError, TypeError, AttributeError, ValueError) as error:
        raise UsageError(f"{path} is not the summary of a study ({type(error).__name__}: {error})") from error


def is_summary(path: str | Path) -> bool:
    """Whether a packed file is the summary of a study, and not an atlas, say. One that cannot be read is none."""
    try:
        content = read_packed_json(path)
    except UsageError:
        return False
    return isinstance(content, dict) and "study" in content


def _row(run: RunRecord) -> dict[str, Any]:
    known = {name: getattr(run, name) for name in _KNOWN}
    known |= {name: run.settings.get(name) for name in ("depth", "width")}
    return {"run": known, "records": {slug: _rounded(_small(one).plain(), DIGITS) for slug, one in run.records.items()}}


def _small(record: Record) -> Record:
    """A record without figures, sentences and tables of detail."""
    kept = tuple(table for table in record.tables if not table.detail)
    return dataclasses.replace(record, text=(), tables=kept, figures=())


def _rounded(value: Any, digits: int) -> Any:
    """The same data with its floats rounded; those of 1 and more keep as many digits in all."""
    if isinstance(value, float):
        return float(f"{value:.{digits}g}") if abs(value) >= 1 else round(value, digits)
    if isinstance(value, Mapping):
        return {key: _rounded(own, digits) for key, own in value.items()}
    return [_rounded(own, digits) for own in value] if isinstance(value, list | tuple) else value


def _packed(path: Path, content: Mapping[str, Any]) -> bytes:
    data = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode() + b"\n"
    return gzip.compress(data, mtime=0) if path.suffix in _PACKED else data
