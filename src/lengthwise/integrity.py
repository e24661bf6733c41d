"""A run that is used again is the run that was saved.

The record of a run holds the SHA-256 of the files next to it (`files`) and of itself (`sha256`). Both are compared
whenever the run is used: what was damaged or edited is refused in one sentence that names the file. This finds
accidents and edits; somebody who also rewrites the record is not stopped by it. Needs no torch.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from lengthwise.errors import UsageError
from lengthwise.files import read_json, sha256

RUN, RECORDS = "run.json", "records"
PLAN, CHECKPOINT, JOURNAL = "plan.json", "checkpoint.safetensors", "journal.jsonl"  # of a run that is not finished
CONFIG, WEIGHTS, COORDINATES = "config.json", "model.safetensors", "form.safetensors"
MODEL = (CONFIG, WEIGHTS, COORDINATES)
_MEASURED_AGAIN = "run the command that trained the model again, and this probe alone is measured again"
_SLUG = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.=+-]*")


def digests(folder: Path, names: Iterable[str]) -> dict[str, str]:
    """The SHA-256 of those of the files that are there."""
    return {name: sha256(folder / name) for name in names if (folder / name).is_file()}


def sealed(record: Mapping[str, Any]) -> dict[str, Any]:
    """The record with a checksum of its own content."""
    return {**record, "sha256": _checksum(record)}


def is_sealed(record: Mapping[str, Any]) -> bool:
    """Whether the checksum of a record fits its content."""
    return record.get("sha256") == _checksum(record)


def read_record(folder: Path, name: str = RUN) -> dict[str, Any]:
    """The record in a folder, as it was written; one that was changed since is a usage error."""
    record = read_json(folder / name)
    if not (isinstance(record, dict) and isinstance(record.get("files"), dict) and "sha256" in record):
        raise UsageError(
            f"{folder / name} does not say which files belong to it: it was not written by this version of lengthwise, "
            f"or is incomplete; {_again(folder)}"
        )
    if not is_sealed(record):
        raise UsageError(f"{folder / name} was changed after it was written (its checksum differs); {_again(folder)}")
    return record


def check_files(folder: Path, record: Mapping[str, Any], names: Iterable[str]) -> None:
    """Refuse files that are not those that the record was written for. O(bytes), about a gigabyte a second."""
    kept = record["files"]
    for name in names:
        path = folder / name
        if name not in kept:
            if path.exists():
                raise UsageError(f"{path} does not belong to the run in {folder}; remove it, or {_again(folder)}")
            continue
        try:
            found = sha256(path)
        except UsageError as error:
            raise UsageError(f"{error}; {_again(folder)}") from None
        if found != kept[name]:
            raise UsageError(f"{path} is not the file that was saved (its SHA-256 differs); {_again(folder)}")


def check_run(folder: Path) -> dict[str, Any]:
    """The record of the finished run in a folder, after the model and what was measured of it were compared with it."""
    record = read_record(folder)
    check_files(folder, record, MODEL)
    for slug in record.get("records", ()):
        if wrong := damage(folder, record, slug):
            raise UsageError(wrong)
    return record


def record_file(slug: str) -> str:
    """The file, below the folder of a run, that holds the record of a probe."""
    if not _SLUG.fullmatch(slug):
        raise UsageError(f"{slug!r} is not the name of a probe's record")
    return f"{RECORDS}/{slug}.json"


def damage(folder: Path, record: Mapping[str, Any], slug: str) -> str:
    """What is wrong with the stored record of a probe, in a sentence that names the file; empty where it is whole."""
    path = folder / record_file(slug)
    try:
        found = sha256(path)
    except UsageError as error:
        return f"{error}; {_MEASURED_AGAIN}"
    if found != record["files"].get(record_file(slug)):
        return f"{path} is not the file that was saved (its SHA-256 differs); {_MEASURED_AGAIN}"
    return ""


def _checksum(record: Mapping[str, Any]) -> str:
    content = {name: value for name, value in record.items() if name != "sha256"}
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _again(folder: Path) -> str:
    return f"restore it, or delete {folder} to have the run trained again"
