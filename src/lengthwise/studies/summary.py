"""The ladders of a whole study in one small file, to be kept beside a text that reports on it.

What is left out: weights, curves by size, the history of training, the examples of written traces. The share of wrong
tokens of each item, and the numbers of calibration and of what happens inside, are rounded to four digits; counts are
exact. A name that ends in .gz is compressed. The same study gives the same bytes.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lengthwise.errors import UsageError
from lengthwise.integrity import sealed
from lengthwise.measurement.ladder import Ladder
from lengthwise.outputs import replace_output
from lengthwise.studies.ladders import climbed_runs, read_shifts
from lengthwise.studies.record import RunRecord
from lengthwise.studies.store import Store

SCHEMA = 1
DIGITS = 4
ENDINGS = (".json", ".json.gz")
_PACKED = (".gz",)


@dataclass(frozen=True)
class StudySummary:
    """What a summary holds: how the study was made, a row with a ladder for each run, and the distances of levels."""

    study: Mapping[str, Any]
    command: str
    climbs: tuple[tuple[dict[str, Any], Ladder], ...]
    shifts: tuple[dict[str, Any], ...]


def write_summary(folder: str | Path, path: str | Path) -> int:
    """Write the summary of a study; returns the number of runs in it. A study without ladders has none."""
    path, runs = Path(path), climbed_runs(folder)
    if not runs:
        raise UsageError(f"no finished run of {folder} has a ladder to sum up; a study asks for one with ladder = true")
    with Store.open(folder) as store:
        study, command = store.fact("study") or {}, store.fact("command") or ""
    content = {
        "schema": SCHEMA,
        "study": study,
        "command": command,
        "runs": [_row(run, ladder) for run, ladder in runs],
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
    try:
        data = path.read_bytes()
        content = json.loads(gzip.decompress(data) if path.suffix in _PACKED else data)
        if content["schema"] != SCHEMA:
            raise UsageError(f"{path} was written by another version (its schema is {content['schema']}, not {SCHEMA})")
        climbs = tuple((row["run"], _ladder(row)) for row in content["runs"])
        return StudySummary(content["study"], content["command"], climbs, tuple(content["shifts"]))
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}") from error
    except (LookupError, TypeError, AttributeError, ValueError, EOFError) as error:
        raise UsageError(f"{path} is not the summary of a study ({type(error).__name__}: {error})") from error


def _row(run: RunRecord, ladder: Ladder) -> dict[str, Any]:
    known = {name: getattr(run, name) for name in ("key", "task", "position", "seed", "train_size")}
    known |= {name: run.settings[name] for name in ("depth", "width")}
    kept = {key: value for key, value in ladder.plain().items() if key != "examples"}
    for name in ("task", "position", "seed", "train_size"):
        del kept[name]
    return {"run": known, "ladder": _rounded(kept, DIGITS)}


def _ladder(row: Mapping[str, Any]) -> Ladder:
    run, own = row["run"], row["ladder"]
    place = {name: run[name] for name in ("task", "position", "seed", "train_size")}
    return Ladder.from_plain({**own, **place, "examples": []})


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
